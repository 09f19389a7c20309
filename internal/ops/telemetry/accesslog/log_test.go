package accesslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/ops/telemetry/accesslog"
)

var ended = time.Date(2026, 11, 26, 16, 0, 0, 5e6, time.UTC)

func fullLine() *accesslog.Line {
	return &accesslog.Line{
		Time: ended, RequestID: "r-1", TraceID: "t-1", Method: "POST", Path: "/v1/chat/completions", Endpoint: "chatComplete", Status: 503,
		Duration: 12345 * time.Microsecond, Attempts: 2, Remote: "203.0.113.7", KeyID: "k-1", Workspace: "w-1", Provider: "openai", Model: "gpt \"4o\"",
		Tokens: 15, CostNano: 1500, CostKnown: true, Error: "the provider cannot be reached (dns)", Code: "upstream_unreachable", Reason: "dns",
	}
}

// write appends lines and returns what the log wrote.
func write(t *testing.T, format string, lines ...*accesslog.Line) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		l := accesslog.New(&out, format, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		for _, line := range lines {
			l.Append(line)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

func TestLine_AsJSON(t *testing.T) {
	t.Parallel()
	var got map[string]any
	if err := json.Unmarshal([]byte(write(t, "json", fullLine())), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"time": "2026-11-26T16:00:00.005Z", "level": "INFO", "msg": "request", "request_id": "r-1", "trace_id": "t-1", "method": "POST", "path": "/v1/chat/completions",
		"endpoint": "chatComplete", "status": 503.0, "duration_ms": 12.345, "attempts": 2.0, "remote": "203.0.113.7", "key_id": "k-1", "workspace": "w-1", "provider": "openai",
		"model": "gpt \"4o\"", "tokens": 15.0, "cost_dollars": 0.0000015, "error": "the provider cannot be reached (dns)", "code": "upstream_unreachable", "reason": "dns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLine_AsText(t *testing.T) {
	t.Parallel()
	got := write(t, "text", &accesslog.Line{Time: ended, Method: "GET", Path: "/v1/logs", Status: 200, Duration: time.Millisecond, Error: "not found"})
	want := `time=2026-11-26T16:00:00.005Z level=INFO msg=request method=GET path=/v1/logs status=200 duration_ms=1 error="not found"` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLine_BreaksInNoFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			got := write(t, format, &accesslog.Line{Time: ended, Path: "/a\nlevel=ERROR\x00\xff\"", Model: strings.Repeat("ü", 5000)})
			if strings.Count(got, "\n") != 1 {
				t.Errorf("the value breaks the line: %q", got)
			}
			if len(got) > 10_000 || !strings.Contains(got, "…") {
				t.Errorf("the long value is not cut: %d bytes", len(got))
			}
			if format == "json" && !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %q", got)
			}
		})
	}
}

// blocked is an output that accepts nothing until it is released.
type blocked struct {
	release chan struct{}
	entered chan struct{} // gets a value when a write begins; nil for nobody
	bytes.Buffer
}

func (b *blocked) Write(p []byte) (int, error) {
	select {
	case b.entered <- struct{}{}:
	default:
	}
	<-b.release
	return b.Buffer.Write(p)
}

func TestLog_DropsAndCountsLinesWhenTheOutputIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &blocked{release: make(chan struct{})}
		var warnings bytes.Buffer
		l := accesslog.New(out, "json", slog.New(slog.NewTextHandler(&warnings, nil)))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		l.Append(fullLine())
		synctest.Wait() // the writer is stuck with the first line
		const many = 5000
		for range many {
			l.Append(fullLine())
		}
		dropped := l.Dropped()
		if dropped == 0 || dropped == many {
			t.Fatalf("%d of %d lines were dropped, want some", dropped, many)
		}
		close(out.release)
		time.Sleep(time.Minute)
		l.Append(fullLine())
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := uint64(bytes.Count(out.Bytes(), []byte("\n"))); got != many+2-dropped {
			t.Errorf("%d lines were written, want %d", got, many+2-dropped)
		}
		if !strings.Contains(warnings.String(), "access log lines dropped") {
			t.Errorf("no warning: %q", warnings.String())
		}
	})
}

func TestLog_StopsWhileTheOutputIsBlocked(t *testing.T) {
	t.Parallel()
	out := &blocked{release: make(chan struct{}), entered: make(chan struct{}, 1)}
	defer close(out.release)
	l := accesslog.New(out, "json", slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	l.Append(fullLine())
	<-out.entered // the write is under way and does not end
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestLog_ReportsAFailedWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var warnings bytes.Buffer
		l := accesslog.New(failing{}, "json", slog.New(slog.NewTextHandler(&warnings, nil)))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		l.Append(fullLine())
		synctest.Wait()
		stop()
		<-done
		if !strings.Contains(warnings.String(), "no space left on device") {
			t.Errorf("no warning: %q", warnings.String())
		}
	})
}

func TestLog_NilAppendsNothing(t *testing.T) {
	t.Parallel()
	var l *accesslog.Log
	l.Append(fullLine())
}

func TestLog_AppendsFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := accesslog.New(&out, "json", slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.Append(fullLine())
			}
		})
	}
	wg.Wait()
	stop()
	<-done
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != 800 {
		t.Errorf("%d lines, want 800", got)
	}
}

// BenchmarkAppend is the cost of one line to a request, while the writer takes them away.
func BenchmarkAppend(b *testing.B) {
	l := accesslog.New(io.Discard, "json", slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	line := fullLine()
	b.ReportAllocs()
	for b.Loop() {
		l.Append(line)
	}
	b.StopTimer()
	b.ReportMetric(float64(l.Dropped())/float64(b.N), "dropped/op")
	stop()
	<-done
}
