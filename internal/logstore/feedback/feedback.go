// Package feedback keeps the log store's copy of the feedback that callers give, so that
// the log can be selected and analysed by it. It follows the change feed of the control
// plane. How far it came is stored with what it brought, so each change is taken over
// once, whatever stops it on the way.
package feedback

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sluice/internal/background"
	"sluice/internal/logstore"
	"sluice/internal/record"
	"sluice/internal/resource"
)

// Source is the control plane: *store.Store.
type Source interface {
	List(ctx context.Context, q resource.Query) ([]resource.Record, error)
	Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error)
	LastChange(ctx context.Context) (int64, error)
}

// Interval is how often the feed is looked at.
const Interval = time.Second

// batchSize is the number of changes that are taken over in one transaction. It is the
// most that a Source lists at once.
const batchSize = 1000

// Follower brings feedback from the control plane to the log store. It is made by New and
// used by one goroutine.
type Follower struct {
	src    Source
	copied logstore.Feedback
	log    *slog.Logger

	resumed bool
	next    int64  // number of the last change that was read
	stored  int64  // of the last that the log store knows of
	polls   uint64 // that found no failure
	outage  *background.OutageLog
}

// New makes a follower; nothing moves until Run or Follow.
func New(src Source, to logstore.Feedback, log *slog.Logger) *Follower {
	return &Follower{
		src: src, copied: to, log: log,
		outage: background.NewOutageLog(log, "cannot store feedback in the log store; retrying", "feedback storage restored"),
	}
}

// Run follows until ctx ends. A failure is logged and what it left undone done again, as
// background.Follow says.
func (f *Follower) Run(ctx context.Context) error {
	background.RunWithBackoff(ctx, f.followFeed, func() uint64 { return f.polls }, func(err error, pause time.Duration) {
		f.outage.Failed(err, "retry", pause)
	})
	return nil
}

// followFeed looks at the feed again and again, until something fails or ctx ends.
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

// Follow takes over everything that is in the feed.
func (f *Follower) Follow(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // whether a transaction that ended in an error was stored, only the log store knows
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

// resume goes to where the log store is. A feed that ends before that is one of another
// control plane, or of one that was set back, and is read from its beginning.
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
		if err := f.copied.PutFeedback(ctx, logstore.FeedbackBatch{All: true}); err != nil {
			return fmt.Errorf("follow feedback: %w", err)
		}
	}
	f.resumed, f.next, f.stored = true, next, next
	return nil
}

// batch takes over the next changes and reports whether there may be more. Changes of
// other kinds are noted once there are many of them.
func (f *Follower) batch(ctx context.Context) (more bool, err error) {
	changes, err := f.src.Changes(ctx, f.next, batchSize)
	if err != nil {
		return false, fmt.Errorf("follow feedback: %w", err)
	}
	if len(changes) == 0 {
		return false, nil
	}
	b := logstore.FeedbackBatch{Next: changes[len(changes)-1].Seq}
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

// changedFeedback are the ids of feedback that changed, each once.
func changedFeedback(changes []resource.Change) (ids []string) {
	for _, c := range changes {
		if c.Kind == record.FeedbackKind {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// read fills in what has become of feedback. Whatever is not there, or not in force, or
// cannot be read, is gone.
func (f *Follower) read(ctx context.Context, ids []string, b *logstore.FeedbackBatch) error {
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

// traceFeedback is what the log store keeps of a record.
func traceFeedback(r resource.Record) (record.TraceFeedback, error) {
	var v record.Feedback
	if err := json.Unmarshal(r.Body, &v); err != nil {
		return record.TraceFeedback{}, err
	}
	return record.TraceFeedback{
		ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, TraceID: v.TraceID, Value: v.Value, Weight: v.Weight, Created: r.Created,
	}, nil
}
