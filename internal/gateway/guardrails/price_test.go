package guardrails_test

import (
	"errors"
	"slices"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
)

// An input check that nothing can pay for ends the run before further paid checks. Its result is not
// used again, because another target may have other limits.
func TestRun_ReportsAnInputCheckThatNothingCanPayFor(t *testing.T) {
	t.Parallel()
	b, memo := newBench(t), new(guardrails.Memo)
	hooks := b.hooks(hook("paid", "unpaidRewrite"), hook("later", "paidPass"))
	for range 2 {
		c := chatCall()
		c.Memo = memo
		out := b.run(c, hooks, greeting)
		if ran := b.took(); !slices.Equal(ran, []string{"unpaidRewrite: Hi"}) || !errors.Is(out.Unpaid, errNoMoney) || !out.Results[1].Skipped {
			t.Errorf("ran %q, %v, %s", ran, out.Unpaid, describe(out))
		}
	}
	out, err := b.engine.Run(t.Context(), hooks, chatCall(), guardrail.Output, 200, []byte(`{"choices":[{"message":{"content":"Hi"}}]}`))
	if ran := b.took(); err != nil || len(ran) != 2 || out.Results[1].Skipped {
		t.Errorf("an output check: ran %q, %v", ran, err)
	}
}

var errNoMoney = errors.New("no money")

// unpaid is a paid check that nothing can pay for. It may change the body, so it runs alone.
func (b *bench) unpaid(name string) check.Check {
	c := b.check(name, runner{rewrites: true, run: func(*check.Input) check.Result {
		return check.Result{Error: &check.Error{Name: "BudgetError"}, Unpaid: errNoMoney}
	}})
	c.Paid = true
	return c
}
