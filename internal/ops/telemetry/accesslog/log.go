// Package accesslog writes one line for each request that the gateway served. Lines are encoded
// without reflection into a bounded buffer that one goroutine writes out, so a slow terminal or
// pipe never delays a request. When the buffer is full, lines are dropped and counted. Start
// reading at Log.
package accesslog

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxBuffered is how many bytes of lines may wait for the output: 1 MiB, which is about 2,500
	// lines.
	maxBuffered = 1 << 20
	// flushPause is how long lines are collected before they are written together.
	flushPause = 20 * time.Millisecond
	// stopTimeout limits the last write when the gateway stops.
	stopTimeout = time.Second
	// reportPause is the shortest time between two warnings about dropped lines.
	reportPause = 10 * time.Second
)

// Log is the access log. Append may be called from any goroutine, before Run too; a nil
// *Log appends nothing. Run writes the lines and belongs to one goroutine.
type Log struct {
	out     io.Writer
	encoder encoder
	log     *slog.Logger

	mu      sync.Mutex
	waiting []byte // encoded lines that are not passed to the writer yet

	spare   []byte // the other buffer; belongs to write
	wake    chan struct{}
	dropped atomic.Uint64
	counter prometheus.CounterFunc
}

// New returns an access log that writes to out as "json" or, for any other format, as
// "text". Warnings about dropped lines and failed writes go to log.
func New(out io.Writer, format string, log *slog.Logger) *Log {
	l := &Log{out: out, encoder: textEncoder{}, log: log, wake: make(chan struct{}, 1)}
	if format == "json" {
		l.encoder = jsonEncoder{}
	}
	l.counter = prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sluice_access_log_dropped_total",
		Help: "Access log lines dropped because the log output was too slow.",
	}, func() float64 { return float64(l.dropped.Load()) })
	return l
}

// Collector returns the metric of dropped lines.
func (l *Log) Collector() prometheus.Collector { return l.counter }

// Dropped returns how many lines were dropped since the start.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Append adds a line, or drops and counts it if the buffer is full. It never waits for the
// output.
func (l *Log) Append(line *Line) {
	if l == nil {
		return
	}
	l.mu.Lock()
	if len(l.waiting) >= maxBuffered {
		l.mu.Unlock()
		l.dropped.Add(1)
		return
	}
	first := len(l.waiting) == 0
	l.waiting = line.encode(l.waiting, l.encoder)
	l.mu.Unlock()
	if first {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Run writes lines until ctx ends, then the remaining ones within a second: an output that
// accepts nothing cannot prevent the gateway from stopping. It returns nil, because an access log
// that cannot be written does not stop the gateway either.
func (l *Log) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.write(ctx)
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
	return nil
}

// write writes lines as they arrive until ctx ends, then the remaining ones.
func (l *Log) write(ctx context.Context) {
	r := reporter{l: l}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.wake:
			r.note(l.flush())
			pause(ctx, flushPause)
		}
	}
	r.note(l.flush())
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// flush writes the waiting lines. The lock is not held while the output is written.
func (l *Log) flush() error {
	l.mu.Lock()
	lines := l.waiting
	l.waiting = l.spare[:0]
	l.mu.Unlock()
	l.spare = lines
	if len(lines) == 0 {
		return nil
	}
	_, err := l.out.Write(lines)
	return err
}

// reporter warns about missing lines, at most once in reportPause. It belongs to the goroutine of
// Run.
type reporter struct {
	l        *Log
	reported uint64 // dropped lines that a warning has reported
	last     time.Time
}

func (r *reporter) note(err error) {
	dropped := r.l.Dropped()
	if err == nil && dropped == r.reported || time.Since(r.last) < reportPause {
		return
	}
	r.last = time.Now()
	if err != nil {
		r.l.log.Warn("cannot write the access log; lines are lost", "error", err.Error())
	}
	if dropped > r.reported {
		r.l.log.Warn("access log lines dropped; the log output is too slow", "lines", dropped-r.reported)
		r.reported = dropped
	}
}
