package redis_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/limits/redistest"
)

// logBuffer is a log that is written and read at once.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds a line.
func (s *logBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

// lines are those at a level.
func (s *logBuffer) lines(level string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.text.String()) {
		if strings.Contains(line, "level="+level) {
			out = append(out, line)
		}
	}
	return out
}

// TestStory: what happens to Redis as a whole the log tells once, and its end once, though
// every partition finds out by itself.
func TestStory(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	wire := redistest.NewWire(t, s)
	var log logBuffer
	o := options("a", redisServer(wire.Address), new(books))
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	n := start(t, o)
	n.take(t, time.Now(), hold(40))
	ends := 0
	ended := func(what string) {
		ends++
		eventually(t, "the log tells the end of "+what, func() bool { return len(log.lines("INFO")) >= ends })
		if got := log.lines("INFO"); len(got) != ends {
			t.Errorf("of %s it tells the end more than once: %q", what, got)
		}
	}
	wire.Cut()
	eventually(t, "every partition finds out", func() bool { return n.Out() == 16 })
	if got := log.lines("ERROR"); len(got) != 1 || !strings.Contains(got[0], "calls with limits are rejected") {
		t.Errorf("of a cut it tells %q", got)
	}
	wire.Restore()
	ended("a cut")
	if got := log.lines("WARN"); len(got) > 1 {
		t.Errorf("answers that did not come are told as %q", got)
	}
	before := len(log.lines("WARN"))
	s.Wipe(t)
	ended("a loss")
	if got := log.lines("WARN")[before:]; len(got) != 1 || !strings.Contains(got[0], "redis lost this node's counters") {
		t.Errorf("of a loss it tells %q", got)
	}
}
