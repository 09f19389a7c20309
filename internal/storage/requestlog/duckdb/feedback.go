package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// feedbackChunk is how many feedback rows one statement contains.
const feedbackChunk = 200

// feedbackTable contains the feedback of callers on traces.
type feedbackTable struct{ *database }

// FeedbackProgress implements requestlog.Feedback.
func (d *feedbackTable) FeedbackProgress(ctx context.Context) (next int64, err error) {
	if err := d.sql.QueryRowContext(ctx, "SELECT next FROM feedback_progress").Scan(&next); err != nil {
		return 0, fmt.Errorf("read feedback progress: %w", err)
	}
	return next, nil
}

// PutFeedback implements requestlog.Feedback.
func (d *feedbackTable) PutFeedback(ctx context.Context, b requestlog.FeedbackBatch) error {
	if err := d.checkDiskSpace(); err != nil {
		return err
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := putFeedback(ctx, tx, b); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	return nil
}

func putFeedback(ctx context.Context, tx *sql.Tx, b requestlog.FeedbackBatch) error {
	if b.All {
		if err := forgetFeedback(ctx, tx, "true"); err != nil {
			return err
		}
	}
	gone := slices.Clone(b.Gone)
	for i := range b.Put {
		gone = append(gone, b.Put[i].ID)
	}
	for some := range slices.Chunk(gone, feedbackChunk) {
		args := make([]any, len(some))
		for i, id := range some {
			args[i] = keyParam(id)
		}
		if err := forgetFeedback(ctx, tx, "id IN ("+marks(len(some))+")", args...); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(b.Put, feedbackChunk) {
		if err := insertFeedback(ctx, tx, some); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE feedback_progress SET next = ?", b.Next)
	return err
}

// forgetFeedback deletes feedback. Its traces remain pending until their rows are updated.
func forgetFeedback(ctx context.Context, tx *sql.Tx, condition string, args ...any) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO pending_traces SELECT trace_id FROM feedback WHERE "+condition, args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM feedback WHERE "+condition, args...)
	return err
}

func insertFeedback(ctx context.Context, tx *sql.Tx, some []record.TraceFeedback) error {
	var args []any
	for i := range some {
		f := &some[i]
		args = append(args, keyParam(f.ID), f.OrgID, f.WorkspaceID, keyParam(f.TraceID), f.Value, f.Weight, f.Created.UTC())
	}
	lines := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?), ", len(some)), ", ")
	if _, err := tx.ExecContext(ctx, "INSERT INTO feedback VALUES "+lines, args...); err != nil {
		return err
	}
	traces := make([]any, len(some))
	for i := range some {
		traces[i] = keyParam(some[i].TraceID)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO pending_traces VALUES "+strings.TrimSuffix(strings.Repeat("(?), ", len(some)), ", "), traces...)
	return err
}
