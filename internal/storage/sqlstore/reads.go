package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
)

// statementLimit is the time limit of each read and write, so that a hanging server blocks no
// caller for longer.
const statementLimit = 15 * time.Second

// Limits of the result of Versions: records, and the bytes of their bodies. It reads a few at a
// time, so that it never holds more than that.
const (
	maxVersions     = 1000
	maxVersionBytes = 8 << 20
	versionsAtOnce  = 16
)

// reads are the queries that Store sends to the reader and a transaction to the writer. All
// return fault.Overloaded while the server is down.
type reads struct {
	db     bun.IDB
	engine *engine
	side   *side // the handle that db belongs to; nil in a transaction, where nothing can be retried
	// past is nil in a transaction, which sees changes that the feed does not report yet.
	past *queryCache
}

// runStep runs one step under the time limit and names it in the error. f may run twice, because
// a pooled connection may have died unnoticed.
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
		return fmt.Errorf("%s: %w", doing, ctx.Err()) // the caller cancelled, whatever error the driver returns
	}
	return r.engine.fault(doing, err)
}

// Versions returns the present version of a record and the older ones, newest first and without
// index entries. It returns at most 1000 older versions and 8 MiB of their bodies. It returns
// fault.NotFound if the record does not exist.
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

// olderThan returns the versions of a record before one, newest first, at most limit.
func (r reads) olderThan(ctx context.Context, rec resource.Record, limit int64) (rows []recordRow, err error) {
	return rows, r.runStep(ctx, "list versions of "+rec.Kind, func(ctx context.Context) error {
		rows = nil
		return r.db.NewSelect().Model(&rows).ModelTableExpr("record_versions AS r").
			Where("r.kind = ?", rec.Kind).Where("r.id = ?", rec.ID).Where("r.version < ?", rec.Version).
			Order("r.version DESC").Limit(limit).Scan(ctx)
	})
}
