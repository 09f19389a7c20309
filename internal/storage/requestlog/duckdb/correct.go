package duckdb

import (
	"context"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"sluice/internal/domain/record"
)

// correctionColumns are the columns of corrections, in the order of correctionKinds.
const correctionColumns = "number, id, started, operation, corrected, corrected_by, " +
	"cost_before, unpriced_before, version_before, terms_before, cost_after, unpriced_after, version_after, terms_after"

var correctionKinds = []mapping.Type{
	mapping.TypeBigInt, mapping.TypeUUID, mapping.TypeTimestamp, mapping.TypeUUID, mapping.TypeTimestamp, mapping.TypeVarchar,
	mapping.TypeBigInt, mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeVarchar,
	mapping.TypeBigInt, mapping.TypeVarchar, mapping.TypeVarchar, mapping.TypeVarchar,
}

// Correct implements requestlog.Sink.
func (w *writer) Correct(c *record.Correction) (err error) {
	if w.trail == nil {
		if w.trail, err = newSheet(w.db.link, "corrections", correctionKinds); err != nil {
			return err
		}
	}
	s := w.trail
	w.db.trail++
	s.int64(w.db.trail)
	s.key(keyOf(c.ID, nil))
	s.time(c.Started)
	s.key(keyOf(c.Operation, nil))
	s.time(c.RatedAt)
	s.text(strings.ToValidUTF8(c.By, "\uFFFD"))
	for _, r := range [...]*record.Rated{&c.Before, &c.After} {
		s.int64(r.Cost)
		for _, v := range [...]string{r.Unpriced, r.Version, r.Terms} {
			s.text(strings.ToValidUTF8(v, "\uFFFD"))
		}
	}
	w.touch(c.Started)
	w.between(c.Started.UnixMicro())
	w.corrected++
	return s.end()
}

// between widens the span of corrected rows, so that most of the table need not be searched.
func (w *writer) between(started int64) {
	if w.corrected == 0 {
		w.span = span{started, started}
	}
	w.span = span{min(w.span.from, started), max(w.span.to, started)}
}

// correct applies the corrections of the transaction, whose appender is closed, to the rows.
func (w *writer) correct() error {
	if w.corrected == 0 {
		return nil
	}
	return w.db.link.exec(fmt.Sprintf(`UPDATE attempts SET
cost_nano = CASE WHEN c.unpriced_after = '' OR c.cost_after > 0 THEN c.cost_after END, charged_nano = c.cost_after,
unpriced = c.unpriced_after, price_version = c.version_after, cost_terms = c.terms_after
FROM (SELECT * FROM corrections WHERE number > %d QUALIFY row_number() OVER (PARTITION BY id ORDER BY number DESC) = 1) AS c
WHERE attempts.id = c.id AND attempts.started = c.started AND attempts.started BETWEEN make_timestamp(%d) AND make_timestamp(%d)`,
		w.db.trail-w.corrected, w.span.from, w.span.to))
}

// Corrections implements requestlog.RowStore.
func (d *queries) Corrections(ctx context.Context, id string) ([]record.Correction, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT "+correctionColumns+" FROM corrections WHERE id = ? ORDER BY number", keyParam(id))
	if err != nil {
		return nil, fmt.Errorf("read corrections: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	var out []record.Correction
	for rows.Next() {
		c := record.Correction{ID: id}
		var number int64
		var key, operation duckdb.UUID
		b, a := &c.Before, &c.After
		err := rows.Scan(&number, &key, &c.Started, &operation, &c.RatedAt, &c.By,
			&b.Cost, &b.Unpriced, &b.Version, &b.Terms, &a.Cost, &a.Unpriced, &a.Version, &a.Terms)
		if err != nil {
			return nil, fmt.Errorf("read correction: %w", err)
		}
		c.Operation, c.Started, c.RatedAt = textOf(operation, ""), c.Started.UTC(), c.RatedAt.UTC()
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read corrections: %w", err)
	}
	return out, nil
}
