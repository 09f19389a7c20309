package report

import (
	"cmp"
	"fmt"
	"math"
)

// Aim is what Sluice shall reach in a scenario, or the row named in Of. To is the other row that it is
// compared with: of the same scenario, or when From is set of that one and Sluice
// itself; when To is empty the figure itself counts.
type Aim struct {
	Scenario string
	Target   string // ToAnthropic, OnSQLite or another; empty: Sluice
	Metric   Metric
	To       string // Nginx, or empty
	From     string // another scenario of Sluice, or empty
	IsMin    bool   // Limit is a lower one
	Limit    float64
}

// Verdict is what came of an Aim.
type Verdict struct {
	Scenario string `json:"scenario"`
	Aim      string `json:"aim"` // "CPU at most 2 times nginx"
	Measured Number `json:"measured"`
	Met      bool   `json:"met"`
}

// oneTrip is one round trip for a request, but for those that meet a counter first.
const oneTrip = 1.05

// Aims of the request path on two cores.
// Source: the speed section of docs/benchmarks.md.
var Aims = []Aim{
	{Scenario: "chat-1k-c64", Metric: CPU, To: Nginx, Limit: 2},
	{Scenario: "chat-1k-c64", Metric: PerSecond, To: Nginx, IsMin: true, Limit: 0.5},
	{Scenario: "chat-1k-c64", Target: Bare, Metric: CPU, To: Nginx, Limit: 2},
	{Scenario: "chat-1k-c64", Target: Bare, Metric: PerSecond, To: Nginx, IsMin: true, Limit: 0.5},
	{Scenario: "stream-burst-c16", Metric: CPU, To: Nginx, Limit: 1.3},
	{Scenario: "stream-burst-c16", Target: Bare, Metric: CPU, To: Nginx, Limit: 1.3},
	{Scenario: "stream-10ms-c128", Metric: CPU, To: Nginx, Limit: 1.3},
	{Scenario: "stream-10ms-c128", Metric: EventP99, To: Nginx, Limit: 1.3},
	{Scenario: "stream-10ms-c128", Target: Bare, Metric: CPU, To: Nginx, Limit: 1.3},
	{Scenario: "stream-10ms-c128", Target: Bare, Metric: EventP99, To: Nginx, Limit: 1.3},
	{Scenario: "upload-1m-c8", Metric: CPU, To: Nginx, Limit: 1.25},
	{Scenario: "upload-25m-c2", Metric: PeakMB, From: "upload-1m-c8", Limit: 1.25},
	{Scenario: "rate-8000", Metric: P50, To: Nginx, Limit: 1.3},
	{Scenario: "rate-8000", Metric: P99, To: Nginx, Limit: 2.5},
	{Scenario: "rate-8000", Target: Bare, Metric: P50, To: Nginx, Limit: 1.3},
	{Scenario: "rate-8000", Target: Bare, Metric: P99, To: Nginx, Limit: 2.5},
	{Scenario: "in-flight-1000", Metric: PeakMB, Limit: 150},
	{Scenario: "open-streams", Metric: PeakMB, Limit: 600},
	{Scenario: "translate-1k-c16", Target: ToAnthropic, Metric: Added, Limit: 60},
	{Scenario: "translate-1k-c16", Target: ToBedrock, Metric: Added, Limit: 60},
	{Scenario: "translate-stream-c16", Target: ToAnthropic, Metric: AddedEvent, Limit: 5},
	{Scenario: "translate-stream-c16", Target: ToBedrock, Metric: AddedEvent, Limit: 5},
	{Scenario: "gate-1k-c16", Target: OneKey, Metric: Added, Limit: 40},
	{Scenario: "gate-1k-c16", Target: TenKeys, Metric: Added, Limit: 40},
	{Scenario: "gate-1k-c16", Target: ManyKeys, Metric: Added, Limit: 40},
	{Scenario: "gate-1k-c16", Target: Governed, Metric: Added, Limit: 40},
	{Scenario: "gate-1k-c16", Target: OneKeyShared, Metric: WaitedTrips, Limit: oneTrip},
	{Scenario: "gate-1k-c16", Target: GovernedShared, Metric: WaitedTrips, Limit: oneTrip},
	{Scenario: "admin-list-paced", Target: OnSQLite, Metric: P99, Limit: 10_000},
	{Scenario: "admin-list-paced", Target: OnPostgres, Metric: P99, Limit: 10_000},
	{Scenario: "admin-get-paced", Target: OnSQLite, Metric: P99, Limit: 10_000},
	{Scenario: "admin-get-paced", Target: OnPostgres, Metric: P99, Limit: 10_000},
	{Scenario: "admin-create-paced", Target: OnSQLite, Metric: P99, Limit: 25_000},
	{Scenario: "admin-create-paced", Target: OnPostgres, Metric: P99, Limit: 25_000},
}

// Judge compares the aims with what was measured. Those whose scenario or other
// side is missing are left out.
func (r *Result) Judge(aims []Aim) []Verdict {
	var out []Verdict
	for _, a := range aims {
		if got := a.measure(r); !math.IsNaN(got) {
			met := got <= a.Limit
			if a.IsMin {
				met = got >= a.Limit
			}
			out = append(out, Verdict{a.Scenario, a.String(), Number(got), met})
		}
	}
	return out
}

func (a Aim) measure(r *Result) float64 {
	s := r.Scenario(a.Scenario)
	if s == nil {
		return math.NaN()
	}
	measured := s.Row(cmp.Or(a.Target, Sluice))
	switch {
	case a.To != "":
		return a.Metric.Ratio(measured, s.Row(a.To))
	case a.From != "":
		other := r.Scenario(a.From)
		if other == nil {
			return math.NaN()
		}
		return a.Metric.Median(measured) / a.Metric.Median(other.Row(Sluice))
	}
	return a.Metric.Median(measured)
}

// String is the aim in words: "CPU at most 2 times nginx".
func (a Aim) String() string {
	what := a.Metric.Title
	if a.Target != "" {
		what = a.Target + ", " + what
	}
	relation := "at most"
	if a.IsMin {
		relation = "at least"
	}
	switch {
	case a.To != "":
		return fmt.Sprintf("%s %s %g times %s", what, relation, a.Limit, a.To)
	case a.From != "":
		return fmt.Sprintf("%s %s %g times that of %s", what, relation, a.Limit, a.From)
	}
	return fmt.Sprintf("%s %s %g", what, relation, a.Limit)
}
