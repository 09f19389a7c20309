package logstore

import (
	"context"

	"sluice/internal/record"
)

// Feedback keeps a copy of the feedback on traces beside the rows: *duckdb.DB. It is safe
// for concurrent use, but callers make one change at a time.
type Feedback interface {
	// FeedbackProgress is the Next of the last FeedbackBatch; 0 at first.
	FeedbackProgress(ctx context.Context) (int64, error)
	// PutFeedback takes over a batch in one transaction.
	PutFeedback(ctx context.Context, b FeedbackBatch) error
}

// FeedbackBatch is what changed of the feedback up to a place of the control plane's
// change feed.
type FeedbackBatch struct {
	All  bool                   // everything that was there before goes first
	Put  []record.TraceFeedback // new, or in the place of those with the same ID
	Gone []string               // ids of those that are no more; one that is not there does no harm
	Next int64                  // number of the last change
}
