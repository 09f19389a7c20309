package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
)

// Rewrite replaces each stored body of a record with the result of f: the present body first,
// then those of past versions, newest first. Versions, times and index entries do not change, and
// the change feed does not report it: the new body must have the same meaning. f gets records
// without index entries and may return the body that it received. Rewrite returns the number of
// changed bodies, NotFound if the record does not exist, or the first error of f.
func (t *tx) Rewrite(ctx context.Context, kind, id string, f func(resource.Record) ([]byte, error)) (int, error) {
	now, err := t.locked(ctx, kind, id)
	if err != nil {
		return 0, err
	}
	past, err := t.pastVersions(ctx, kind, id)
	if err != nil {
		return 0, err
	}
	n := 0
	again := func(table string, version int64) error {
		changed, err := t.rewriteOne(ctx, table, kind, id, version, f)
		if changed {
			n++
		}
		return err
	}
	if err := again("records", now); err != nil {
		return n, err
	}
	for _, version := range past {
		if err := again("record_versions", version); err != nil {
			return n, err
		}
	}
	return n, nil
}

// locked locks a record until the end of the transaction and returns its version.
func (t *tx) locked(ctx context.Context, kind, id string) (version int64, err error) {
	held := t.held(statement{"SELECT version FROM records WHERE kind = ? AND id = ?", []any{kind, id}})
	err = t.runStep(ctx, "lock "+kind, func(ctx context.Context) error { return t.askOne(ctx, held, &version) })
	return version, err
}

// pastVersions lists all stored versions of a record except the present one, newest first.
func (t *tx) pastVersions(ctx context.Context, kind, id string) (list []int64, err error) {
	return list, t.runStep(ctx, "list versions of "+kind, func(ctx context.Context) error {
		return t.db.NewSelect().Table("record_versions").Column("version").
			Where("kind = ?", kind).Where("id = ?", id).Order("version DESC").Scan(ctx, &list)
	})
}

// rewriteOne rewrites one body, and reports whether it changed. Bodies are read one by one,
// because together they may not fit in memory.
func (t *tx) rewriteOne(ctx context.Context, table, kind, id string, version int64, f func(resource.Record) ([]byte, error)) (bool, error) {
	var row recordRow
	err := t.runStep(ctx, "read a version of "+kind, func(ctx context.Context) error {
		return t.db.NewSelect().Model(&row).ModelTableExpr("? AS r", bun.Ident(table)).
			Where("r.kind = ?", kind).Where("r.id = ?", id).Where("r.version = ?", version).Scan(ctx)
	})
	if err != nil {
		return false, err
	}
	body, err := f(row.record())
	if err != nil || string(body) == row.Body {
		return false, err
	}
	err = t.step(ctx, "rewrite a version of "+kind, func(ctx context.Context, db bun.IDB) error {
		if err := storableBody(body); err != nil {
			return err
		}
		_, err := db.NewUpdate().Table(table).Set("body = ?", string(body)).
			Where("kind = ?", kind).Where("id = ?", id).Where("version = ?", version).Exec(ctx)
		return err
	})
	return err == nil, err
}
