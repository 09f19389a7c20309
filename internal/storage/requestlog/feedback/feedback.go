// Package feedback updates the log store's copy of the feedback that callers give, so that the
// log can be filtered and analysed by it. It follows the change feed of the control plane. Its
// position is stored together with the feedback, so each change is applied once, even after an
// interruption. Start reading at Follower.
package feedback

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/storage/requestlog"
)

// Source is the control plane: *sqlstore.Store.
type Source interface {
	List(ctx context.Context, q resource.Query) ([]resource.Record, error)
	Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error)
	LastChange(ctx context.Context) (int64, error)
}

// Interval is the time between two polls of the feed.
const Interval = time.Second

// batchSize is the maximum number of changes in one transaction. A Source lists at most as many
// at once.
const batchSize = 1000

// Follower copies feedback from the control plane to the log store. Create it with New and use it
// in one goroutine.
type Follower struct {
	src    Source
	copied requestlog.Feedback
	log    *slog.Logger

	resumed bool
	next    int64  // number of the last change that was read
	stored  int64  // number of the last change that the log store has stored
	polls   uint64 // without a failure
	outage  *background.OutageLog
}

// New creates a follower; it does nothing until Run or Follow.
func New(src Source, to requestlog.Feedback, log *slog.Logger) *Follower {
	return &Follower{
		src: src, copied: to, log: log,
		outage: background.NewOutageLog(log, "cannot store feedback in the log store; retrying", "feedback storage restored"),
	}
}

// Run follows the feed until ctx ends. It logs a failure and repeats the failed work, as
// background.RunWithBackoff documents.
func (f *Follower) Run(ctx context.Context) error {
	background.RunWithBackoff(ctx, f.followFeed, func() uint64 { return f.polls }, func(err error, pause time.Duration) {
		f.outage.Failed(err, "retry", pause)
	})
	return nil
}

// followFeed polls the feed until a failure or until ctx ends.
func (f *Follower) followFeed(ctx context.Context) error {
	for {
		if err := f.Follow(ctx); err != nil {
			return err
		}
		f.outage.Recovered()
		f.polls++
		if err := background.Sleep(ctx, Interval); err != nil {
			return err
		}
	}
}

// Follow applies all changes in the feed.
func (f *Follower) Follow(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // after a failed transaction, only the log store can report whether it was committed
			f.resumed = false
		}
	}()
	if !f.resumed {
		if err := f.resume(ctx); err != nil {
			return err
		}
	}
	for more := true; more && err == nil; {
		more, err = f.batch(ctx)
	}
	return err
}

// resume returns to the position of the log store. If the feed ends before that position, it
// belongs to another control plane, or to one that was restored from a backup, and is read from
// its beginning.
func (f *Follower) resume(ctx context.Context) error {
	next, err := f.copied.FeedbackProgress(ctx)
	if err != nil {
		return fmt.Errorf("follow feedback: %w", err)
	}
	last, err := f.src.LastChange(ctx)
	if err != nil {
		return fmt.Errorf("follow feedback: %w", err)
	}
	if last < next {
		next = 0
		if err := f.copied.PutFeedback(ctx, requestlog.FeedbackBatch{All: true}); err != nil {
			return fmt.Errorf("follow feedback: %w", err)
		}
	}
	f.resumed, f.next, f.stored = true, next, next
	return nil
}

// batch applies the next changes and reports whether there may be more. If changes are of other
// kinds, it stores the position only after many of them.
func (f *Follower) batch(ctx context.Context) (more bool, err error) {
	changes, err := f.src.Changes(ctx, f.next, batchSize)
	if err != nil {
		return false, fmt.Errorf("follow feedback: %w", err)
	}
	if len(changes) == 0 {
		return false, nil
	}
	b := requestlog.FeedbackBatch{Next: changes[len(changes)-1].Seq}
	if err := f.read(ctx, changedFeedback(changes), &b); err != nil {
		return false, fmt.Errorf("follow feedback: %w", err)
	}
	if len(b.Put)+len(b.Gone) > 0 || b.Next-f.stored >= batchSize {
		if err := f.copied.PutFeedback(ctx, b); err != nil {
			return false, fmt.Errorf("follow feedback: %w", err)
		}
		f.stored = b.Next
	}
	f.next = b.Next
	return len(changes) == batchSize, nil
}

// changedFeedback returns the ids of feedback that changed, each once.
func changedFeedback(changes []resource.Change) (ids []string) {
	for _, c := range changes {
		if c.Kind == record.FeedbackKind {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// read adds the present state of feedback to the batch. Feedback that is missing, inactive or
// unreadable counts as deleted.
func (f *Follower) read(ctx context.Context, ids []string, b *requestlog.FeedbackBatch) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := f.src.List(ctx, resource.Query{Kind: record.FeedbackKind, IDs: ids, Statuses: []string{resource.Active}, Limit: batchSize, Bare: true})
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(rows))
	for _, r := range rows {
		feedback, err := traceFeedback(r)
		if err != nil {
			f.log.Error("skipping invalid stored record", "kind", r.Kind, "id", r.ID, "error", err)
			continue
		}
		there[r.ID] = true
		b.Put = append(b.Put, feedback)
	}
	for _, id := range ids {
		if !there[id] {
			b.Gone = append(b.Gone, id)
		}
	}
	return nil
}

// traceFeedback returns what the log store stores of a record.
func traceFeedback(r resource.Record) (record.TraceFeedback, error) {
	var v record.Feedback
	if err := json.Unmarshal(r.Body, &v); err != nil {
		return record.TraceFeedback{}, err
	}
	return record.TraceFeedback{
		ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, TraceID: v.TraceID, Value: v.Value, Weight: v.Weight, Created: r.Created,
	}, nil
}
