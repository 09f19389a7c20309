package metering

import (
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/ledger"
)

// Close computes what a call used and cost and adds it to the attempt's record, together with the
// closing ledger entry, so that both are written in one append. It returns false, and leaves the
// record as it is, for an account without an open entry. The record refers to the account's
// memory until the next call.
func (m *Meter) Close(a *Account, c *bound.Call, how Outcome, r *Response, rec *record.Attempt) bool {
	if !a.IsOpen() {
		return false
	}
	a.charge = m.chargeOf(a, c, how, r)
	setClosing(a, m.Clock.Now())
	m.sizes.Put(a.response, &a.charge.Usage)
	rec.Spend, rec.Usage = a.spend(), a.charge.Usage
	if a.charge.State == ledger.Unknown {
		rec.Usage = llm.Usage{} // the maximum is not a count
	}
	a.mem.closing = a.entry.AppendTo(a.mem.closing[:0])
	rec.Closing = a.mem.closing
	return true
}

// CloseAlone closes the entry of one response of a conversation, whose record is written later. It
// releases the holds, less the charge, and returns the money of the response. It must be called
// for an account with an open entry.
func (m *Meter) CloseAlone(a *Account, c *bound.Call, how Outcome, r *Response) record.Spend {
	m.closeEntry(a, c, how, r)
	m.Settle(a)
	a.Drop()
	return a.spend()
}

// Settle releases the holds on limits, less what was used. It does nothing for a nil account.
func (m *Meter) Settle(a *Account) {
	switch {
	case a == nil || len(a.holds) == 0:
	case a.moved: // the other holds belong to the account that follows
		m.Limiter.Settle(m.Clock.Now(), onlySpent(a.mem.again[:0], a.holds), nil)
	default:
		m.Limiter.Settle(m.Clock.Now(), a.holds, a.usedUnits(a.holds))
	}
}
