// Package report holds what a benchmark measured and puts it into words: JSON for
// programs, a table for the terminal, Markdown for the documentation.
package report

import (
	"math"
	"time"

	"sluice/test/bench/proc"
	"sluice/test/bench/stat"
)

// Result is one run of the benchmark.
type Result struct {
	Date      time.Time    `json:"date"`
	Command   string       `json:"command"` // how to run it again
	Sluice    string       `json:"sluice"`  // its version
	Nginx     string       `json:"nginx"`   // "nginx/1.22.1", empty when it is not installed
	Machine   proc.Machine `json:"machine"`
	Took      string       `json:"took"`
	Scenarios []*Scenario  `json:"scenarios"`
	Aims      []Verdict    `json:"aims"`
}

// Scenario is one kind of load and how each target took it.
type Scenario struct {
	Name     string   `json:"name"`  // "chat-1k-c64"
	Title    string   `json:"title"` // "1 KB chat, 64 connections"
	Skipped  string   `json:"skipped,omitempty"`
	Problems []string `json:"problems,omitempty"` // what must not happen and did
	Paired   bool     `json:"paired,omitempty"`   // Sluice is compared with itself, each row with the first
	Rows     []*Row   `json:"targets"`
}

// Row is one target's rounds.
type Row struct {
	Target string  `json:"target"` // Direct, Nginx or another of the targets below
	Rounds []Round `json:"rounds"`
	// Of the rounds, for readers of the JSON; ratios are medians of the ratios of
	// each round to the same round of nginx.
	Median map[string]Number `json:"median"`
	Ratio  map[string]Number `json:"ratio_to_nginx,omitempty"`
}

// The targets.
const (
	Direct      = "direct"
	Nginx       = "nginx"
	Buffered    = "nginx, buffering" // nginx' own defaults
	Sluice      = "sluice"
	Unlogged    = "sluice, log off"          // with the journal alone, from which nothing is taken over into the request log
	Bare        = "sluice, log and gate off" // with authentication, the config and the journal, which is what the aims beside nginx name
	ToAnthropic = "sluice to anthropic"      // translates
	ToBedrock   = "sluice to bedrock"        // translates
	OnSQLite    = "sluice on sqlite"         // its administration
	OnPostgres  = "sluice on postgres"       // the same

	Ungated        = "sluice, gate off"   // without limits, prices and the ledger
	OneKey         = "1 key"              // with limits of its own and of its workspace
	TenKeys        = "10 keys"            // such keys, in turn
	ManyKeys       = "10,000 keys"        // the same
	Governed       = "50 policies"        // one key, of whose calls they all are
	OneKeyShared   = "1 key, Redis"       // the limits of which hold over all nodes
	GovernedShared = "50 policies, Redis" // the same
)

// Round is one round of one target. Times of requests are in microseconds,
// processor times in milliseconds per 1,000 requests. Of Target, which direct has
// not, Settled includes what is left to do when the last answer is out.
type Round struct {
	Requests   int64   `json:"requests"` // measured
	Unmeasured int64   `json:"warm"`     // not measured
	Failed     int64   `json:"failed"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"requests_per_s"`

	P50US  float64 `json:"p50_us"`
	P99US  float64 `json:"p99_us"`
	P999US float64 `json:"p999_us"`
	MaxUS  float64 `json:"max_us"`

	Events   int64   `json:"events,omitempty"`
	EventP50 float64 `json:"event_delay_p50_us,omitempty"`
	EventP99 float64 `json:"event_delay_p99_us,omitempty"`
	EventMax float64 `json:"event_delay_max_us,omitempty"`

	CPU        float64 `json:"cpu_ms_per_1000"`
	CPUWithLog float64 `json:"cpu_settled_ms_per_1000"`
	Generator  float64 `json:"generator_cpu_ms_per_1000"`
	Upstream   float64 `json:"upstream_cpu_ms_per_1000"`
	PeakMB     float64 `json:"peak_mb"`

	// Where Sluice is compared with itself: microseconds of processor time beyond
	// those of the same round of the first row. Those of an event are its share of
	// the whole exchange. Summarise computes both.
	Added      Number `json:"added_cpu_us_per_exchange,omitempty"`
	AddedEvent Number `json:"added_cpu_us_per_event,omitempty"`

	// Where limits are on Redis: round trips for each request, those that calls waited
	// for and all others.
	WaitedTrips float64 `json:"redis_asked_per_request,omitempty"`
	OtherTrips  float64 `json:"redis_told_per_request,omitempty"`

	Foreign float64 `json:"foreign_cpu_share"` // of the machine, taken by others meanwhile
}

// Metric is a figure of a round.
type Metric struct {
	Name  string // as in the JSON
	Title string // as in tables
	value func(*Round) float64
}

// The figures that are compared.
var (
	PerSecond  = Metric{"requests_per_s", "req/s", func(r *Round) float64 { return r.PerSecond }}
	P50        = Metric{"p50_us", "p50", func(r *Round) float64 { return r.P50US }}
	P99        = Metric{"p99_us", "p99", func(r *Round) float64 { return r.P99US }}
	P999       = Metric{"p999_us", "p99.9", func(r *Round) float64 { return r.P999US }}
	EventP50   = Metric{"event_delay_p50_us", "event p50", func(r *Round) float64 { return r.EventP50 }}
	EventP99   = Metric{"event_delay_p99_us", "event p99", func(r *Round) float64 { return r.EventP99 }}
	CPU        = Metric{"cpu_ms_per_1000", "CPU", func(r *Round) float64 { return r.CPU }}
	CPUWithLog = Metric{"cpu_settled_ms_per_1000", "CPU with log", func(r *Round) float64 { return r.CPUWithLog }}
	PeakMB     = Metric{"peak_mb", "peak MB", func(r *Round) float64 { return r.PeakMB }}

	Added      = Metric{"added_cpu_us_per_exchange", "added µs/exchange", func(r *Round) float64 { return float64(r.Added) }}
	AddedEvent = Metric{"added_cpu_us_per_event", "added µs/event", func(r *Round) float64 { return float64(r.AddedEvent) }}

	WaitedTrips = Metric{"redis_asked_per_request", "Redis asked", func(r *Round) float64 { return r.WaitedTrips }}
	OtherTrips  = Metric{"redis_told_per_request", "Redis told", func(r *Round) float64 { return r.OtherTrips }}

	generator = Metric{"generator_cpu_ms_per_1000", "generator", func(r *Round) float64 { return r.Generator }}
	upstream  = Metric{"upstream_cpu_ms_per_1000", "upstream", func(r *Round) float64 { return r.Upstream }}
	foreign   = Metric{"foreign_cpu_share", "others", func(r *Round) float64 { return r.Foreign }}
)

var metrics = []Metric{PerSecond, P50, P99, P999, EventP50, EventP99, CPU, CPUWithLog, PeakMB, generator, upstream, foreign}

// Number is a float64 that is null in JSON when it is none.
type Number float64

// MarshalJSON writes the number or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return appendFloat(nil, float64(n)), nil
}

// Values is the metric of each round.
func (m Metric) Values(r *Row) []float64 {
	if r == nil {
		return nil
	}
	var xs []float64
	for i := range r.Rounds {
		xs = append(xs, m.value(&r.Rounds[i]))
	}
	return xs
}

// Median of the rounds; NaN when there is none.
func (m Metric) Median(r *Row) float64 { return stat.Median(m.Values(r)) }

// Ratio of r to another target; NaN when one has no rounds or no such figure.
func (m Metric) Ratio(r, to *Row) float64 { return stat.Ratio(m.Values(r), m.Values(to)) }

// Row of a target; nil when it has none.
func (s *Scenario) Row(target string) *Row {
	for _, r := range s.Rows {
		if r.Target == target {
			return r
		}
	}
	return nil
}

// Summarise computes what was added to the first row, medians and ratios from the rounds.
func (s *Scenario) Summarise() {
	nginx := s.Row(Nginx)
	for _, r := range s.Rows {
		r.Median, r.Ratio = map[string]Number{}, map[string]Number{}
		for _, m := range append(s.added(r), metrics...) {
			r.Median[m.Name] = Number(m.Median(r))
			if nginx != nil && r != nginx {
				r.Ratio[m.Name] = Number(m.Ratio(r, nginx))
			}
		}
	}
}

// Failed reports whether anything happened that must not: speed is another matter.
func (r *Result) Failed() bool {
	for _, s := range r.Scenarios {
		if len(s.Problems) > 0 {
			return true
		}
	}
	return false
}

// Scenario finds one by name; nil when it was not run.
func (r *Result) Scenario(name string) *Scenario {
	for _, s := range r.Scenarios {
		if s.Name == name && s.Skipped == "" {
			return s
		}
	}
	return nil
}
