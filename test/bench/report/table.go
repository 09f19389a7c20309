package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// column is one column of a table.
type column struct {
	title string
	show  func(s *Scenario, r *Row) string
}

// columns are those of every table; those of events stand only where there are any,
// and where Sluice is compared with itself, what was added to the first row stands in
// the place of the ratios to nginx.
func columns(s *Scenario) []column {
	cols := []column{
		{"target", func(_ *Scenario, r *Row) string { return r.Target }},
		{"requests", func(_ *Scenario, r *Row) string {
			return strconv.FormatInt(r.sum(func(x *Round) int64 { return x.Requests }), 10)
		}},
		{"errors", func(_ *Scenario, r *Row) string {
			return strconv.FormatInt(r.sum(func(x *Round) int64 { return x.Failed }), 10)
		}},
		plain(PerSecond), timed(P50), timed(P99), timed(P999),
	}
	if s.streams() {
		cols = append(cols, timed(EventP50), timed(EventP99))
	}
	cols = append(cols, plain(CPU), plain(CPUWithLog), plain(PeakMB))
	switch {
	case !s.Paired:
		cols = append(cols, times(CPU), times(PerSecond), times(P99))
	case s.streams():
		cols = append(cols, beyond(Added), beyond(AddedEvent))
	default:
		cols = append(cols, beyond(Added))
	}
	if s.shares() {
		cols = append(cols, plain(WaitedTrips), plain(OtherTrips))
	}
	return append(cols, plain(generator), plain(upstream), share(foreign))
}

func (r *Row) sum(value func(*Round) int64) (n int64) {
	for i := range r.Rounds {
		n += value(&r.Rounds[i])
	}
	return n
}

// plain shows the median, or a dash where there is none: direct has no target.
func plain(m Metric) column {
	return column{m.Title, func(_ *Scenario, r *Row) string {
		if v := m.Median(r); v > 0 {
			return short(v)
		}
		return "–"
	}}
}

// beyond shows the median of a difference, which may be below zero.
func beyond(m Metric) column {
	return column{m.Title, func(s *Scenario, r *Row) string {
		if !s.adds(r) {
			return "–"
		}
		return short(m.Median(r))
	}}
}

// timed shows a median in microseconds as a time.
func timed(m Metric) column {
	return column{m.Title, func(_ *Scenario, r *Row) string { return duration(m.Median(r)) }}
}

// times shows the ratio to nginx.
func times(m Metric) column {
	return column{m.Title + " ×", func(s *Scenario, r *Row) string {
		nginx := s.Row(Nginx)
		if nginx == nil || r == nginx {
			return "–"
		}
		if v := m.Ratio(r, nginx); v > 0 {
			return strconv.FormatFloat(v, 'f', 2, 64)
		}
		return "–"
	}}
}

func share(m Metric) column {
	return column{m.Title, func(_ *Scenario, r *Row) string { return fmt.Sprintf("%.0f %%", 100*m.Median(r)) }}
}

// short writes v with three digits that matter.
func short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	digits := 0
	if v < 100 {
		digits = 1
	}
	if v < 10 {
		digits = 2
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// duration writes microseconds: "170 µs", "4.21 ms", "1.20 s".
func duration(us float64) string {
	switch {
	case math.IsNaN(us) || us <= 0:
		return "–"
	case us < 1000:
		return short(us) + " µs"
	case us < 1e6:
		return short(us/1e3) + " ms"
	}
	return short(us/1e6) + " s"
}

func appendFloat(b []byte, v float64) []byte {
	return strconv.AppendFloat(b, math.Round(v*1e4)/1e4, 'f', -1, 64)
}

// cells are the rows of a scenario's table, the titles first.
func (s *Scenario) cells() [][]string {
	cols := columns(s)
	out := make([][]string, 1+len(s.Rows))
	for _, c := range cols {
		out[0] = append(out[0], c.title)
		for i, r := range s.Rows {
			out[i+1] = append(out[i+1], c.show(s, r))
		}
	}
	return out
}

// WriteTable writes a scenario for a terminal.
func (s *Scenario) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "\n%s (%s)\n", s.Title, s.Name)
	if s.Skipped != "" {
		_, err := fmt.Fprintf(w, "  skipped: %s\n", s.Skipped)
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range s.cells() {
		fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w, "  PROBLEM: %s\n", p)
	}
	return nil
}

// WriteAims writes what came of the aims for a terminal.
func (r *Result) WriteAims(w io.Writer) error {
	if len(r.Aims) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nAims\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range r.Aims {
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", v.Scenario, v.Aim, short(float64(v.Measured)), v.text())
	}
	return tw.Flush()
}

func (v Verdict) text() string {
	if v.Met {
		return "met"
	}
	return "MISSED"
}
