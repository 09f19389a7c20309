package control

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/record"
)

// purgeFeedback deletes feedback that is older than the statistics of any trace that it may
// rate. If statistics are stored forever, so is feedback.
func (k deps) purgeFeedback(ctx context.Context, now time.Time) error {
	days := k.RequestLog.Retention.Metrics
	if days == nil {
		return nil
	}
	oldest := now.AddDate(0, 0, -*days)
	for {
		rows, err := k.Store.List(ctx, resource.Query{Kind: record.FeedbackKind, Limit: sweep.PageSize, Bare: true}) // oldest first
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, rec := range rows {
			if !rec.Created.Before(oldest) {
				return nil
			}
			if err := k.Sweeper.Drop(ctx, rec); err != nil {
				return err
			}
		}
	}
}
