package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/test/bench/proc"
	"sluice/test/bench/report"
)

// chat is a scenario of two rounds, in the second of which everything was slow.
func chat() *report.Scenario {
	round := func(cpu, perSecond, p50 float64) report.Round {
		return report.Round{Requests: 1000, PerSecond: perSecond, P50US: p50, P99US: 4 * p50, CPU: cpu, CPUWithLog: cpu + 1, PeakMB: 10 * cpu}
	}
	s := &report.Scenario{Name: "chat-1k-c64", Title: "1 KB chat, 64 connections", Rows: []*report.Row{
		{Target: report.Direct, Rounds: []report.Round{round(0, 120000, 390), round(0, 60000, 800)}},
		{Target: report.Nginx, Rounds: []report.Round{round(15, 50000, 1000), round(30, 25000, 2000)}},
		{Target: report.Sluice, Rounds: []report.Round{round(30, 30000, 1500), round(60, 15000, 3000)}},
	}}
	s.Summarise()
	return s
}

func result(scenarios ...*report.Scenario) *report.Result {
	r := &report.Result{
		Date: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Command: "make bench", Sluice: "1.0.0", Nginx: "nginx/1.22.1",
		Machine: proc.Machine{CPU: "AMD EPYC", Cores: 2, MemoryMB: 24105, Kernel: "Linux 6.1.0", Go: "go1.26.8"},
		Took:    "2m0s", Scenarios: scenarios,
	}
	r.Aims = r.Judge(report.Aims)
	return r
}

// Ratios are those of the rounds: a machine that was slow for a while does not show.
func TestSummarise(t *testing.T) {
	t.Parallel()
	s := chat()
	sluice := s.Row(report.Sluice)
	if got := sluice.Ratio["cpu_ms_per_1000"]; got != 2 {
		t.Errorf("CPU is %v times nginx, want 2", got)
	}
	if got := sluice.Median["cpu_ms_per_1000"]; got != 45 {
		t.Errorf("median of CPU %v, want 45", got)
	}
	if len(s.Row(report.Nginx).Ratio) != 0 || s.Row(report.Buffered) != nil {
		t.Error("nginx is compared with itself, or a row was made up")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	upload := func(name string, mb float64) *report.Scenario {
		return &report.Scenario{Name: name, Rows: []*report.Row{{Target: report.Sluice, Rounds: []report.Round{{PeakMB: mb}}}}}
	}
	r := result(chat(), upload("upload-1m-c8", 100), upload("upload-25m-c2", 130), upload("in-flight-1000", 149),
		&report.Scenario{Name: "rate-8000", Skipped: "the time was over"})
	for _, c := range []struct {
		aim      report.Aim
		text     string
		measured float64 // NaN: left out
		met      bool
	}{
		{report.Aim{Scenario: "chat-1k-c64", Metric: report.CPU, To: report.Nginx, Limit: 2}, "CPU at most 2 times nginx", 2, true},
		{report.Aim{Scenario: "chat-1k-c64", Metric: report.CPU, To: report.Nginx, Limit: 1.9}, "CPU at most 1.9 times nginx", 2, false},
		{report.Aim{Scenario: "chat-1k-c64", Metric: report.PerSecond, To: report.Nginx, IsMin: true, Limit: 0.5}, "req/s at least 0.5 times nginx", 0.6, true},
		{report.Aim{Scenario: "upload-25m-c2", Metric: report.PeakMB, From: "upload-1m-c8", Limit: 1.25}, "peak MB at most 1.25 times that of upload-1m-c8", 1.3, false},
		{report.Aim{Scenario: "upload-25m-c2", Metric: report.PeakMB, From: "elsewhere", Limit: 1}, "", math.NaN(), false},
		{report.Aim{Scenario: "in-flight-1000", Metric: report.PeakMB, Limit: 150}, "peak MB at most 150", 149, true},
		{report.Aim{Scenario: "in-flight-1000", Metric: report.CPU, To: report.Nginx, Limit: 1}, "", math.NaN(), false},
		{report.Aim{Scenario: "rate-8000", Metric: report.P50, To: report.Nginx, Limit: 1}, "", math.NaN(), false},
	} {
		got := r.Judge([]report.Aim{c.aim})
		if math.IsNaN(c.measured) {
			if len(got) != 0 {
				t.Errorf("%v was judged: %+v", c.aim, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Aim != c.text || float64(got[0].Measured) != c.measured || got[0].Met != c.met {
			t.Errorf("%q: got %+v, want %v, met %v", c.text, got, c.measured, c.met)
		}
	}
}

func TestFailed(t *testing.T) {
	t.Parallel()
	s := chat()
	if result(s).Failed() {
		t.Error("a good run failed")
	}
	s.Problems = []string{"sluice: 1 of 1000 requests doubled"}
	if !result(s).Failed() {
		t.Error("a doubled request passed")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	s := chat()
	s.Problems = []string{"sluice: 1 of 2000 requests doubled"}
	r := result(s)
	var b bytes.Buffer
	if err := s.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if err := (&report.Scenario{Name: "x", Title: "X", Skipped: "the time was over"}).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteAims(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 KB chat, 64 connections (chat-1k-c64)", "37500", "1.50 ms", "2.25 ms", "2.00", "0.60", "PROBLEM: sluice: 1 of", "skipped: the time was over", "req/s at least 0.5 times nginx", "met"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	s := chat()
	s.Rows[2].Median["odd"] = report.Number(math.NaN())
	text, err := json.Marshal(result(s))
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Machine   struct{ Cores int }
		Scenarios []struct {
			Targets []struct {
				Target string
				Median map[string]*float64
				Ratio  map[string]*float64 `json:"ratio_to_nginx"`
				Rounds []map[string]float64
			}
		}
	}
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	sluice := decoded.Scenarios[0].Targets[2]
	if decoded.Machine.Cores != 2 || sluice.Target != "sluice" || *sluice.Ratio["cpu_ms_per_1000"] != 2 || sluice.Rounds[1]["p50_us"] != 3000 || sluice.Median["odd"] != nil {
		t.Errorf("got %+v", decoded)
	}
}

// The results replace those of the last time and leave the rest of the page alone.
func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "benchmarks.md")
	page := "# Benchmarks\n\n<!-- results: begin -->\nold\n<!-- results: end -->\n\nNotes.\n"
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := result(chat(), &report.Scenario{Name: "x", Title: "X", Skipped: "the time was over"}).Replace(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Benchmarks\n", "\nNotes.\n", "2 cores (AMD EPYC)", "`make bench`", "### 1 KB chat, 64 connections\n", "| sluice |", "was skipped: the time was over", "| `chat-1k-c64` | CPU at most 2 times nginx | 2.00 | met |"} {
		if strings.Count(string(got), want) != 1 {
			t.Errorf("%q is not there once in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Error("the last results are still there")
	}
	if err := os.WriteFile(path, []byte("# Benchmarks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if result().Replace(path) == nil {
		t.Error("a page without marks was written to")
	}
}
