package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"sluice/test/bench/report"
)

// translated is a scenario in which everything was slow in the second round, and the
// third did not take place for the last target.
func translated(events int64) *report.Scenario {
	row := func(target string, cpu ...float64) *report.Row {
		r := &report.Row{Target: target}
		for _, ms := range cpu {
			r.Rounds = append(r.Rounds, report.Round{Requests: 10, Events: 10 * events, EventP99: float64(events), CPU: ms})
		}
		return r
	}
	s := &report.Scenario{Name: "translate-1k-c16", Title: "Translated", Paired: true, Rows: []*report.Row{
		row(report.Sluice, 50, 100, 52), row(report.ToAnthropic, 90, 180, 97), row(report.ToBedrock, 45, 90),
	}}
	s.Summarise()
	return s
}

// What a row adds to the first is the median of the differences of neighbouring rounds, and
// may come out below zero where it adds nothing.
func TestAdded(t *testing.T) {
	t.Parallel()
	s := translated(100)
	for target, want := range map[string][2]float64{report.ToAnthropic: {45, 0.45}, report.ToBedrock: {-7.5, -0.075}} {
		r := s.Row(target)
		if got := report.Added.Median(r); got != want[0] || float64(r.Median["added_cpu_us_per_exchange"]) != want[0] {
			t.Errorf("%s: %v µs per exchange, want %v", target, got, want[0])
		}
		if got := report.AddedEvent.Median(r); math.Abs(got-want[1]) > 1e-9 || float64(r.Median["added_cpu_us_per_event"]) != got {
			t.Errorf("%s: %v µs per event, want %v", target, got, want[1])
		}
	}
	if _, ok := s.Row(report.Sluice).Median["added_cpu_us_per_exchange"]; ok {
		t.Error("the first row was compared with itself")
	}
	if _, ok := translated(0).Row(report.ToBedrock).Median["added_cpu_us_per_event"]; ok {
		t.Error("whole answers have figures of events")
	}
}

// A round without its neighbour has no figure.
func TestAddedWithoutNeighbour(t *testing.T) {
	t.Parallel()
	s := translated(0)
	s.Rows[0].Rounds = s.Rows[0].Rounds[:2]
	s.Summarise()
	if got := report.Added.Median(s.Row(report.ToAnthropic)); got != 60 {
		t.Errorf("%v µs, want that of two rounds, 60", got)
	}
	s.Rows[0].Rounds = nil
	s.Summarise()
	if got := report.Added.Median(s.Row(report.ToAnthropic)); !math.IsNaN(got) {
		t.Errorf("%v µs beyond nothing", got)
	}
	if text, err := json.Marshal(s); err != nil || !strings.Contains(string(text), `"added_cpu_us_per_exchange":null`) {
		t.Errorf("%s, %v", text, err)
	}
	if got := result(s).Aims; len(got) != 0 {
		t.Errorf("judged by nothing: %+v", got)
	}
}

func TestAddedIsShown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := translated(100).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	r := result(translated(0))
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"added µs/event", "-7.50", "0.45", "| added µs/exchange |",
		"| `translate-1k-c16` | sluice to anthropic, added µs/exchange at most 60 | 45.0 | met |",
		"| `translate-1k-c16` | sluice to bedrock, added µs/exchange at most 60 | -7.50 | met |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.Contains(line, "added µs") && strings.Contains(line, "×") {
			t.Errorf("ratios to an nginx that is not there: %s", line)
		}
	}
}

// Where limits are on Redis, columns tell how often it was asked, and aims are judged by
// the rows that have the figure.
func TestTripsAreShown(t *testing.T) {
	t.Parallel()
	row := func(target string, cpu, waitedTrips float64) *report.Row {
		return &report.Row{Target: target, Rounds: []report.Round{{Requests: 10, CPU: cpu, WaitedTrips: waitedTrips, OtherTrips: waitedTrips / 8}}}
	}
	alone := &report.Scenario{Name: "gate-1k-c16", Paired: true, Rows: []*report.Row{row(report.Ungated, 50, 0), row(report.OneKey, 91, 0), row(report.Governed, 70, 0)}}
	shared := &report.Scenario{Name: "gate-1k-c16", Paired: true, Rows: append(alone.Rows[:3:3], row(report.GovernedShared, 80, 1.08))}
	var b bytes.Buffer
	for _, s := range []*report.Scenario{alone, shared} {
		s.Summarise()
		if err := s.WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "Redis asked") != (s == shared) {
			t.Errorf("columns of Redis:\n%s", b.String())
		}
	}
	if !strings.Contains(b.String(), "1.08") || !strings.Contains(b.String(), "0.14") {
		t.Errorf("no figures of Redis in\n%s", b.String())
	}
	want := []report.Verdict{
		{Scenario: "gate-1k-c16", Aim: "1 key, added µs/exchange at most 40", Measured: 41},
		{Scenario: "gate-1k-c16", Aim: "50 policies, added µs/exchange at most 40", Measured: 20, Met: true},
		{Scenario: "gate-1k-c16", Aim: "50 policies, Redis, Redis asked at most 1.05", Measured: 1.08},
	}
	if got := result(shared).Aims; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
