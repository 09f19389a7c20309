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

// maxVersions bounds the answer of Versions.
const maxVersions = 1000

// reads are the questions that Store asks the reader and a transaction the
// writer. All of them answer fault.Overloaded when the server is away.
type reads struct {
	db     bun.IDB
	engine *engine
	side   *side // whose connections db uses; nil in a transaction, where nothing can be tried again
	// past is nil in a transaction, which sees what the feed does not tell of yet.
	past *past
}

// within runs one step under the time limit and names it in the error. f may run
// twice: a connection may have died in the pool without anybody noticing.
func (r reads) within(ctx context.Context, doing string, f func(context.Context) error) error {
	limited, cancel := r.engine.bound(ctx, statementLimit)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = f(limited)
	}
	if r.side != nil && r.side.stale(r.engine, err) {
		err = f(limited)
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err()) // the caller's own doing, whatever the driver calls it
	}
	return r.engine.fault(doing, err)
}

// Versions returns the present version of a record and the older ones, newest
// first, at most 1000 and without index entries; fault.NotFound when there is no
// such record.
func (r reads) Versions(ctx context.Context, kind, id string) ([]resource.Record, error) {
	now, err := r.Find(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	var rows []recordRow
	err = r.within(ctx, "list versions of "+kind, func(ctx context.Context) error {
		return r.db.NewSelect().Model(&rows).ModelTableExpr("record_versions AS r").
			Where("r.kind = ?", kind).Where("r.id = ?", id).Where("r.version < ?", now.Version).
			Order("r.version DESC").Limit(maxVersions - 1).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	now.Index = nil
	recs := append(make([]resource.Record, 0, 1+len(rows)), now)
	for i := range rows {
		recs = append(recs, rows[i].record())
	}
	return recs, nil
}
