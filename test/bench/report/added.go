package report

import (
	"math"
	"slices"
)

// added computes what each round of r cost beyond the same round of the first row, and
// returns the figures that tell it: none when r is that row, or when the rows are not
// Sluice compared with itself.
func (s *Scenario) added(r *Row) []Metric {
	if !s.adds(r) {
		return nil
	}
	base := CPU.Values(s.Rows[0])
	for i := range r.Rounds {
		x := &r.Rounds[i]
		x.Added = Number(math.NaN())
		if i < len(base) {
			x.Added = Number(x.CPU - base[i]) // milliseconds of 1,000 requests are microseconds of one
		}
		if x.Events > 0 {
			x.AddedEvent = x.Added * Number(x.Requests) / Number(x.Events)
		}
	}
	if !s.streams() {
		return []Metric{Added}
	}
	return []Metric{Added, AddedEvent}
}

// adds reports whether r has figures beyond those of the first row.
func (s *Scenario) adds(r *Row) bool { return s.Paired && r != s.Rows[0] }

// shares reports whether limits of a row are on Redis.
func (s *Scenario) shares() bool {
	return slices.ContainsFunc(s.Rows, func(r *Row) bool { return WaitedTrips.Median(r) > 0 })
}

// streams reports whether the answers are streams.
func (s *Scenario) streams() bool {
	return slices.ContainsFunc(s.Rows, func(r *Row) bool { return EventP99.Median(r) > 0 })
}
