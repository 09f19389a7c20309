package duckdb

import (
	"context"
	"fmt"
	"slices"
)

// binned counts rows by series, status and bin. Bins by a property of these are computed from it.
// It has far fewer rows than the table, and it is computed without comparing strings.
const binned = "CREATE OR REPLACE TEMP TABLE binned AS SELECT %s AS start, series, status, " + binOf + " AS bin, count(*) AS n FROM attempts WHERE %s GROUP BY ALL"

// bins counts rows by duration: all rows at every level, and the values of properties at the
// levels that have them.
func (b *builder) bins(ctx context.Context) error {
	if err := b.exec(ctx, b.binsOf(everyRow)); err != nil || b.rollupLevel.kinds()&bins == 0 {
		return err
	}
	spans := b.cover(bins).rows
	if len(spans) > 0 {
		if err := b.exec(ctx, fmt.Sprintf(binned, b.begun("started"), spansCondition("started", spans))); err != nil {
			return err
		}
	}
	for p := everyRow + 1; int(p) < len(properties); p++ {
		if err := b.exec(ctx, b.binsOf(p)); err != nil {
			return err
		}
	}
	b.kinds |= bins
	if len(spans) == 0 {
		return nil
	}
	return b.exec(ctx, "DROP TABLE binned")
}

func (b *builder) binsOf(p property) string {
	k := bins
	if p == everyRow { // its bins are stored next to rollups
		k = totals
	}
	c := b.cover(k)
	return fmt.Sprintf("INSERT INTO %s BY NAME SELECT start, org_id, workspace_id, %d AS property, value, bin, sum(n)::BIGINT AS n FROM (%s) GROUP BY start, org_id, workspace_id, value, bin ORDER BY start, org_id, workspace_id, value, bin",
		table(bins, b.rollupLevel), p, gather(c, b.binsOfRows(p, c.rows), fmt.Sprintf("SELECT %s AS start, org_id, workspace_id, value, bin, n FROM %%s WHERE property = %d AND %%s", b.begun("start"), p), bins))
}

// binsOfRows counts rows by bin. A combination may occur more than once.
func (b *builder) binsOfRows(p property, spans []span) string {
	const format = "SELECT %s AS start, org_id, workspace_id, %s AS value, %s"
	switch column := properties[p]; {
	case column == "status" || slices.Contains(seriesFacets, column):
		columns := "org_id, workspace_id"
		if column != "status" {
			columns += ", " + column
		}
		return fmt.Sprintf(format, "start", p.value(), "bin, n FROM binned JOIN (SELECT id AS series, "+columns+" FROM series) USING (series)")
	case column == byRetries:
		return fmt.Sprintf(format, b.begun("started"), rescuedBy, binOf+" AS bin, count(*) AS n"+b.from(spans, "org_id", "workspace_id")+" AND value <> '' GROUP BY ALL")
	default:
		return fmt.Sprintf(format, b.begun("started"), p.value(), binOf+" AS bin, count(*) AS n"+b.from(spans, "org_id", "workspace_id")+" GROUP BY ALL")
	}
}
