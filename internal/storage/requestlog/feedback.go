package requestlog

import (
	"context"

	"sluice/internal/domain/record"
)

// Feedback stores a copy of the feedback on traces next to the rows; *duckdb.DB implements it. It
// is safe for concurrent use, but callers make one change at a time.
type Feedback interface {
	// FeedbackProgress returns the Next of the last FeedbackBatch; 0 at first.
	FeedbackProgress(ctx context.Context) (int64, error)
	// PutFeedback stores a batch in one transaction.
	PutFeedback(ctx context.Context, b FeedbackBatch) error
}

// FeedbackBatch contains the changes of feedback up to a position of the control plane's change
// feed.
type FeedbackBatch struct {
	All  bool                   // delete all existing feedback first
	Put  []record.TraceFeedback // new, or replacing those with the same ID
	Gone []string               // ids of deleted feedback; a missing one is not an error
	Next int64                  // number of the last change
}
