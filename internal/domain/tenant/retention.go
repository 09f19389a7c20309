package tenant

import "sluice/internal/kernel/fault"

// Retention is the number of days for which logged data is stored, by type, from the date of
// the data. A nil value is not set. (ours)
type Retention struct {
	Bodies  *int `json:"bodies_days,omitempty"`  // requests and responses
	Rows    *int `json:"rows_days,omitempty"`    // log entries; metrics are not deleted
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

// withDefaults replaces the unset values of r with those of defaults.
func (r Retention) withDefaults(defaults Retention) Retention {
	from := defaults.all()
	for i, d := range r.all() {
		fill(d.days, *from[i].days)
	}
	return r
}

// CheckLimit refuses values above maxRetention, the retention of the deployment. The error is
// fault.InvalidParameter at the field. A nil value in maxRetention means no limit.
func (r Retention) CheckLimit(maxRetention Retention) error {
	limits := maxRetention.all()
	for i, d := range r.all() {
		if limit := *limits[i].days; *d.days != nil && limit != nil && **d.days > *limit {
			return fault.Newf(fault.InvalidParameter, "must not exceed %d days on this deployment", *limit).WithParam("settings.log_retention." + d.name)
		}
	}
	return nil
}

// Capped returns r with each value limited to that of maxRetention and to the data on which it
// depends: bodies to their rows, rows to their metrics. No value is nil where maxRetention has
// a limit.
func (r Retention) Capped(maxRetention Retention) Retention {
	limits := maxRetention.all()
	for i, d := range r.all() {
		*d.days = minDays(*d.days, *limits[i].days)
	}
	r.Rows = minDays(r.Rows, r.Metrics)
	r.Bodies = minDays(r.Bodies, r.Rows)
	return r
}

// minDays returns the smaller of two values. nil is larger than any number.
func minDays(a, b *int) *int {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
