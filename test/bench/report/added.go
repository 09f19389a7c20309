package report

import (
	"math"
	"slices"
)

// added computes what each round of r cost beyond the same round of Sluice that
// relays, and returns the figures that tell it: none when r does not translate.
func (s *Scenario) added(r *Row) []Metric {
	if !r.translates() {
		return nil
	}
	relayed := CPU.Of(s.Row(Sluice))
	for i := range r.Rounds {
		x := &r.Rounds[i]
		x.Added = Number(math.NaN())
		if i < len(relayed) {
			x.Added = Number(x.CPU - relayed[i]) // milliseconds of 1,000 requests are microseconds of one
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

func (r *Row) translates() bool { return r.Target == ToAnthropic || r.Target == ToBedrock }

// translates reports whether Sluice is compared with itself.
func (s *Scenario) translates() bool { return slices.ContainsFunc(s.Rows, (*Row).translates) }

// streams reports whether the answers are streams.
func (s *Scenario) streams() bool {
	return slices.ContainsFunc(s.Rows, func(r *Row) bool { return EventP99.Median(r) > 0 })
}
