package background

import (
	"context"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/jsonedit"
)

// Response is a response that its provider continues in the background.
type Response struct {
	ID                 string // "resp_AbC"
	WorkspaceID        string
	RequestID, TraceID string    // of the request that began it
	Started            time.Time // of its call
	Call               Call

	refused int           // consecutive polls that the provider rejected
	soon    chan pollDone // holds one requested poll, also while another poll runs
	ended   chan struct{} // closed when it is recorded
}

// Call reads a background response at its provider, and records it. It belongs to the goroutine
// that polls the response.
type Call interface {
	// Poll requests the response once. After an error it is called again.
	Poll(ctx context.Context) (*Result, error)
	// Record records a response that has ended with the given status, such as "completed".
	Record(r *Result, status string)
	// Abandon records a response whose end remains unknown, with its maximum cost.
	Abandon(o record.Outcome, reason string)
}

// Result is the provider's response to a poll.
type Result struct {
	Status      int // of HTTP
	ContentType string
	Body        []byte // {"id":"resp_AbC","status":"in_progress",…}
}

// pollDone is closed when a requested poll is complete.
type pollDone chan struct{}

// IsWorking reports whether a response with this status is still in progress at its provider.
// Source: https://platform.openai.com/docs/guides/background, read 2026-11.
func IsWorking(status string) bool { return status == "queued" || status == "in_progress" }

// WorkingID returns the id of a response that is still in progress at its provider, and "" for any
// other response.
func WorkingID(response []byte) string {
	if !IsWorking(jsonedit.Text(response, "status")) {
		return ""
	}
	return jsonedit.Text(response, "id")
}

// key identifies a response.
func (b *Response) key() string { return key(b.WorkspaceID, b.ID) }

func key(workspace, id string) string { return workspace + "/" + id }

// await returns when the next poll is due. If the poll was requested, the caller must close the
// returned channel after it.
func (b *Response) await(ctx context.Context, pause time.Duration) pollDone {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case finished := <-b.soon:
		return finished
	}
	return nil
}
