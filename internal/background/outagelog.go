package background

import (
	"log/slog"
	"sync"
	"time"
)

// reminder is after how long the log is told again of trouble that lasts.
const reminder = 10 * time.Minute

// OutageLog is what keeps some work from going on. The log is told when it begins, every ten
// minutes while it lasts, and when it is over; each try between at level debug. It is safe
// for concurrent use.
type OutageLog struct {
	log            *slog.Logger
	is, endMessage string

	mu         sync.Mutex
	since      time.Time // zero: there is none
	lastLogged time.Time
}

// NewOutageLog makes one of which the log says is, and over at its end.
func NewOutageLog(log *slog.Logger, is, endMessage string) *OutageLog {
	return &OutageLog{log: log, is: is, endMessage: endMessage}
}

// Failed notes that a try failed, with attributes for the log.
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

// Recovered notes that the work goes on.
func (t *OutageLog) Recovered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		return
	}
	t.log.Info(t.endMessage, "after", time.Since(t.since).Round(time.Millisecond))
	t.since, t.lastLogged = time.Time{}, time.Time{}
}
