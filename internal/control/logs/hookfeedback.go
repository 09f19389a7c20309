package logs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
)

// Limits of the feedback of guardrails. (ours)
const (
	maxQueuedFeedback  = 4096             // further feedback is dropped and counted
	feedbackWriteLimit = 5 * time.Second  // for one transaction
	feedbackRetryPause = 1 * time.Second  // after a transaction that failed
	feedbackDropReport = 60 * time.Second // between two lines of the log about dropped feedback
)

// HookFeedback writes the feedback of guardrails to the traces of their calls, separately from the
// calls: no call waits for the store. It is safe for concurrent use.
type HookFeedback struct {
	store   resource.Store
	clock   ident.Clock
	log     *slog.Logger
	queue   chan queuedFeedback
	dropped atomic.Int64
}

// queuedFeedback is feedback that is not written yet.
type queuedFeedback struct {
	org, workspace string
	created        time.Time
	feedback       record.Feedback
}

// NewHookFeedback returns a HookFeedback; Run writes what it accepts.
func NewHookFeedback(store resource.Store, clock ident.Clock, log *slog.Logger) *HookFeedback {
	return &HookFeedback{store: store, clock: clock, log: log, queue: make(chan queuedFeedback, maxQueuedFeedback)}
}

// Give accepts the feedback on a call of a workspace. It never blocks. Invalid feedback is only logged.
func (h *HookFeedback) Give(org, workspace string, f *record.Feedback) {
	if err := f.Validate(); err != nil || workspace == "" {
		h.log.Warn("guardrail feedback is invalid; it is not stored", "workspace", workspace, "trace_id", f.TraceID, "error", err)
		return
	}
	select {
	case h.queue <- queuedFeedback{org, workspace, h.clock.Now(), *f}:
	default:
		h.dropped.Add(1)
	}
}

// Run writes feedback until ctx ends, and then what remains. It always returns nil.
func (h *HookFeedback) Run(ctx context.Context) error {
	report := time.NewTicker(feedbackDropReport)
	defer report.Stop()
	for {
		select {
		case f := <-h.queue:
			h.write(ctx, h.batch(f))
		case <-report.C:
			h.reportDropped()
		case <-ctx.Done():
			return h.rest(ctx)
		}
	}
}

// rest writes what remains at shutdown.
func (h *HookFeedback) rest(ctx context.Context) error {
	for {
		select {
		case f := <-h.queue:
			h.write(ctx, h.batch(f))
		default:
			h.reportDropped()
			return nil
		}
	}
}

// batch adds what waits to a feedback, at most maxFeedbacks together.
func (h *HookFeedback) batch(first queuedFeedback) []queuedFeedback {
	out := []queuedFeedback{first}
	for len(out) < maxFeedbacks {
		select {
		case f := <-h.queue:
			out = append(out, f)
		default:
			return out
		}
	}
	return out
}

// write stores a batch in one transaction. A batch that fails is tried once more.
func (h *HookFeedback) write(ctx context.Context, batch []queuedFeedback) {
	err := h.insert(ctx, batch)
	if err != nil && ctx.Err() == nil {
		select {
		case <-time.After(feedbackRetryPause):
		case <-ctx.Done():
		}
		err = h.insert(ctx, batch)
	}
	if err != nil {
		h.log.Error("cannot store guardrail feedback; it is lost", "feedback", len(batch), "error", err.Error())
	}
}

func (h *HookFeedback) insert(ctx context.Context, batch []queuedFeedback) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), feedbackWriteLimit)
	defer stop()
	return h.store.InTx(ctx, func(tx resource.Tx) error {
		for i := range batch {
			f := &batch[i]
			if err := tx.Insert(ctx, resource.Record{
				Kind: record.FeedbackKind, ID: ident.NewID(), OrgID: f.org, WorkspaceID: f.workspace, Status: resource.Active, Version: 1,
				Created: f.created, Updated: f.created, Body: jsonfield.Encode(&f.feedback), Index: FeedbackIndex(f.feedback.TraceID),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *HookFeedback) reportDropped() {
	if n := h.dropped.Swap(0); n > 0 {
		h.log.Warn("guardrail feedback queue is full; some was dropped", "dropped", n)
	}
}
