package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/resource"
)

// statementLimit bounds each read and write, so that a hanging server hangs
// nobody here.
const statementLimit = 15 * time.Second

// Bounds of the answer of Versions: records, and the bytes of their bodies. It is read a
// few at a time, so that no more than that is held.
const (
	maxVersions     = 1000
	maxVersionBytes = 8 << 20
	versionsAtOnce  = 16
)

// reads are the questions that Store asks the reader and a transaction the
// writer. All of them answer fault.Overloaded when the server is away.
type reads struct {
	db     bun.IDB
	engine *engine
	side   *side // whose connections db uses; nil in a transaction, where nothing can be tried again
	// past is nil in a transaction, which sees what the feed does not tell of yet.
	past *queryCache
}

// runStep runs one step under the time limit and names it in the error. f may run
// twice: a connection may have died in the pool without anybody noticing.
func (r reads) runStep(ctx context.Context, doing string, f func(context.Context) error) error {
	limited, cancel := r.engine.withLimit(ctx, statementLimit)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = f(limited)
	}
	if r.side != nil && r.side.dropStaleConns(r.engine, err) {
		err = f(limited)
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err()) // the caller's own doing, whatever the driver calls it
	}
	return r.engine.fault(doing, err)
}

// Versions returns the present version of a record and the older ones, newest
// first, at most 1000 and 8 MiB of bodies besides the present one, and without index
// entries; fault.NotFound when there is no such record.
func (r reads) Versions(ctx context.Context, kind, id string) ([]resource.Record, error) {
	now, err := r.Find(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	now.Index = nil
	recs, bytes := []resource.Record{now}, 0
	for len(recs) < maxVersions {
		rows, err := r.olderThan(ctx, recs[len(recs)-1], min(versionsAtOnce, int64(maxVersions-len(recs))))
		if err != nil || len(rows) == 0 {
			return recs, err
		}
		for i := range rows {
			if bytes += len(rows[i].Body); bytes > maxVersionBytes {
				return recs, nil
			}
			recs = append(recs, rows[i].record())
		}
	}
	return recs, nil
}

// olderThan are the versions of a record before one, newest first, at most limit.
func (r reads) olderThan(ctx context.Context, rec resource.Record, limit int64) (rows []recordRow, err error) {
	return rows, r.runStep(ctx, "list versions of "+rec.Kind, func(ctx context.Context) error {
		rows = nil
		return r.db.NewSelect().Model(&rows).ModelTableExpr("record_versions AS r").
			Where("r.kind = ?", rec.Kind).Where("r.id = ?", rec.ID).Where("r.version < ?", rec.Version).
			Order("r.version DESC").Limit(limit).Scan(ctx)
	})
}
