package quota

import "time"

// Subject is what has budgets: a record of a kind, or an integration in a workspace.
type Subject struct {
	Kind        string // that of the record, or IntegrationWorkspace
	ID          string // of the record; of the integration
	OrgID       string
	WorkspaceID string // empty for Admin keys
}

// IntegrationWorkspace is the kind of the carrier that an integration is in one
// workspace; its ID is that of the integration.
const IntegrationWorkspace = "integration_workspace"

// MeterKind is the kind under which the change feed tells that meters changed otherwise
// than by usage, or came or went; the id is that of their carrier.
const MeterKind = "usage_meter"

// Meter is what was used of a budget, and what was done about it. Its changes are
// pure: who calls them keeps the result. A meter belongs to one goroutine.
// Source: contract/identity-and-governance.md sections 5 and 6.
type Meter struct {
	Subject
	// BudgetKey is the id of the budget; of a policy the digest of ValueKey, and empty for
	// the head, which has the policy's limit and schedule and counts nothing itself.
	BudgetKey string
	ValueKey  string // of a policy: "metadata.team:search-api_key:0191…"

	Used      int64 // units of the measure
	Limit     int64 // at which it is used up
	Threshold int64 // at which somebody is told; 0 for never

	Exhausted      bool // noticed: requests are refused
	ThresholdAlert bool // was told
	ExhaustedAlert bool // was told

	LastReset time.Time // zero for never
	NextReset time.Time // zero for never
}

// Alerts are what somebody has to be told now, each once until its flag is cleared.
type Alerts struct{ Threshold, Exhausted bool }

// Check notices what usage has reached, and says what has to be told about it.
func (m *Meter) Check() (alerts Alerts) {
	if m.Threshold > 0 && m.Used >= m.Threshold && !m.ThresholdAlert {
		m.ThresholdAlert, alerts.Threshold = true, true
	}
	if m.Used >= m.Limit {
		m.Exhausted = true
		alerts.Exhausted = !m.ExhaustedAlert
		m.ExhaustedAlert = true
	}
	return alerts
}

// ClearAlerts takes back what was noticed and is not so any more, because what was used was
// corrected. What is reached again is told again.
func (m *Meter) ClearAlerts() {
	if m.Used < m.Limit {
		m.Exhausted, m.ExhaustedAlert = false, false
	}
	if m.Used < m.Threshold {
		m.ThresholdAlert = false
	}
}

// Reset sets the usage to zero.
func (m *Meter) Reset(now time.Time) {
	m.Used, m.LastReset = 0, now
	m.reopen()
}

// Renew is the reset of a schedule: usage begins anew as of that time, unless it did so
// since. What was used behind it and is counted already stays.
func (m *Meter) Renew(resetAt time.Time) {
	if m.LastReset.Before(resetAt) {
		m.Reset(resetAt)
	}
}

// Due reports whether a reset is due.
func (m *Meter) Due(now time.Time) bool { return !m.NextReset.IsZero() && !now.Before(m.NextReset) }

// SetLimits sets new limits, in units. A higher limit makes the meter active again and
// clears both flags; a higher threshold, or none, clears its own. A lower limit is
// noticed by the next Check.
func (m *Meter) SetLimits(limit, threshold int64) {
	if limit > m.Limit {
		m.reopen()
	}
	if threshold == 0 || threshold > m.Threshold {
		m.ThresholdAlert = false
	}
	m.Limit, m.Threshold = limit, threshold
}

func (m *Meter) reopen() { m.Exhausted, m.ThresholdAlert, m.ExhaustedAlert = false, false, false }

// Delta is usage to be added: to the budget Entry of a carrier, or to the counter of a
// policy for a value key.
type Delta struct {
	SubjectID string
	BudgetKey string
	ValueKey  string // of a policy; empty for budgets of records
	Units     int64  // nano-dollars, tokens or requests
	// UsedAt is when it was used, the last of it: it does not count on a meter that was reset
	// since. The zero time counts on every one.
	UsedAt time.Time
	// Runs say when each part of it was used, in any order; Units is their sum. None where
	// all of it was at At.
	Runs []Run
}

// Run is what was used at one instant.
type Run struct {
	UsedAtMS int64 // in ms since 1970
	Units    int64
}

// Since is what of the usage was at a time in ms or behind it.
func (d *Delta) Since(resetAt int64) (units int64) {
	switch {
	case d.UsedAt.IsZero():
		return d.Units
	case d.UsedAt.UnixMilli() < resetAt:
		return 0
	case len(d.Runs) == 0:
		return d.Units
	}
	for _, r := range d.Runs {
		if r.UsedAtMS >= resetAt {
			units += r.Units
		}
	}
	return units
}

// MeterQuery selects meters. Empty fields select everything.
type MeterQuery struct {
	SubjectID   string
	WorkspaceID string
	Entries     []string
	Counters    bool  // without the heads of policies
	Exhausted   *bool // noticed or not
	Search      string
	DueBy       time.Time // with a reset at that time or before
	Reached     bool      // usage is at a mark that nobody noticed yet
	Relieved    bool      // usage is below a mark that was noticed
	After       *Meter    // behind this one in the order of carriers and entries
	SortByUsage bool      // the most used first
	Limit       int       // 1 to 1000; 0 means 100
	Offset      int
}
