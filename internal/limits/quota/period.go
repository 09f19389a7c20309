package quota

import (
	"time"

	"sluice/internal/kernel/fault"
)

// Period is the reset schedule of a budget. Every and Days exclude each other. With neither,
// usage never resets, or once at NextResetAt.
// Source: contract/identity-and-governance.md section 6, Reset.
type Period struct {
	Every string `json:"periodic_reset,omitempty"` // weekly (Monday) or monthly (the 1st), at 00:00 UTC
	Days  int    `json:"periodic_reset_days,omitempty"`
	// NextResetAt is the requested next reset, at 00:00 UTC. Nil means that it is computed.
	NextResetAt *time.Time `json:"next_usage_reset_at,omitempty"`
}

// These are the values of Every.
const (
	Weekly  = "weekly"
	Monthly = "monthly"
)

// MaxDays is the longest period in days.
const MaxDays = 365

func (p *Period) validate(path string) error {
	bad := func(field, text string) error { return fault.New(fault.InvalidParameter, text).WithParam(path + field) }
	switch {
	case p.Every != "" && p.Days != 0:
		return bad("periodic_reset_days", "send periodic_reset or periodic_reset_days, not both")
	case p.Every != "" && p.Every != Weekly && p.Every != Monthly:
		return bad("periodic_reset", "must be weekly or monthly")
	case p.Days < 0 || p.Days > MaxDays:
		return bad("periodic_reset_days", "must be between 1 and 365")
	}
	*p = p.Day()
	return nil
}

// First returns the first reset of usage that is counted from a time on. It is NextResetAt or,
// if that is nil or over, the first reset of the period after it. Zero means that usage does
// not reset.
func (p Period) First(from time.Time) time.Time {
	switch {
	case p.NextResetAt == nil:
		return p.After(begin(from), from)
	case p.NextResetAt.After(from):
		return *p.NextResetAt
	}
	return p.After(*p.NextResetAt, from)
}

// After returns the first reset after now of a schedule whose previous reset was last. Missed
// periods are skipped. Zero means that usage does not reset.
func (p Period) After(last, now time.Time) time.Time {
	last, today := begin(last), begin(now)
	switch {
	case p.Every == Weekly:
		return today.AddDate(0, 0, 7-(int(today.Weekday())+6)%7)
	case p.Every == Monthly:
		return time.Date(today.Year(), today.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	case p.Days > 0:
		passed := int(today.Sub(last).Hours()/24) / p.Days
		return last.AddDate(0, 0, (max(passed, 0)+1)*p.Days)
	}
	return time.Time{}
}

// Latest returns the last reset by now of a schedule that has a reset at due.
func (p Period) Latest(due, now time.Time) time.Time {
	for next := p.After(due, due); !next.IsZero() && !next.After(now); next = p.After(next, next) {
		due = next
	}
	return due
}

// Day returns the period with NextResetAt moved to the beginning of its day.
func (p Period) Day() Period {
	if p.NextResetAt != nil {
		day := begin(*p.NextResetAt)
		p.NextResetAt = &day
	}
	return p
}

// ValidateNextReset rejects a NextResetAt that is not after now with fault.InvalidParameter.
// path is the prefix of the field name.
func (p Period) ValidateNextReset(now time.Time, path string) error {
	if p.NextResetAt != nil && !p.NextResetAt.After(now) {
		return fault.New(fault.InvalidParameter, "must be a later day than today, in UTC").WithParam(path + "next_usage_reset_at")
	}
	return nil
}
