package proc

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " S 4711 1 1 0 -1 4194560 1 2 3 4 250 50 9 9 20 0 5 0 100 1 1"
	for text, want := range map[string]stat{
		"12 (nginx)" + rest:          {4711, 3 * time.Second},
		"12 (odd) name (1 2)" + rest: {4711, 3 * time.Second},
		"12 (sluice) R 1 x":          {},
		"":                           {},
		"12 (sluice) S x 1 1 0 -1 4 1 2 3 4 250 50": {},
	} {
		got, err := parseStat([]byte(text))
		if got != want || (err != nil) != (want == stat{}) {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

func TestParseBusy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"cpu  100 5 50 9999 777 3 2 40 0 0\ncpu0 1": 2 * time.Second,
		"cpu  100 5":                 0,
		"":                           0,
		"cpu  a b c d e f g h i j\n": 0,
	} {
		if got, err := parseBusy([]byte(text)); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestStatusKB(t *testing.T) {
	t.Parallel()
	const text = "Name:\tx\nVmHWM:\t   12345 kB\nVmRSS:\t 1 kB\n"
	if got, err := statusKB([]byte(text), "VmHWM:"); got != 12345 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
	if _, err := statusKB([]byte(text), "VmSwap:"); err == nil {
		t.Error("found what is not there")
	}
}

func TestThisMachine(t *testing.T) {
	t.Parallel()
	linux(t)
	m := ThisMachine()
	if m.Cores < 1 || m.MemoryMB < 1 || !strings.HasPrefix(m.Kernel, "Linux ") || m.Go == "" {
		t.Errorf("got %+v", m)
	}
	if busy, err := Busy(); err != nil || busy <= 0 {
		t.Errorf("busy %v, %v", busy, err)
	}
	if got := value([]byte("model name\t: AMD EPYC\n"), "model name"); got != "AMD EPYC" {
		t.Errorf("got %q", got)
	}
}

// What a program costs shows up, with what its child costs.
func TestUsageOfAProcess(t *testing.T) {
	t.Parallel()
	linux(t)
	p := start(t, `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo burnt; exec sleep 60' & wait`, "burnt")
	f, err := FamilyOf(p.PID)
	if err != nil || len(f) != 2 {
		t.Fatalf("family %v, %v", f, err)
	}
	if cpu, err := f.CPU(); err != nil || cpu < tick || cpu > time.Minute {
		t.Errorf("processor time %v, %v", cpu, err)
	}
	if err := f.ResetPeak(); err != nil {
		t.Errorf("%v", err)
	}
	if peak, err := f.Peak(); err != nil || peak < 64<<10 || peak > 1<<30 {
		t.Errorf("peak %d, %v", peak, err)
	}
	if used, err := GeneratorCPU(); err != nil || used <= 0 {
		t.Errorf("own %v, %v", used, err)
	}
	for _, pid := range f {
		kill(t, pid)
	}
	<-p.done
	if _, err := f.CPU(); err == nil {
		t.Error("a process that is gone has processor time")
	}
}

func TestStartTellsWhyNothingServes(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo the port is taken; exit 3": "the port is taken",
		"exec sleep 60":                  "does not serve",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if want == "does not serve" {
			ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
		}
		_, err := Start(ctx, command(t, script, "ready"))
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", script, err)
		}
	}
	if _, err := Start(t.Context(), Command{Name: "x", Path: "/nonexistent", Dir: t.TempDir()}); err == nil {
		t.Error("started what does not exist")
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	for script, good := range map[string]bool{
		`trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`: true,
		`trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done`: false,
		`echo ready; exec sleep 60`:                                    true,
	} {
		p, err := Start(t.Context(), command(t, script, "ready"))
		if err != nil {
			t.Fatal(err)
		}
		if p.ReadyMatch[0] != "ready" {
			t.Errorf("said %q", p.ReadyMatch)
		}
		if err := p.Stop(); (err == nil) != good {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestRaiseFiles(t *testing.T) {
	t.Parallel()
	if n, err := RaiseFiles(64); err != nil || n < 64 {
		t.Errorf("got %d, %v", n, err)
	}
}

func command(t *testing.T, script, ready string) Command {
	t.Helper()
	return Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(), Ready: regexp.MustCompile(ready)}
}

func start(t *testing.T, script, ready string) *Process {
	t.Helper()
	p, err := Start(t.Context(), command(t, script, ready))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// linux skips where there is no /proc.
func linux(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("/proc", "self", "stat")); err != nil {
		t.Skip("needs Linux' /proc")
	}
}
