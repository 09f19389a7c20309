package logs

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
)

type userRow struct {
	User     string `json:"user"`
	Requests string `json:"requests" doc:"Number of requests, as a string"`
	Cost     string `json:"cost" doc:"US cents, as a number"`
	Object   string `json:"object" enum:"analytics-group"`
}

type modelRow struct {
	Model    string `json:"ai_model"`
	Requests string `json:"requests" doc:"Number of requests, as a string"`
	Object   string `json:"object" enum:"analytics-group"`
}

// unpricedRow contains the calls of a model whose cost is fully or partly unknown for one
// reason.
type unpricedRow struct {
	Provider string         `json:"ai_service" doc:"Kind of the provider, for example openai"`
	Model    string         `json:"ai_model" doc:"Model name from the request"`
	Reason   string         `json:"reason" doc:"Reason: unknown_model, unknown_provider, no_price, foreign_currency, not_loaded, or no_rate: followed by the unit without a price"`
	Requests int64          `json:"requests"`
	Tokens   int64          `json:"total_tokens"`
	Last     resource.Stamp `json:"last_seen"`
	Object   string         `json:"object" enum:"analytics-group"`
}

type metadataRow struct {
	Value         string         `json:"metadata_value"`
	Requests      int64          `json:"requests"`
	Cost          float64        `json:"cost" doc:"Cost in US cents"`
	AverageTokens float64        `json:"avg_tokens"`
	Weighted      float64        `json:"avg_weighted_feedback"`
	Judged        int64          `json:"requests_with_feedback"`
	Last          resource.Stamp `json:"last_seen"`
	Object        string         `json:"object" enum:"analytics-group"`
}

// propertyPage is a page of groups by a property that the caller names.
type propertyPage struct {
	Object   string        `json:"object" enum:"list"`
	Total    *int64        `json:"total,omitempty" nullable:"false" doc:"Number of all values"`
	Data     []propertyRow `json:"data" nullable:"false"`
	Exceeded *bool         `json:"is_quota_exceeded,omitempty" nullable:"false" doc:"Groups by workspace only; always false, because analytics do not have a quota"`
}

// propertyRow is a value of a property, with requests and the requested columns.
type propertyRow struct {
	Provider      string `json:"ai_service,omitempty" doc:"Id of the provider; each of these eight only in groups by that property"`
	Model         string `json:"model,omitempty"`
	Status        *int   `json:"status_code,omitempty" nullable:"false"`
	Key           string `json:"api_key,omitempty" doc:"Id of the API key"`
	Config        string `json:"config,omitempty" doc:"Slug or id from the request log"`
	Workspace     string `json:"workspace,omitempty" doc:"Id of the workspace"`
	WorkspaceSlug string `json:"workspace_slug,omitempty" doc:"Slug of the workspace"`
	ProviderID    string `json:"provider,omitempty" doc:"Slug of the saved provider"`
	Prompt        string `json:"prompt,omitempty" doc:"Slug of the prompt"`
	Requests      int64  `json:"requests"`
	Object        string `json:"object" enum:"analytics-group"`

	Cost           *float64        `json:"cost,omitempty" nullable:"false" doc:"US cents; this and the following fields as requested with columns"`
	Tokens         *int64          `json:"total_tokens,omitempty" nullable:"false"`
	AverageTokens  *float64        `json:"avg_tokens,omitempty" nullable:"false"`
	AverageInput   *float64        `json:"avg_input_tokens,omitempty" nullable:"false"`
	AverageOutput  *float64        `json:"avg_output_tokens,omitempty" nullable:"false"`
	AverageLatency *float64        `json:"avg_latency,omitempty" nullable:"false" doc:"Average latency in milliseconds"`
	P95            *float64        `json:"p95_latency,omitempty" nullable:"false" doc:"95th percentile of the latency in milliseconds"`
	P99            *float64        `json:"p99_latency,omitempty" nullable:"false" doc:"99th percentile of the latency in milliseconds"`
	SuccessRate    *float64        `json:"success_rate,omitempty" nullable:"false" doc:"Successful requests in percent"`
	Errors         *int64          `json:"error_count,omitempty" nullable:"false"`
	HitRate        *float64        `json:"cache_hit_rate,omitempty" nullable:"false" doc:"Cache hits in percent"`
	Last           *resource.Stamp `json:"last_seen,omitempty" nullable:"false"`
	First          *resource.Stamp `json:"first_seen,omitempty" nullable:"false"`
}

// propertyKeys are the field names for the value of a row.
var propertyKeys = []struct {
	by  record.Dimension
	set func(r *propertyRow, value string)
}{
	{record.ByProvider, func(r *propertyRow, v string) { r.Provider = v }},
	{record.ByModel, func(r *propertyRow, v string) { r.Model = v }},
	{record.ByStatus, func(r *propertyRow, v string) {
		if status, err := strconv.Atoi(v); err == nil {
			r.Status = &status
		}
	}},
	{record.ByKey, func(r *propertyRow, v string) { r.Key = v }},
	{record.ByConfig, func(r *propertyRow, v string) { r.Config = v }},
	{record.ByWorkspace, func(r *propertyRow, v string) { r.Workspace = v }},
	{record.ByProviderID, func(r *propertyRow, v string) { r.ProviderID = v }},
	{record.ByPrompt, func(r *propertyRow, v string) { r.Prompt = v }},
}

// groupedBy is the path parameter that names the property.
var groupedBy = []resource.Param{{Name: "groupBy", Enum: func() (names []string) {
	for _, k := range propertyKeys {
		names = append(names, string(k.by))
	}
	return names
}()}}

// propertyColumns are the columns that a call may request.
// Source: contract/content-and-observability.yaml, enums.group_columns.
var propertyColumns = []struct {
	name record.Column
	set  func(r *propertyRow, f *record.Metrics)
}{
	{record.ColumnCost, func(r *propertyRow, f *record.Metrics) { r.Cost = new(cents(f.Cost)) }},
	{record.ColumnTokens, func(r *propertyRow, f *record.Metrics) { r.Tokens = &f.Tokens }},
	{record.ColumnAvgTokens, func(r *propertyRow, f *record.Metrics) { r.AverageTokens = new(f.Per(float64(f.Tokens))) }},
	{record.ColumnAvgInput, func(r *propertyRow, f *record.Metrics) { r.AverageInput = new(f.Per(float64(f.Input))) }},
	{record.ColumnAvgOutput, func(r *propertyRow, f *record.Metrics) { r.AverageOutput = new(f.Per(float64(f.Output))) }},
	{record.ColumnAvgLatency, func(r *propertyRow, f *record.Metrics) { r.AverageLatency = new(f.Per(ms(f.Latency))) }},
	{record.ColumnP95, func(r *propertyRow, f *record.Metrics) { r.P95 = new(ms(f.P95)) }},
	{record.ColumnP99, func(r *propertyRow, f *record.Metrics) { r.P99 = new(ms(f.P99)) }},
	{record.ColumnSuccessRate, func(r *propertyRow, f *record.Metrics) { r.SuccessRate = new(percent(f.Requests-f.Errors, f.Requests)) }},
	{record.ColumnErrors, func(r *propertyRow, f *record.Metrics) { r.Errors = &f.Errors }},
	{record.ColumnHitRate, func(r *propertyRow, f *record.Metrics) { r.HitRate = new(percent(f.Hits(), f.Requests)) }},
	{record.ColumnLast, func(r *propertyRow, f *record.Metrics) { r.Last = resource.StampOf(&f.Last) }},
	{record.ColumnFirst, func(r *propertyRow, f *record.Metrics) { r.First = resource.StampOf(&f.First) }},
}

func columnNames() string {
	names := make([]string, len(propertyColumns))
	for i, c := range propertyColumns {
		names[i] = string(c.name)
	}
	return strings.Join(names, ", ")
}

// propertyRowOf returns a row with the requested columns.
func propertyRowOf(row *record.AnalysisRow, by record.Dimension, columns []record.Column) propertyRow {
	r := propertyRow{Requests: row.Requests, Object: rowObject}
	for _, k := range propertyKeys {
		if k.by == by {
			k.set(&r, row.Value)
		}
	}
	for _, c := range propertyColumns {
		if slices.Contains(columns, c.name) {
			c.set(&r, &row.Metrics)
		}
	}
	return r
}
