package background

import (
	"log/slog"
	"sync"
	"time"
)

// reminder is the interval at which a lasting outage is logged again.
const reminder = 10 * time.Minute

// OutageLog logs outages of some work. It logs the beginning of an outage, a reminder every
// ten minutes while it lasts, and its end. Other failures are logged at level debug. It is
// safe for concurrent use.
type OutageLog struct {
	log            *slog.Logger
	is, endMessage string

	mu         sync.Mutex
	since      time.Time // zero: there is no outage
	lastLogged time.Time
}

// NewOutageLog returns an OutageLog that logs is during an outage and endMessage at its end.
func NewOutageLog(log *slog.Logger, is, endMessage string) *OutageLog {
	return &OutageLog{log: log, is: is, endMessage: endMessage}
}

// Failed records a failed attempt, with attributes for the log.
func (t *OutageLog) Failed(err error, attrs ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	logAt, now := t.log.Debug, time.Now()
	if t.since.IsZero() {
		t.since = now
	}
	if now.Sub(t.lastLogged) >= reminder {
		logAt, t.lastLogged = t.log.Error, now
	}
	logAt(t.is, append([]any{"error", err.Error(), "since", t.since.UTC()}, attrs...)...)
}

// Recovered records that the work succeeded.
func (t *OutageLog) Recovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		return
	}
	t.log.Info(t.endMessage, "after", time.Since(t.since).Round(time.Millisecond))
	t.since, t.lastLogged = time.Time{}, time.Time{}
}
