package duckdb

import (
	"slices"

	"sluice/internal/record"
)

// route says which kept sums answer an analysis beside the rows of the time that they do
// not cover.
type route struct {
	kind     rollupKind // 0 where rows alone do
	property property   // of sums and bins
	key      string     // of pairs
}

// routeOf chooses the narrowest sums that have every property which the analysis selects
// or groups by.
func routeOf(a *record.Analysis) route {
	q := &a.Query
	if beyond(q) || a.By == record.ByTrace || a.By == record.ByScore || a.By == record.ByUnpriced {
		return route{}
	}
	columns := columnsOf(a)
	keys := keysOf(a)
	switch {
	case len(keys) > 1 || len(keys) == 1 && (len(columns) > 0 || a.Metrics&record.NonAdditiveMetrics != 0):
		return route{}
	case len(keys) == 1:
		return route{kind: pairs, key: keys[0]}
	case len(columns) > 0 && a.Metrics&record.MetricUsers != 0:
		return route{}
	case len(columns) == 0:
		return route{kind: totals}
	case len(columns) == 1:
		return route{kind: totals, property: propertyOf(columns[0])}
	case a.Metrics&record.MetricPercentiles != 0 || slices.Contains(columns, byRetries):
		return route{}
	}
	return route{kind: facets}
}

// beyond reports whether a query selects by what no sums are kept by.
func beyond(q *record.Query) bool {
	return len(q.TraceIDs) > 0 || len(q.SpanIDs) > 0 || q.RequestID != "" || len(q.Metadata) > 1 ||
		!q.Total.Open() || !q.Input.Open() || !q.Output.Open() || !q.Cost.Open() || !q.Weighted.Open()
}

// columnsOf are the properties, but for the workspace, that an analysis selects or groups by.
func columnsOf(a *record.Analysis) (out []string) {
	q := &a.Query
	for _, c := range [...]struct {
		column string
		used   bool
	}{
		{"provider", len(q.Providers)+len(q.Pairs) > 0 || a.By == record.ByProvider},
		{"model", len(q.Models)+len(q.Pairs) > 0 || a.By == record.ByModel},
		{"status", len(q.Statuses) > 0 || a.By == record.ByStatus},
		{"key_id", len(q.KeyIDs) > 0 || a.By == record.ByKey},
		{"config_id", len(q.Configs) > 0 || a.By == record.ByConfig},
		{"provider_id", len(q.ProviderIDs) > 0 || a.By == record.ByProviderID},
		{"prompt_slug", len(q.PromptSlugs) > 0 || a.By == record.ByPrompt},
		{"cache_status", len(q.CacheStatuses) > 0},
		{"user_id", q.UserID != ""},
		{byRetries, a.By == record.ByRetries},
	} {
		if c.used {
			out = append(out, c.column)
		}
	}
	return out
}

// keysOf are the keys of metadata that an analysis selects or groups by.
func keysOf(a *record.Analysis) (out []string) {
	for key := range a.Query.Metadata {
		out = append(out, textParam(key))
	}
	if a.By == record.ByUser {
		out = append(out, record.UserKey)
	}
	if a.By == record.ByMetadata {
		out = append(out, textParam(a.Key))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
