package duckdb

import (
	"slices"

	"sluice/internal/domain/record"
)

// route selects the rollups for an analysis. Rows cover the rest of its time.
type route struct {
	kind     rollupKind // 0 if only rows are read
	property property   // of totals and bins
	key      string     // of pairs
}

// routeOf returns the narrowest rollups with every property by which the analysis filters or
// groups.
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

// beyond reports whether a query filters by something that rollups lack.
func beyond(q *record.Query) bool {
	return len(q.TraceIDs) > 0 || len(q.SpanIDs) > 0 || q.RequestID != "" || len(q.Metadata) > 1 ||
		!q.Total.Open() || !q.Input.Open() || !q.Output.Open() || !q.Cost.Open() || !q.Weighted.Open()
}

// columnsOf returns the properties, except the workspace, by which an analysis filters or groups.
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

// keysOf returns the keys of metadata by which an analysis filters or groups.
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
