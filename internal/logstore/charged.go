package logstore

import (
	"time"

	"sluice/internal/ledger"
	"sluice/internal/record"
)

// ChargedOf is what the line that ended with an attempt charged: zero when there is none,
// or one that cannot be read. At is kept to the microsecond, as rows do. The line is room that is used again and again.
func ChargedOf(closing []byte, line *ledger.Entry) record.Charged {
	if line.Known == nil {
		line.Known = new(ledger.CounterSetCache)
	}
	if len(closing) == 0 || line.Decode(closing) != nil {
		return record.Charged{}
	}
	return record.Charged{ClosedAt: line.RecordedAt.Truncate(time.Microsecond), Nano: line.Amount, Budgets: line.CostCounters()}
}
