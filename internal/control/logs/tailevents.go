package logs

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// events writes events in the format that browsers and curl -N read. Errors of the connection
// are errReaderGone.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, read 2026-11.
type events struct{ to resource.Flusher }

// row writes an attempt. The event id is the cursor for continuing after it.
func (e events) row(position record.Cursor, m LogMetrics) error {
	return e.write("log", string(position), m)
}

// tailEnd is the last event of a tail.
type tailEnd struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// end writes the last event. It has no id, so that the reader retains the id of the last row.
func (e events) end(reason, message string) error {
	if err := e.write("end", "", tailEnd{reason, message}); err != nil {
		return err
	}
	return e.flush()
}

func (e events) write(kind, id string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	if _, err := fmt.Fprintf(e.to, "event: %s\n%sdata: %s\n\n", kind, id, b); err != nil {
		return fmt.Errorf("%w: %w", errReaderGone, err)
	}
	return nil
}

// comment writes a comment. Readers ignore it, but it keeps connections open.
func (e events) comment(text string) error {
	if _, err := fmt.Fprintf(e.to, ": %s\n\n", text); err != nil {
		return fmt.Errorf("%w: %w", errReaderGone, err)
	}
	return e.flush()
}

func (e events) flush() error {
	if err := e.to.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errReaderGone, err)
	}
	return nil
}

// Limits of concurrent tails on a node. Both are ours.
const (
	maxTailsOrg = 10
	maxTailsAll = 50
)

// tails counts the readers that follow the log. The zero value is ready to use.
type tails struct {
	mu   sync.Mutex // guards the fields below
	open map[string]int
	all  int
}

// acquire reserves a tail for an organisation; release frees it.
func (t *tails) acquire(org string) (release func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[org] >= maxTailsOrg || t.all >= maxTailsAll {
		f := fault.Newf(fault.RateLimited, "%d log streams of this organisation are already open; close one", t.open[org])
		f.Retry = time.Minute
		return nil, f
	}
	if t.open == nil {
		t.open = make(map[string]int)
	}
	t.open[org]++
	t.all++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.open[org]--; t.open[org] == 0 {
			delete(t.open, org)
		}
		t.all--
	}, nil
}
