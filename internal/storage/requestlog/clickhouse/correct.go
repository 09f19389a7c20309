package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// Correct implements requestlog.Sink.
func (w *writer) Correct(c *record.Correction) error {
	correction := *c
	correction.Closing = nil
	w.trail = append(w.trail, correction)
	return nil
}

// correctionColumns are the columns of corrections, in the order in which they are written.
var correctionColumns = []string{
	"id", "started", "operation", "corrected", "corrected_by", "cost_before", "unpriced_before", "version_before", "terms_before",
	"cost_after", "unpriced_after", "version_after", "terms_after",
}

// correctedAtOnce is the maximum number of rows to which one statement applies corrections: their
// ids are in the URL.
const correctedAtOnce = 500

// correct stores corrections and applies them to their rows.
func (d *rowWriter) correct(ctx context.Context, trail []record.Correction) error {
	if len(trail) == 0 {
		return nil
	}
	var rows client.Rows
	for i := range trail {
		c := &trail[i]
		rows.Text(c.ID)
		rows.Time(c.Started)
		rows.Text(c.Operation)
		rows.Time(c.RatedAt)
		rows.Text(c.By)
		for _, r := range [...]*record.Rated{&c.Before, &c.After} {
			rows.Int64(r.Cost)
			rows.Text(r.Unpriced)
			rows.Text(r.Version)
			rows.Text(r.Terms)
		}
		rows.End()
	}
	if err := d.c.Insert(ctx, "corrections", correctionColumns, rows.Bytes()); err != nil {
		return fmt.Errorf("write corrections: %w", err)
	}
	for some := range slices.Chunk(trail, correctedAtOnce) {
		if err := d.insertCorrected(ctx, some); err != nil {
			return fmt.Errorf("correct log rows: %w", err)
		}
	}
	return nil
}

// corrected are the columns that a correction changes.
var corrected = map[string]string{
	"cost_nano": "if(c.unpriced = '' OR c.cost > 0, c.cost, NULL)", "charged_nano": "c.cost", "unpriced": "c.unpriced", "price_version": "c.price", "cost_terms": "c.terms",
}

// insertCorrected inserts rows again, with the newest of their corrections. Deleted rows are not
// inserted.
func (d *rowWriter) insertCorrected(ctx context.Context, some []record.Correction) error {
	var p client.Params
	ids := make([]string, len(some))
	from, to := some[0].Started, some[0].Started
	for i := range some {
		c := &some[i]
		ids[i] = c.ID
		if c.Started.Before(from) {
			from = c.Started
		}
		if c.Started.After(to) {
			to = c.Started
		}
	}
	list := p.Texts(ids)
	newest := "SELECT id, argMax(tuple(cost_after, unpriced_after, version_after, terms_after), tuple(corrected, operation)) AS newest, " +
		"newest.1 AS cost, newest.2 AS unpriced, newest.3 AS price, newest.4 AS terms, toUInt64(greatest(toUnixTimestamp64Micro(max(corrected)), 1)) AS at " +
		"FROM corrections FINAL WHERE id IN " + list + " GROUP BY id"
	return d.again(ctx, &p, corrected, "c.at",
		" WHERE id IN "+list+" AND started >= "+p.Time(from)+" AND started <= "+p.Time(to), " INNER JOIN ("+newest+") AS c ON a.id = c.id")
}

// Corrections implements requestlog.RowStore.
func (d *queries) Corrections(ctx context.Context, id string) (out []record.Correction, err error) {
	var p client.Params
	err = d.ask(ctx, "SELECT operation, toUnixTimestamp64Micro(started), toUnixTimestamp64Micro(corrected), corrected_by, "+
		strings.Join(correctionColumns[5:], ", ")+" FROM corrections FINAL WHERE id = "+p.Text(id)+" ORDER BY corrected, operation", &p,
		func(scan func(...any) error) error {
			c := record.Correction{ID: id}
			b, a := &c.Before, &c.After
			err := scan(&c.Operation, (*micros)(&c.Started), (*micros)(&c.RatedAt), &c.By,
				&b.Cost, &b.Unpriced, &b.Version, &b.Terms, &a.Cost, &a.Unpriced, &a.Version, &a.Terms)
			out = append(out, c)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read corrections: %w", err)
	}
	return out, nil
}
