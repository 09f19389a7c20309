package partner

import (
	"context"
	"errors"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/fault"
)

// unpaid is the name of the error of a run that no budget can pay.
const unpaid = "BudgetError"

// Price implements check.Priced: the price of all calls that judge the input.
func (r *runner) Price(in *check.Input) int64 {
	if r.costNano == 0 {
		return 0
	}
	_, list, _ := r.calls(in)
	return int64(len(list)) * r.costNano
}

// reserve reserves the price of calls. The calls that the service answered with a success status are
// booked: a call without an answer, or with an error status, costs nothing.
func (r *runner) reserve(ctx context.Context, calls int) (settle func(calls int), err error) {
	if r.costNano == 0 || r.ledger == nil {
		return func(int) {}, nil
	}
	return r.ledger.Reserve(ctx, &check.Price{Check: r.spec.name(), Nano: r.costNano, Calls: calls})
}

// billed returns the number of calls that the service judged.
func billed(list []judgement) (n int) {
	for i := range list {
		if list[i].billed {
			n++
		}
	}
	return n
}

// publicText returns what the owner of the guardrail may see of an error.
func publicText(err error) string {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return f.Text()
	}
	return err.Error()
}
