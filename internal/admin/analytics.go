package admin

import (
	"context"
	"net/http"
	"strings"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/resource"
)

// analytics are the routes of figures over the log. They are described, and answer 501
// until there is an engine behind them.
// Source: contract/content-and-observability.yaml, analytics; .md section 5.
func (k kinds) analytics() resource.Resource {
	var ops resource.Operations
	for _, a := range analyticsRoutes {
		op := resource.Operation{
			Method: http.MethodGet, Path: a.path, ID: a.id, Summary: a.summary, Tag: "Analytics", Params: a.params, Query: analyticsFilters(),
			Scopes: []access.Scope{"analytics.view"}, Answer: analyticsGraph{}, Run: noAnalytics,
		}
		if strings.Contains(a.path, "/groups/") {
			op.Query, op.Answer = append(op.Query, groupPaging...), resource.ListOf[analyticsRow]{}
		}
		if strings.Contains(a.path, "{groupBy}") {
			op.Query = append(op.Query, groupExtras...)
		}
		if strings.HasPrefix(a.path, "/logs/") {
			op.Scopes = []access.Scope{access.LogsList}
		}
		ops = append(ops, op)
	}
	return ops
}

func noAnalytics(context.Context, *resource.Call) (any, error) {
	return nil, fault.New(fault.NotSupported, "this gateway does not compute analytics yet; GET /logs has the rows, GET /metrics the figures of this node")
}

// analyticsGraph is the answer of graphs and summaries.
type analyticsGraph struct {
	Summary map[string]any   `json:"summary"`
	Points  []map[string]any `json:"data_points,omitempty" nullable:"false"`
	Object  string           `json:"object" enum:"analytics-graph,analytics-summary"`
}

// analyticsRow is a row of a group: the property, and the figures that were asked for.
type analyticsRow map[string]any

var groupedBy = []resource.Param{{Name: "groupBy", Enum: []string{"ai_service", "model", "status_code", "api_key", "config", "workspace", "provider", "prompt"}}}

var analyticsRoutes = []struct {
	path, id, summary string
	params            []resource.Param
}{
	{"/analytics/graphs/requests", "getRequestsGraph", "Requests over time", nil},
	{"/analytics/graphs/cost", "getCostGraph", "Cost over time", nil},
	{"/analytics/graphs/latency", "getLatencyGraph", "Latency over time", nil},
	{"/analytics/graphs/tokens", "getTokensGraph", "Tokens over time", nil},
	{"/analytics/graphs/users", "getUsersGraph", "End users over time", nil},
	{"/analytics/graphs/users/requests", "getUserRequestsGraph", "Requests per end user over time", nil},
	{"/analytics/graphs/errors", "getErrorsGraph", "Errors over time", nil},
	{"/analytics/graphs/errors/rate", "getErrorRateGraph", "Share of errors over time", nil},
	{"/analytics/graphs/errors/stacks", "getErrorStacksGraph", "Errors by status over time", nil},
	{"/analytics/graphs/errors/status-codes", "getErrorStatusesGraph", "Errors by status", nil},
	{"/analytics/graphs/requests/rescued", "getRescuedGraph", "Requests saved by retries and fallbacks", nil},
	{"/analytics/graphs/cache/hit-rate", "getCacheHitsGraph", "Hits of the cache over time", nil},
	{"/analytics/graphs/cache/latency", "getCacheLatencyGraph", "Latency of hits over time", nil},
	{"/analytics/graphs/feedbacks", "getFeedbacksGraph", "Feedback over time", nil},
	{"/analytics/graphs/feedbacks/scores", "getFeedbackScoresGraph", "Feedback by value", nil},
	{"/analytics/graphs/feedbacks/weighted", "getWeightedFeedbackGraph", "Average weighted feedback over time", nil},
	{"/analytics/graphs/feedbacks/ai-models", "getModelFeedbackGraph", "Feedback by model", nil},
	{"/analytics/summary/cache", "getCacheSummary", "Totals of the cache", nil},
	{"/analytics/groups/users", "groupByUsers", "Figures by end user", nil},
	{"/analytics/groups/ai-models", "groupByModels", "Figures by model", nil},
	{"/analytics/groups/metadata/{metadataKey}", "groupByMetadata", "Figures by the values of a metadata key", []resource.Param{{Name: "metadataKey"}}},
	{"/analytics/groups/{groupBy}", "groupAnalytics", "Figures by a property of the requests", groupedBy},
	{"/logs/groups/{groupBy}", "groupLogs", "Figures by a property of the requests", groupedBy},
}

// analyticsFilters are the parameters of all of them.
// Source: contract/content-and-observability.yaml, shared_params.AnalyticsFilters.
func analyticsFilters() []resource.Param {
	list := func(name, doc string) resource.Param {
		return resource.Param{Name: name, Doc: strings.TrimPrefix(doc+"; several with commas", "; ")}
	}
	least := func(name string) resource.Param { return resource.Param{Name: name, Type: "integer"} }
	number := func(name, doc string) resource.Param { return resource.Param{Name: name, Doc: doc} }
	return []resource.Param{
		resource.WorkspaceParam,
		{Name: "workspace_slug", Doc: "the same as workspace_id"},
		{Name: "time_of_generation_min", Format: "date-time", Required: true, Doc: "inclusive"},
		{Name: "time_of_generation_max", Format: "date-time", Required: true, Doc: "exclusive"},
		least("total_units_min"), least("total_units_max"),
		number("cost_min", "US cents"), number("cost_max", "US cents"),
		least("prompt_token_min"), least("prompt_token_max"), least("completion_token_min"), least("completion_token_max"),
		list("status_code", "200, 4xx, 500-503"),
		number("weighted_feedback_min", "-10 to 10"), number("weighted_feedback_max", "-10 to 10"),
		list("virtual_keys", "slugs of saved providers"), list("configs", "slugs"), list("api_key_ids", "ids of API keys"),
		{Name: "metadata", Doc: "a JSON object; all pairs must match"},
		list("ai_org_model", "provider__model"), list("trace_id", ""), list("span_id", ""), list("prompt_slug", ""), list("cache_status", "HIT, MISS, …"),
	}
}

// groupPaging and groupExtras are those of groups, and of groups by any property.
var (
	groupPaging = []resource.Param{
		{Name: "current_page", Doc: "page number, from 0", Type: "integer", Default: "0", Max: 1_000_000},
		{Name: "page_size", Type: "integer", Default: "100", Max: 1000},
	}
	groupExtras = []resource.Param{
		{Name: "columns", Doc: "cost, total_tokens, avg_tokens, avg_input_tokens, avg_output_tokens, avg_latency, p95_latency, p99_latency, success_rate, error_count, cache_hit_rate, last_seen, first_seen; several with commas"},
		{Name: "order_by", Default: "requests", Doc: "requests, or one of the columns asked for"},
		{Name: "order_by_type", Enum: []string{"asc", "desc"}, Default: "desc"},
		{Name: "include_total", Type: "boolean", Default: "true"},
	}
)
