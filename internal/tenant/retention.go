package tenant

import "sluice/internal/fault"

// Retention is for how many days what is logged is kept, each kind from the day it is of.
// A day that is nil was not set. It is ours.
type Retention struct {
	Bodies  *int `json:"bodies_days,omitempty"`  // requests and responses
	Rows    *int `json:"rows_days,omitempty"`    // entries of the log; figures stay
	Metrics *int `json:"metrics_days,omitempty"` // everything
}

// all are the kinds with the names of their fields.
func (r *Retention) all() [3]struct {
	name string
	days **int
} {
	return [...]struct {
		name string
		days **int
	}{{"bodies_days", &r.Bodies}, {"rows_days", &r.Rows}, {"metrics_days", &r.Metrics}}
}

// withDefaults fills what r leaves open from below.
func (r Retention) withDefaults(defaults Retention) Retention {
	from := defaults.all()
	for i, d := range r.all() {
		fill(d.days, *from[i].days)
	}
	return r
}

// CheckLimit refuses what is longer than the deployment keeps anything:
// fault.InvalidParameter at the field. A most of nil has no limit.
func (r Retention) CheckLimit(maxRetention Retention) error {
	limits := maxRetention.all()
	for i, d := range r.all() {
		if limit := *limits[i].days; *d.days != nil && limit != nil && **d.days > *limit {
			return fault.Newf(fault.InvalidParameter, "must not exceed %d days on this deployment", *limit).WithParam("settings.log_retention." + d.name)
		}
	}
	return nil
}

// Capped is r with no kind kept longer than most keeps it, nor longer than what it hangs
// on: bodies than their rows, rows than their figures. Nothing in it is nil where most
// has a limit.
func (r Retention) Capped(maxRetention Retention) Retention {
	limits := maxRetention.all()
	for i, d := range r.all() {
		*d.days = minDays(*d.days, *limits[i].days)
	}
	r.Rows = minDays(r.Rows, r.Metrics)
	r.Bodies = minDays(r.Bodies, r.Rows)
	return r
}

// minDays is the smaller of two; nil is more than any number.
func minDays(a, b *int) *int {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
