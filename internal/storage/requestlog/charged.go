package requestlog

import (
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
)

// ChargedOf returns what the closing ledger entry of an attempt charged; zero if there is no
// entry or it is unreadable. ClosedAt has microsecond precision, as rows do. line is scratch
// memory that callers reuse.
func ChargedOf(closing []byte, line *ledger.Entry) record.Charged {
	if line.Known == nil {
		line.Known = new(ledger.CounterSetCache)
	}
	if len(closing) == 0 || line.Decode(closing) != nil {
		return record.Charged{}
	}
	return record.Charged{ClosedAt: line.RecordedAt.Truncate(time.Microsecond), Nano: line.Amount, Budgets: line.CostCounters()}
}
