package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sluice/internal/kernel/fault"
)

// ExportFilters select the rows of the log that an export contains. Nil and empty fields select
// everything. Lists are one string with commas.
// Source: contract/content-and-observability.yaml, LogExportFilters; ai_org is ours.
type ExportFilters struct {
	From        string            `json:"time_of_generation_min,omitempty"` // RFC 3339, inclusive
	To          string            `json:"time_of_generation_max,omitempty"` // exclusive
	TotalMin    *int64            `json:"total_units_min,omitempty"`
	TotalMax    *int64            `json:"total_units_max,omitempty"`
	CostMin     *float64          `json:"cost_min,omitempty"` // US cents
	CostMax     *float64          `json:"cost_max,omitempty"`
	Models      string            `json:"ai_model,omitempty"`
	Providers   string            `json:"ai_org,omitempty"`
	InputMin    *int64            `json:"prompt_token_min,omitempty"`
	InputMax    *int64            `json:"prompt_token_max,omitempty"`
	OutputMin   *int64            `json:"completion_token_min,omitempty"`
	OutputMax   *int64            `json:"completion_token_max,omitempty"`
	Statuses    string            `json:"status_code,omitempty"` // in the format of ParseStatuses
	Metadata    map[string]string `json:"metadata,omitempty"`    // a row must have all of these pairs
	Pairs       string            `json:"ai_org_model,omitempty"`
	WeightedMin *float64          `json:"weighted_feedback_min,omitempty"`
	WeightedMax *float64          `json:"weighted_feedback_max,omitempty"`
	VirtualKeys string            `json:"virtual_keys,omitempty"`
	TraceIDs    string            `json:"trace_id,omitempty"`
	Configs     string            `json:"configs,omitempty"`
	Workspace   string            `json:"workspace_slug,omitempty"`
	PromptSlugs string            `json:"prompt_slug,omitempty"`
	PageSize    *int              `json:"page_size,omitempty"` // 1 to MaxExportRows; nil means MaxExportRows
	CurrentPage *int              `json:"current_page,omitempty"`
}

// Other names for filters, as published examples use them.
// Source: contract/content-and-observability.yaml, POST /logs/exports.
var (
	exportFilterNames  = map[string]string{"ai_provider": "ai_org", "provider": "ai_org", "response_status_code": "status_code"}
	exportFilterRanges = map[string]string{ // {"gte": …, "lte": …}
		"created_at": "time_of_generation", "time_of_generation": "time_of_generation", "cost": "cost", "weighted_feedback": "weighted_feedback",
		"total_tokens": "total_units", "total_units": "total_units", "request_tokens": "prompt_token", "response_tokens": "completion_token",
	}
	exportFilterLists = []string{"ai_model", "ai_org", "status_code", "ai_org_model", "virtual_keys", "trace_id", "configs", "prompt_slug"}
)

// ReadExportFilters reads filters as clients send them: lists as a string or as a list, and
// under any of their names. An invalid filter is fault.InvalidParameter with the name of the
// field.
func ReadExportFilters(raw json.RawMessage) (f ExportFilters, err error) {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(raw, &sent); err != nil {
		return f, badFilter("", "must be an object")
	}
	plain := make(map[string]json.RawMessage, len(sent))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if err := mergeFilter(plain, name, sent[name]); err != nil {
			return f, err
		}
	}
	for _, name := range exportFilterLists {
		if v, ok := plain[name]; ok {
			if plain[name], err = joined(name, v); err != nil {
				return f, err
			}
		}
	}
	for name, v := range plain { // decoded one at a time, so that the error names the invalid one
		text, err := json.Marshal(map[string]json.RawMessage{name: v})
		if err != nil {
			return f, badFilter(name, "must be a valid JSON value")
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return f, badFilter(name, "unknown filter, or its value has the wrong type")
		}
	}
	return f, f.Validate()
}

func badFilter(name, why string) error {
	return fault.New(fault.InvalidParameter, why).WithParam(strings.TrimSuffix("filters."+name, "."))
}

// mergeFilter stores a filter under its contract name. Null means that there is no filter.
func mergeFilter(plain map[string]json.RawMessage, name string, v json.RawMessage) error {
	put := func(to string, v json.RawMessage) error {
		if _, there := plain[to]; there {
			return badFilter(name, "must not be set together with its other name")
		}
		if string(v) != "null" {
			plain[to] = v
		}
		return nil
	}
	stem, ranged := exportFilterRanges[name]
	if !ranged {
		return put(cmp.Or(exportFilterNames[name], name), v)
	}
	var ends map[string]json.RawMessage
	if err := json.Unmarshal(v, &ends); err != nil {
		return badFilter(name, `must be a range, {"gte": …, "lte": …}`)
	}
	for end, v := range ends {
		suffix := map[string]string{"gte": "_min", "lte": "_max"}[end]
		if suffix == "" {
			return badFilter(name, `must contain only gte and lte`)
		}
		if err := put(stem+suffix, v); err != nil {
			return err
		}
	}
	return nil
}

// joined converts a list of strings and numbers, or a single one, to a comma-separated string.
func joined(name string, v json.RawMessage) (json.RawMessage, error) {
	var list []any
	if json.Unmarshal(v, &list) != nil {
		list = []any{v}
	}
	parts := make([]string, len(list))
	for i := range list {
		raw, err := json.Marshal(list[i])
		if err != nil {
			return nil, badFilter(name, "must be a valid JSON value")
		}
		var text string
		var number json.Number
		switch {
		case json.Unmarshal(raw, &text) == nil:
			parts[i] = text
		case json.Unmarshal(raw, &number) == nil:
			parts[i] = number.String()
		default:
			return nil, badFilter(name, "must be a comma-separated string, or a list of strings")
		}
	}
	return json.Marshal(strings.Join(parts, ","))
}

// Validate returns fault.InvalidParameter, with the name of the field, for filters that are
// malformed or can select nothing.
func (f *ExportFilters) Validate() error {
	from, err1 := exportTime("time_of_generation_min", f.From)
	to, err2 := exportTime("time_of_generation_max", f.To)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return badFilter("time_of_generation_max", "must be after the start")
	}
	if _, err := ParseStatuses(f.Statuses); err != nil {
		return badFilter("status_code", fault.From(err).Text())
	}
	if _, err := ParsePairs(f.Pairs); err != nil {
		return badFilter("ai_org_model", fault.From(err).Text())
	}
	if p := f.PageSize; p != nil && (*p < 1 || *p > MaxExportRows) {
		return fault.Newf(fault.InvalidParameter, "must be between 1 and %d", MaxExportRows).WithParam("filters.page_size")
	}
	if p := f.CurrentPage; p != nil && (*p < 0 || *p > maxExportPage) {
		return fault.Newf(fault.InvalidParameter, "must be between 0 and %d", maxExportPage).WithParam("filters.current_page")
	}
	return f.ranges()
}

func exportTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, badFilter(name, "must be a time such as 2026-11-20T10:00:00Z")
	}
	return t, nil
}

func (f *ExportFilters) ranges() error {
	toFloat := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		v := float64(*n)
		return &v
	}
	for _, r := range []struct {
		name     string
		min, max *float64
		lowest   float64
	}{
		{"total_units", toFloat(f.TotalMin), toFloat(f.TotalMax), 0},
		{"prompt_token", toFloat(f.InputMin), toFloat(f.InputMax), 0},
		{"completion_token", toFloat(f.OutputMin), toFloat(f.OutputMax), 0},
		{"cost", f.CostMin, f.CostMax, 0},
		{"weighted_feedback", f.WeightedMin, f.WeightedMax, -MaxFeedback},
	} {
		switch {
		case r.min != nil && *r.min < r.lowest:
			return fault.Newf(fault.InvalidParameter, "must be at least %v", r.lowest).WithParam("filters." + r.name + "_min")
		case r.min != nil && r.max != nil && *r.max < *r.min:
			return badFilter(r.name+"_max", "must not be less than the minimum")
		}
	}
	return nil
}

// Query returns the query for the rows in a workspace of an organisation.
func (f *ExportFilters) Query(orgID, workspaceID string) Query {
	from, _ := exportTime("", f.From) // Validate has checked it
	to, _ := exportTime("", f.To)
	statuses, _ := ParseStatuses(f.Statuses)
	pairs, _ := ParsePairs(f.Pairs)
	return Query{
		OrgID: orgID, WorkspaceID: workspaceID, From: from.UTC(), To: to.UTC(), Statuses: statuses, Pairs: pairs,
		Models: commaList(f.Models), Providers: commaList(f.Providers), Configs: commaList(f.Configs), ProviderIDs: commaList(f.VirtualKeys),
		TraceIDs: commaList(f.TraceIDs), PromptSlugs: commaList(f.PromptSlugs), Metadata: f.Metadata,
		Total: Range{f.TotalMin, f.TotalMax}, Input: Range{f.InputMin, f.InputMax}, Output: Range{f.OutputMin, f.OutputMax},
		Cost: Range{nanoOf(f.CostMin), nanoOf(f.CostMax)}, Weighted: FloatRange{f.WeightedMin, f.WeightedMax}, Newest: true,
	}
}

// Page returns which of the matching rows an export contains: offset rows are skipped, and at
// most rows follow.
func (f *ExportFilters) Page() (offset, rows int64) {
	rows = MaxExportRows
	if f.PageSize != nil {
		rows = int64(*f.PageSize)
	}
	if f.CurrentPage != nil {
		offset = int64(*f.CurrentPage) * rows
	}
	return offset, rows
}

// nanoOf converts US cents, at least 0, to nano-dollars; nil for nil.
func nanoOf(cents *float64) *int64 {
	if cents == nil {
		return nil
	}
	const nanoPerCent = 1e7
	if *cents >= math.MaxInt64/nanoPerCent {
		return new(int64(math.MaxInt64))
	}
	return new(int64(math.Round(*cents * nanoPerCent)))
}

func commaList(s string) (out []string) {
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
