package logs

import (
	"encoding/json"
	"math"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// maxMetadataPairs is the maximum number of metadata pairs in a filter.
// Source: ours.
const maxMetadataPairs = 20

// attemptFilters returns the parameters that select attempts, for the log and for all statistics
// over it. Statistics need a time range.
// Source: contract/content-and-observability.yaml, shared_params.AnalyticsFilters;
// request_id, ai_model and ai_org are ours.
func attemptFilters(timed bool) []resource.Param {
	list := func(name, doc string) resource.Param {
		return resource.Param{Name: name, Doc: strings.TrimPrefix(doc+"; separate several with commas", "; ")}
	}
	tokens := func(name string) resource.Param { return resource.Param{Name: name, Type: "integer"} }
	cost := func(name string) resource.Param {
		return resource.Param{Name: name, Doc: "US cents; excludes requests of unknown cost", Type: "number", Max: maxCostCents}
	}
	weighted := func(name string) resource.Param {
		return resource.Param{Name: name, Doc: "average of value times weight over the feedback on the trace", Type: "number", Min: -record.MaxFeedback, Max: record.MaxFeedback}
	}
	return []resource.Param{
		resource.WorkspaceParam,
		{Name: "workspace_slug", Doc: "Alias of workspace_id"},
		{Name: "time_of_generation_min", Format: "date-time", Required: timed, Doc: "inclusive"},
		{Name: "time_of_generation_max", Format: "date-time", Required: timed, Doc: "exclusive"},
		tokens("total_units_min"), tokens("total_units_max"),
		cost("cost_min"), cost("cost_max"),
		tokens("prompt_token_min"), tokens("prompt_token_max"),
		tokens("completion_token_min"), tokens("completion_token_max"),
		list("status_code", "200, 4xx, 500-503"),
		weighted("weighted_feedback_min"), weighted("weighted_feedback_max"),
		list("virtual_keys", "slugs of saved providers"), list("configs", "slugs"), list("api_key_ids", "ids of API keys"),
		{Name: "metadata", Doc: `JSON object of strings, for example {"team":"search"}; all pairs must match`},
		list("ai_org_model", "provider__model, such as openai__gpt-4o"),
		list("trace_id", ""), list("span_id", ""), list("prompt_slug", ""),
		list("cache_status", "HIT, SEMANTIC HIT, MISS, SEMANTIC MISS, REFRESH, DISABLED"),
		{Name: "request_id", Doc: "x-gateway-request-id of a response"},
		list("ai_model", "Models requested from the provider"),
		list("ai_org", "ids of providers"),
		list("provider", "Alias of ai_org"),
	}
}

// attemptQuery returns what attemptFilters select, restricted to what the caller may see.
func attemptQuery(c *resource.Call) (q record.Query, err error) {
	q = record.Query{
		OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, RequestID: c.Query("request_id"),
		From: jsonfield.ParseTime(c.Query("time_of_generation_min")), To: jsonfield.ParseTime(c.Query("time_of_generation_max")),
		TraceIDs: split(c.Query("trace_id")), SpanIDs: split(c.Query("span_id")), PromptSlugs: split(c.Query("prompt_slug")),
		CacheStatuses: split(c.Query("cache_status")), Models: split(c.Query("ai_model")), KeyIDs: split(c.Query("api_key_ids")),
		Configs: split(c.Query("configs")), ProviderIDs: split(c.Query("virtual_keys")),
		Providers: append(split(c.Query("ai_org")), split(c.Query("provider"))...),
		Total:     between(c, "total_units"), Input: between(c, "prompt_token"), Output: between(c, "completion_token"),
		Cost: costs(c), Weighted: amounts(c, "weighted_feedback"),
	}
	if c.Principal.IsLimitedToUserData(c.WorkspaceID) {
		q.UserID = c.Principal.UserID
	}
	if q.Statuses, err = record.ParseStatuses(c.Query("status_code")); err != nil {
		return q, err
	}
	if q.Metadata, err = pairsOf(c.Query("metadata")); err != nil {
		return q, err
	}
	if q.Pairs, err = record.ParsePairs(c.Query("ai_org_model")); err != nil {
		return q, err
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return q, fault.New(fault.InvalidParameter, "must be after the start").WithParam("time_of_generation_max")
	}
	return q, checkRangeOrder(c)
}

// checkRangeOrder rejects ranges that end before they begin.
func checkRangeOrder(c *resource.Call) error {
	for _, name := range []string{"total_units", "prompt_token", "completion_token", "cost", "weighted_feedback"} {
		low, high := name+"_min", name+"_max"
		if c.Query(low) != "" && c.Query(high) != "" && c.Number(high) < c.Number(low) {
			return fault.Newf(fault.InvalidParameter, "must not be less than the minimum, %s", low).WithParam(high)
		}
	}
	return nil
}

// between returns the range of the parameters name_min and name_max.
func between(c *resource.Call, name string) record.Range {
	return record.Range(ends(c, name, func(name string) int64 { return int64(c.Int(name)) }))
}

// amounts does the same as between for numbers with fractions.
func amounts(c *resource.Call, name string) record.FloatRange {
	return record.FloatRange(ends(c, name, c.Number))
}

// maxCostCents limits filters by cost; in nano-dollars it fits into 64 bits.
const maxCostCents = 900_000_000_000

// costs does the same as between for US cents; the result is in nano-dollars.
func costs(c *resource.Call) record.Range {
	return record.Range(ends(c, "cost", func(name string) int64 { return int64(math.Round(c.Number(name) * 1e7)) }))
}

// ends returns the ends of a range, nil for parameters that were not sent.
func ends[T any](c *resource.Call, name string, read func(name string) T) (r struct{ Min, Max *T }) {
	if low := name + "_min"; c.Query(low) != "" {
		r.Min = new(read(low))
	}
	if high := name + "_max"; c.Query(high) != "" {
		r.Max = new(read(high))
	}
	return r
}

// pairsOf parses a filter by metadata: a JSON object of strings.
func pairsOf(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	var pairs map[string]string
	if err := json.Unmarshal([]byte(text), &pairs); err != nil || pairs == nil {
		return nil, fault.New(fault.InvalidParameter, `must be a JSON object of strings such as {"team":"search"}`).WithParam("metadata")
	}
	if len(pairs) > maxMetadataPairs {
		return nil, fault.Newf(fault.InvalidParameter, "must not have more than %d pairs", maxMetadataPairs).WithParam("metadata")
	}
	for key, value := range pairs {
		if strings.ContainsRune(key+value, 0) {
			return nil, fault.New(fault.InvalidParameter, "keys and values must not contain NUL characters").WithParam("metadata")
		}
	}
	return pairs, nil
}

func split(list string) []string {
	var out []string
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
