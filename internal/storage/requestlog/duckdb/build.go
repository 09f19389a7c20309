package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"sluice/internal/domain/record"
)

// maxTexts is the number of different metadata texts in a slot above which no rollups by pairs
// are stored: they would be as many as the rows.
const maxTexts = 1_000_000

// builder computes the rollups of slots of one level in a transaction.
type builder struct {
	tx          *sql.Tx
	rollupLevel rollupLevel
	slots       []bucket
	spans       []span
	has         map[bucket]rollupKind // finer slots inside
	again       bool                  // earlier rollups may exist
	kinds       rollupKind            // computed kinds
	rows        map[bucket]int64      // number of rows of each slot
}

func newBuilder(tx *sql.Tx, slots []bucket) *builder {
	b := &builder{tx: tx, rollupLevel: slots[0].rollupLevel, slots: slots, has: map[bucket]rollupKind{}, rows: map[bucket]int64{}, kinds: totals}
	b.spans = coverOf(span{ever, never}, slots).slots[b.rollupLevel]
	return b
}

// timeRange returns the span from the start of the first slot to the end of the last.
func (b *builder) timeRange() span { return span{b.spans[0].from, b.spans[len(b.spans)-1].to} }

// work fills in the tables of the level.
func (b *builder) work(ctx context.Context) error {
	if b.again {
		for _, k := range b.rollupLevel.tables() {
			if err := b.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", table(k, b.rollupLevel), spansCondition("start", b.spans))); err != nil {
				return err
			}
		}
	}
	if err := b.exec(ctx, b.totalsSQL()); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	if err := b.bins(ctx); err != nil {
		return err
	}
	if b.rollupLevel == byHours {
		return b.addFeedback(ctx)
	}
	if b.rollupLevel.kinds()&facets == 0 {
		return nil
	}
	if err := b.exec(ctx, b.facets()); err != nil {
		return err
	}
	b.kinds |= facets
	return b.pairs(ctx)
}

func (b *builder) exec(ctx context.Context, statement string) error {
	_, err := b.tx.ExecContext(ctx, statement)
	return err
}

// count reads how many rows each slot has.
func (b *builder) count(ctx context.Context) error {
	rows, err := b.tx.QueryContext(ctx, fmt.Sprintf("SELECT epoch_us(start), sum(requests)::BIGINT FROM %s WHERE property = 0 AND %s GROUP BY start", table(totals, b.rollupLevel), spansCondition("start", b.spans)))
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var start, n int64
		err := rows.Scan(&start, &n)
		b.rows[bucket{b.rollupLevel, start}] = n
		return err
	})
}

// commit stores the slots and commits. The finer slots of an hour are not needed any more.
func (b *builder) commit(ctx context.Context) error {
	var known []string
	for _, s := range b.slots {
		if n := b.rows[s]; n > 0 || s.rollupLevel == byMinutes {
			known = append(known, fmt.Sprintf("(%d, make_timestamp(%d), %d, %d)", s.rollupLevel, s.start, b.kinds, n))
		}
	}
	if len(known) > 0 {
		if err := b.exec(ctx, "INSERT INTO slots VALUES "+strings.Join(known, ", ")); err != nil {
			return err
		}
	}
	if b.rollupLevel == byHours && len(b.has) > 0 {
		inside := spansCondition("start", b.spans)
		for _, statement := range []string{
			"DELETE FROM slots WHERE level = 0 AND " + inside,
			"DELETE FROM " + table(totals, byMinutes) + " WHERE " + inside,
			"DELETE FROM " + table(bins, byMinutes) + " WHERE " + inside,
		} {
			if err := b.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	return b.tx.Commit()
}

// begun returns the SQL expression for the start of the slot that contains a time.
func (b *builder) begun(start string) string {
	width, origin := levels[b.rollupLevel].width.Microseconds(), record.BucketsFrom.UnixMicro()
	return fmt.Sprintf("make_timestamp((epoch_us(%s) - %d) // %d * %d + %d)", start, origin, width, width, origin)
}

// cover assembles the slots from finer ones that have the needed kind.
func (b *builder) cover(k rollupKind) *bucketCover {
	var usable []bucket
	for s, has := range b.has {
		if has&k != 0 {
			usable = append(usable, s)
		}
	}
	c := new(bucketCover)
	for _, in := range b.spans {
		cover := coverOf(in, usable)
		c.rows = append(c.rows, cover.rows...)
		for l := range cover.slots {
			c.slots[l] = append(c.slots[l], cover.slots[l]...)
		}
	}
	return c
}

// from returns the rows of some spans with columns of their series.
func (b *builder) from(in []span, columns ...string) string {
	return " FROM attempts JOIN (SELECT id AS series, " + strings.Join(columns, ", ") + " FROM series) USING (series) WHERE " + spansCondition("started", in)
}

// gather returns SQL that combines rows and finer slots.
func gather(c *bucketCover, rows, rollupSQL string, cover rollupKind) string {
	var parts []string
	if len(c.rows) > 0 {
		parts = append(parts, rows)
	}
	for l, spans := range c.slots {
		if len(spans) > 0 {
			parts = append(parts, fmt.Sprintf(rollupSQL, table(cover, rollupLevel(l)), spansCondition("start", spans)))
		}
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

// allFacets are the columns of facets after the workspace.
var allFacets = strings.Join(append(append([]string(nil), seriesFacets...), rowFacets...), ", ")

// facetsOf returns rollups of rows by their facets. A combination may occur more than once. It
// groups rows by the number of their series first: the number replaces most strings, which are
// far more expensive to compare.
func (b *builder) facetsOf(in []span) string {
	return "SELECT start, org_id, workspace_id, " + allFacets + ", " + metricColumns() + " FROM (SELECT " + b.begun("started") + " AS start, series, " + strings.Join(rowFacets, ", ") + ", " + partsOf() +
		b.from(in, "cache_status AS cache_status") + " GROUP BY ALL) JOIN (SELECT id AS series, org_id, workspace_id, " + strings.Join(seriesFacets, ", ") + " FROM series) USING (series)"
}

func (b *builder) totalsSQL() string {
	c := b.cover(totals)
	with, rows := "", []string{}
	if len(c.rows) > 0 {
		with = "WITH facet AS MATERIALIZED (" + b.facetsOf(c.rows) + ") "
	}
	for p := range properties {
		if properties[p] == byRetries {
			rows = append(rows, fmt.Sprintf("SELECT %s AS start, org_id, workspace_id, %d AS property, %s AS value, %s%s AND value <> '' GROUP BY ALL",
				b.begun("started"), p, rescuedBy, partsOf(), b.from(c.rows, "org_id", "workspace_id", "cache_status")))
			continue
		}
		rows = append(rows, fmt.Sprintf("SELECT start, org_id, workspace_id, %d AS property, %s AS value, %s FROM facet GROUP BY ALL", p, property(p).value(), mergedParts()))
	}
	return fmt.Sprintf("INSERT INTO %s BY NAME %sSELECT start, org_id, workspace_id, property, value, %s FROM (%s) GROUP BY start, org_id, workspace_id, property, value ORDER BY start, property, org_id, workspace_id",
		table(totals, b.rollupLevel), with, mergedParts(), gather(c, strings.Join(rows, " UNION ALL BY NAME "), "SELECT * REPLACE ("+b.begun("start")+" AS start) FROM %s WHERE %s", totals))
}

func (b *builder) facets() string {
	c := b.cover(facets)
	return fmt.Sprintf("INSERT INTO %s BY NAME SELECT start, org_id, workspace_id, %s, %s FROM (%s) GROUP BY start, org_id, workspace_id, %s ORDER BY start, org_id, workspace_id, model, key_id",
		table(facets, b.rollupLevel), allFacets, mergedParts(), gather(c, b.facetsOf(c.rows), "SELECT * REPLACE ("+b.begun("start")+" AS start) FROM %s WHERE %s", facets), allFacets)
}

// pairs computes the rollups by pairs of metadata, unless there are too many.
func (b *builder) pairs(ctx context.Context) error {
	c := b.cover(pairs)
	if len(c.rows) > 0 {
		var texts int64
		if err := b.tx.QueryRowContext(ctx, "SELECT approx_count_distinct(metadata) FROM attempts WHERE "+spansCondition("started", c.rows)).Scan(&texts); err != nil || texts > maxTexts {
			return err
		}
	}
	rows := "SELECT start, org_id, workspace_id, key, coalesce(json_extract_string(metadata, '/' || replace(replace(key, '~', '~0'), '/', '~1')), '') AS value, * EXCLUDE (start, org_id, workspace_id, metadata, key)" +
		" FROM (SELECT *, unnest(json_keys(metadata)) AS key FROM (SELECT " + b.begun("started") + " AS start, org_id, workspace_id, metadata, " + partsOf() + b.from(c.rows, "org_id", "workspace_id", "cache_status") + " AND metadata <> '' GROUP BY ALL))"
	b.kinds |= pairs
	return b.exec(ctx, fmt.Sprintf("INSERT INTO %s BY NAME SELECT start, org_id, workspace_id, key, value, %s FROM (%s) GROUP BY start, org_id, workspace_id, key, value ORDER BY start, key, org_id, workspace_id",
		table(pairs, b.rollupLevel), mergedParts(), gather(c, rows, "SELECT * REPLACE ("+b.begun("start")+" AS start) FROM %s WHERE %s", pairs)))
}
