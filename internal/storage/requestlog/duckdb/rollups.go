package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/record"
)

// rollupKind is a kind of rollup table. It is a bit in the kinds of a slot.
type rollupKind uint8

// The kinds. A slot of every level has totals, and bins of all rows together. Rollups that are as
// large in an hour as the rows are stored only for quarters of a day and more.
const (
	totals       rollupKind = 1 << iota // by one property
	bins                                // of durations, by one property
	facets                              // by all properties
	pairs                               // by one pair of metadata
	feedbackRows                        // not a rollup: rows whose trace has feedback, of hours
)

// names of the tables of a kind, before the name of the level.
var names = map[rollupKind]string{totals: "sums", bins: "bins", facets: "facets", pairs: "pairs"}

// table returns the table of a kind and a level: "sums_days".
func table(k rollupKind, l rollupLevel) string { return names[k] + "_" + levels[l].name }

// kinds returns the kinds that a level has.
func (l rollupLevel) kinds() rollupKind {
	if l < byQuarters {
		return totals
	}
	return totals | bins | facets | pairs
}

// tables returns the kinds whose table exists at a level: bins of all rows exist at every level.
func (l rollupLevel) tables() []rollupKind {
	if l < byQuarters {
		return []rollupKind{totals, bins}
	}
	return []rollupKind{totals, bins, facets, pairs}
}

// property is a property by which rollups are stored: a column of rows or of their series.
type property uint8

// everyRow is the property that all rows share.
const everyRow property = 0

// properties are the columns. Never assign a number to another column.
var properties = [...]string{
	everyRow: "", 1: "provider", 2: "model", 3: "status", 4: "key_id", 5: "config_id", 6: "provider_id", 7: "prompt_slug", 8: "cache_status", 9: "user_id", 10: byRetries,
}

// byRetries is the column of rollups for record.ByRetries.
const byRetries = "rescued_by"

// facetColumns are the columns of facets after the workspace, those of a series first.
var (
	seriesFacets = []string{"key_id", "user_id", "config_id", "provider", "provider_id", "model", "cache_status"}
	rowFacets    = []string{"prompt_slug", "status"}
)

// value returns the expression of a property's value over facets.
func (p property) value() string {
	switch p {
	case everyRow:
		return "''"
	case propertyOf("status"):
		return "status::VARCHAR"
	}
	return properties[p]
}

// column returns the expression of the column over stored values.
func (p property) column() string {
	switch p {
	case everyRow:
		return ""
	case propertyOf("status"):
		return ", TRY_CAST(value AS INTEGER) AS status" // rows of other properties may be read, too
	}
	return ", value AS " + properties[p]
}

func propertyOf(column string) property { return property(slices.Index(properties[:], column)) }

// partsOf returns the expressions that compute rollups from rows.
func partsOf() string {
	out := make([]string, len(metrics))
	for i, f := range metrics {
		out[i] = f.sql + " AS " + f.name
	}
	return strings.Join(out, ", ")
}

// metricColumns returns the columns of rollups.
func metricColumns() string {
	out := make([]string, len(metrics))
	for i, f := range metrics {
		out[i] = f.name
	}
	return strings.Join(out, ", ")
}

// mergedParts returns the expressions that combine rollups.
func mergedParts() string {
	out := make([]string, len(metrics))
	for i, f := range metrics {
		out[i] = f.merged() + " AS " + f.name
	}
	return strings.Join(out, ", ")
}

// Parameters of a histogram of durations. Bins are a hundredth wide. The result is a value in the
// bin from which no other value in it differs by more than half a hundredth.
const (
	binOf  = "CASE WHEN duration_ns > 0 THEN floor(ln(duration_ns) / ln(1.01))::SMALLINT ELSE -1::SMALLINT END"
	binMid = "CASE WHEN %[1]s IS NULL OR %[1]s < 0 THEN 0 ELSE least(pow(1.01, %[1]s) * 2.02 / 2.01, 9.2e18)::BIGINT END"
)

// middle returns the duration that represents a bin.
func middle(bin string) string { return fmt.Sprintf(binMid, bin) }

// percents are the percentiles of an analysis.
var percents = [...]struct {
	name    string
	percent int
	into    func(*record.Metrics) any
}{
	{"p50", 50, func(f *record.Metrics) any { return (*int64)(&f.P50) }},
	{"p90", 90, func(f *record.Metrics) any { return (*int64)(&f.P90) }},
	{"p95", 95, func(f *record.Metrics) any { return (*int64)(&f.P95) }},
	{"p99", 99, func(f *record.Metrics) any { return (*int64)(&f.P99) }},
}
