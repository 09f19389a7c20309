package quota

import "time"

// Subject is what has budgets: a record, or an integration in a workspace.
type Subject struct {
	Kind        string // kind of the record, or IntegrationWorkspace
	ID          string // of the record or the integration
	OrgID       string
	WorkspaceID string // empty for Admin keys
}

// IntegrationWorkspace is the Kind of an integration in one workspace. Its ID is that of the
// integration.
const IntegrationWorkspace = "integration_workspace"

// MeterKind is the kind in the change feed for meters that were created, deleted or changed
// other than by usage. The id is that of their subject.
const MeterKind = "usage_meter"

// Meter is the usage of a budget and its alerts. Its methods change only the value in memory;
// the caller stores the result. A meter belongs to one goroutine.
// Source: contract/identity-and-governance.md sections 5 and 6.
type Meter struct {
	Subject
	// BudgetKey is the id of the budget. For a policy it is the digest of ValueKey. It is
	// empty for the head of a policy, which has the limit and schedule of the policy and
	// counts nothing.
	BudgetKey string
	ValueKey  string // of a policy: "metadata.team:search-api_key:0191…"

	Used      int64 // units of the measure
	Limit     int64 // at which the budget is used up
	Threshold int64 // at which an alert is due; 0 for never

	Exhausted      bool // detected: requests are rejected
	ThresholdAlert bool // alert was raised
	ExhaustedAlert bool // alert was raised

	LastReset time.Time // zero for never
	NextReset time.Time // zero for never
}

// Alerts are the alerts to raise now. Each is raised once until its flag is cleared.
type Alerts struct{ Threshold, Exhausted bool }

// Check sets the flags that the usage has reached and returns the alerts to raise.
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

// ClearAlerts clears the flags that no longer apply because usage was corrected. An alert is
// raised again if its mark is reached again.
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

// Renew applies a scheduled reset: usage starts from zero as of resetAt, unless the meter was
// reset since. Usage after resetAt that is already counted is then preserved.
func (m *Meter) Renew(resetAt time.Time) {
	if m.LastReset.Before(resetAt) {
		m.Reset(resetAt)
	}
}

// Due reports whether a reset is due.
func (m *Meter) Due(now time.Time) bool { return !m.NextReset.IsZero() && !now.Before(m.NextReset) }

// SetLimits sets new limits, in units. A higher limit makes the meter active again and clears
// both alert flags. A higher threshold, or none, clears its own flag. The next Check detects a
// lower limit.
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

// Delta is usage to be added: to a budget of a subject, or to the counter of a policy for a
// value key.
type Delta struct {
	SubjectID string
	BudgetKey string
	ValueKey  string // of a policy; empty for budgets of records
	Units     int64  // nano-dollars, tokens or requests
	// UsedAt is when the last of it was used. It does not count on a meter that was reset
	// since. The zero time counts on every meter.
	UsedAt time.Time
	// Runs list when each part of it was used, in any order. Units is their sum. Nil means
	// that all of it was used at UsedAt.
	Runs []Run
}

// Run is usage at one instant.
type Run struct {
	UsedAtMS int64 // in ms since 1970
	Units    int64
}

// Since returns the usage at or after a time in ms.
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
	Exhausted   *bool // matches Meter.Exhausted
	Search      string
	DueBy       time.Time // with a reset at that time or before
	Reached     bool      // usage is at a mark that is not flagged yet
	Relieved    bool      // usage is below a mark that is flagged
	After       *Meter    // only meters after this one, in the order of subjects and entries
	SortByUsage bool      // the highest usage first
	Limit       int       // 1 to 1000; 0 means 100
	Offset      int
}
