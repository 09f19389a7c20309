package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// feedbackName is the row of progress that all nodes share, because they copy the same feed.
const feedbackName = "feedback"

// feedbackOffset is the progress of the feedback: a position in the change feed of the control
// plane, and the number of feeds so far. A later position or a later feed wins.
type feedbackOffset struct {
	feed uint64
	next uint64
}

// Bits of a version.
const nextBits = 48

func (p feedbackOffset) version() uint64 { return p.feed<<nextBits | p.next }

func offsetOf(version uint64) feedbackOffset {
	return feedbackOffset{version >> nextBits, version & (1<<nextBits - 1)}
}

// feedbackTable contains the feedback of callers on traces.
type feedbackTable struct {
	*server
	feeds atomic.Uint64 // number of feeds, as FeedbackProgress read it
}

// FeedbackProgress implements requestlog.Feedback.
func (d *feedbackTable) FeedbackProgress(ctx context.Context) (int64, error) {
	offset, err := d.feedbackOffset(ctx)
	if err != nil {
		return 0, err
	}
	d.feeds.Store(offset.feed)
	return int64(offset.next), nil
}

// feedbackOffset returns the progress of the feedback, whichever node stored it.
func (d *feedbackTable) feedbackOffset(ctx context.Context) (feedbackOffset, error) {
	if err := d.prepare(ctx); err != nil {
		return feedbackOffset{}, err
	}
	var version uint64
	var p client.Params
	err := d.c.Query(ctx, client.Statement{SQL: "SELECT max(version) FROM progress WHERE name = " + p.Text(feedbackName), Params: &p, Settings: latest},
		func(scan func(...any) error) error { return scan(&version) })
	if err != nil {
		return feedbackOffset{}, fmt.Errorf("read feedback progress: %w", err)
	}
	return offsetOf(version), nil
}

// PutFeedback implements requestlog.Feedback. Every node receives every change; the first one
// stores it. A batch may be stored twice: a read at the same or a later position returns the same
// state or a newer one. A new feed, which first replaces everything, is numbered from what
// FeedbackProgress found, so that nodes that notice it at once create one.
func (d *feedbackTable) PutFeedback(ctx context.Context, b requestlog.FeedbackBatch) error {
	offset, err := d.feedbackOffset(ctx)
	if err != nil {
		return err
	}
	to := feedbackOffset{offset.feed, uint64(b.Next)}
	if b.All {
		to.feed = d.feeds.Load() + 1
	}
	if to.version() <= offset.version() && offset != (feedbackOffset{}) {
		return nil
	}
	if b.All {
		var p client.Params
		err := d.c.Exec(ctx, client.Statement{SQL: "DELETE FROM feedback WHERE version < " + p.Uint(feedbackOffset{feed: to.feed}.version()), Params: &p})
		if err != nil {
			return fmt.Errorf("delete feedback: %w", err)
		}
	}
	if err := d.putFeedback(ctx, b, to); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	return d.noteFeedback(ctx, to)
}

func (d *feedbackTable) putFeedback(ctx context.Context, b requestlog.FeedbackBatch, offset feedbackOffset) error {
	var rows client.Rows
	for i := range b.Put {
		appendFeedback(&rows, &b.Put[i], offset, false)
	}
	for _, id := range b.Gone {
		if !slices.ContainsFunc(b.Put, func(f record.TraceFeedback) bool { return f.ID == id }) {
			appendFeedback(&rows, &record.TraceFeedback{ID: id}, offset, true)
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	return d.c.Insert(ctx, "feedback", []string{"id", "version", "gone", "org_id", "workspace_id", "trace_id", "value", "weight", "given"}, rows.Bytes())
}

func appendFeedback(rows *client.Rows, f *record.TraceFeedback, offset feedbackOffset, gone bool) {
	rows.Text(f.ID)
	rows.Uint64(offset.version())
	rows.Bool(gone)
	rows.Text(f.OrgID)
	rows.Text(f.WorkspaceID)
	rows.Text(f.TraceID)
	rows.Int32(int32(f.Value))
	rows.Float64(f.Weight)
	rows.Time(f.Created)
	rows.End()
}

func (d *feedbackTable) noteFeedback(ctx context.Context, offset feedbackOffset) error {
	var row client.Rows
	row.Text(feedbackName)
	row.Uint64(offset.version())
	row.Uint64(offset.next)
	if err := d.c.Insert(ctx, "progress", []string{"name", "version", "next_seq"}, row.Bytes()); err != nil {
		return fmt.Errorf("write feedback progress: %w", err)
	}
	return nil
}
