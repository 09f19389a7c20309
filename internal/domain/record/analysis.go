package record

import (
	"cmp"
	"slices"
	"time"

	"sluice/internal/kernel/fault"
)

// Analysis requests metrics over all attempts that a Query selects: per time bucket, per value
// of a property, per both, or, with neither, over all of them together. All graphs, summaries
// and groups of the administration are built from it.
// Source: contract/content-and-observability.md section 5.
type Analysis struct {
	Query   Query         // From and To are required; After, Offset, Limit, Newest and Count are ignored
	Step    time.Duration // width of a bucket in whole minutes; 0 means no buckets
	Zone    time.Duration // offset east of UTC: a bucket begins where a clock there shows a multiple of Step, one of weeks on a Monday
	By      Dimension     // ByNothing means no groups
	Key     string        // metadata key for ByMetadata: "team"
	Metrics MetricSet     // metrics to compute in addition to Requests

	// Rows without buckets are sorted by a column, equal ones by their values. Rows with buckets
	// are sorted by time, then by value.
	Order     Column // empty means ColumnRequests; Metrics must contain what the column needs
	Ascending bool
	Offset    int // rows to skip
	Limit     int // maximum number of rows; 0 means MaxGroups
}

// MaxGroups is the maximum number of rows of one Analysis. A result with more rows is
// fault.InvalidParameter, unless Limit requests fewer.
const MaxGroups = 50_000

// Dimension is a property of attempts whose values form groups. Attempts without the property,
// or with an empty value, are in no group.
type Dimension string

// The dimensions. Those that clients name use the contract's names.
// Source: contract/content-and-observability.yaml, enums.group_by.
const (
	ByNothing    Dimension = ""
	ByProvider   Dimension = "ai_service"  // Attempt.Provider
	ByModel      Dimension = "model"       // Attempt.Model
	ByStatus     Dimension = "status_code" // Attempt.Status: "200"
	ByKey        Dimension = "api_key"     // Attempt.KeyID
	ByConfig     Dimension = "config"      // Attempt.ConfigID
	ByWorkspace  Dimension = "workspace"   // Attempt.WorkspaceID
	ByProviderID Dimension = "provider"    // Attempt.ProviderID
	ByPrompt     Dimension = "prompt"      // Attempt.PromptSlug
	ByUser       Dimension = "user"        // value of UserKey in the metadata
	ByMetadata   Dimension = "metadata"    // value of Analysis.Key in the metadata
	ByTrace      Dimension = "trace"       // Attempt.TraceID
	ByRetries    Dimension = "retries"     // Attempt.Retries: "2"; only attempts that succeeded after retries
	ByUnpriced   Dimension = "unpriced"    // attempts whose cost is unknown or partly unknown: provider, reason and model, "openai unknown_model gpt-x"
	ByScore      Dimension = "score"       // value of each feedback: "-3"; rows have only the metrics of feedback
)

// UserKey is the metadata key that contains the end user of a request.
const UserKey = "_user"

// MetricSet is a set of metrics; some cost more to compute than others.
type MetricSet uint16

// The metrics, with the fields of Metrics that each fills in.
const (
	MetricErrors      MetricSet = 1 << iota // Errors
	MetricCost                              // Cost
	MetricTokens                            // Tokens, Input, Output
	MetricLatency                           // Latency
	MetricPercentiles                       // P50, P90, P95, P99
	MetricUsers                             // Users, UserRequests
	MetricRescued                           // ByRetry, ByFallback
	MetricCache                             // SimpleHits, SemanticHits, SimpleSaved, SemanticSaved, HitLatency
	MetricSeen                              // First, Last
	MetricFeedback                          // Feedbacks, Judged, Weighted
)

// Metrics are computed over attempts; analytics calls each attempt a request. A metric that was
// not requested is 0.
// Source: contract/content-and-observability.md 5.2.
type Metrics struct {
	Requests int64
	Errors   int64 // attempts whose status is not 200 to 299
	Cost     int64 // nano-dollars, without costs that are unknown
	Tokens   int64 // Attempt.Tokens
	Input    int64
	Output   int64
	Latency  time.Duration // sum of Attempt.Duration

	// Percentiles of Attempt.Duration: at least that percentage of the attempts took at most
	// this long. They are computed over the rows themselves and are at most 1 % off.
	P50, P90, P95, P99 time.Duration

	Users        int64 // distinct values of UserKey in the metadata
	UserRequests int64 // attempts with UserKey in the metadata

	ByRetry    int64 // attempts that succeeded after at least one retry
	ByFallback int64 // attempts that succeeded on a target other than the first: Number above 0

	SimpleHits    int64         // CacheStatus HIT
	SemanticHits  int64         // SEMANTIC HIT
	SimpleSaved   int64         // nano-dollars of SimpleHits (Spend.Saved)
	SemanticSaved int64         // nano-dollars of SemanticHits
	HitLatency    time.Duration // sum over both kinds of hits

	First, Last time.Time // Attempt.Started

	// Feedback on traces. Feedback that belongs to several of the attempts counts once in a row;
	// its bucket is that of the first of them.
	Feedbacks int64
	Judged    int64   // attempts whose trace has feedback
	Weighted  float64 // sum of Feedback.Weighted
}

// Column is a metric by which groups are sorted, named as in the contract.
// Source: contract/content-and-observability.yaml, enums.group_columns.
type Column string

// The columns.
const (
	ColumnRequests    Column = "requests"
	ColumnCost        Column = "cost"
	ColumnTokens      Column = "total_tokens"
	ColumnAvgTokens   Column = "avg_tokens"
	ColumnAvgInput    Column = "avg_input_tokens"
	ColumnAvgOutput   Column = "avg_output_tokens"
	ColumnAvgLatency  Column = "avg_latency"
	ColumnP95         Column = "p95_latency"
	ColumnP99         Column = "p99_latency"
	ColumnSuccessRate Column = "success_rate"
	ColumnErrors      Column = "error_count"
	ColumnHitRate     Column = "cache_hit_rate"
	ColumnLast        Column = "last_seen"
	ColumnFirst       Column = "first_seen"
)

// AnalysisRow contains the metrics of one bucket and value.
type AnalysisRow struct {
	Start time.Time // start of the bucket, in UTC; zero without buckets
	Value string    // empty without groups
	Metrics
}

// needs maps each column to the metrics that it is computed from.
var needs = map[Column]MetricSet{
	ColumnRequests: 0, ColumnCost: MetricCost, ColumnTokens: MetricTokens, ColumnAvgTokens: MetricTokens, ColumnAvgInput: MetricTokens, ColumnAvgOutput: MetricTokens,
	ColumnAvgLatency: MetricLatency, ColumnP95: MetricPercentiles, ColumnP99: MetricPercentiles, ColumnSuccessRate: MetricErrors, ColumnErrors: MetricErrors,
	ColumnHitRate: MetricCache, ColumnLast: MetricSeen, ColumnFirst: MetricSeen,
}

// Needs returns the metrics that a column is computed from: 0 for ColumnRequests. ok is false
// when the column does not exist.
func (c Column) Needs() (f MetricSet, ok bool) {
	f, ok = needs[c]
	return f, ok
}

// dimensions lists all dimensions.
var dimensions = []Dimension{
	ByNothing, ByProvider, ByModel, ByStatus, ByKey, ByConfig, ByWorkspace, ByProviderID, ByPrompt, ByUser, ByMetadata, ByTrace, ByRetries, ByScore, ByUnpriced,
}

// maxZone is the maximum of Analysis.Zone in either direction.
const maxZone = 24 * time.Hour

// Validate returns fault.InvalidParameter, with the contract's name of the parameter, for an
// Analysis that cannot be computed.
func (a *Analysis) Validate() error {
	refuse := func(param, why string) error { return fault.New(fault.InvalidParameter, why).WithParam(param) }
	column := cmp.Or(a.Order, ColumnRequests)
	need, known := column.Needs()
	switch {
	case a.Query.From.IsZero():
		return refuse("time_of_generation_min", "the start of the time range is required")
	case a.Query.To.IsZero():
		return refuse("time_of_generation_max", "the end of the time range is required")
	case !a.Query.From.Before(a.Query.To):
		return refuse("time_of_generation_max", "must be after the start of the time range")
	case a.Step < 0 || a.Step%time.Minute != 0:
		return refuse("step", "must be a multiple of one minute")
	case a.Zone < -maxZone || a.Zone > maxZone:
		return refuse("time_of_generation_min", "the time zone must be at most one day from UTC")
	case !slices.Contains(dimensions, a.By):
		return refuse("group_by", "unknown property for grouping")
	case a.By == ByMetadata && a.Key == "":
		return refuse("key", "the metadata key is required")
	case !known || need&^a.Metrics != 0:
		return refuse("order_by", "must be one of the requested columns")
	case a.Offset < 0:
		return refuse("current_page", "must be 0 or greater")
	case a.Limit < 0:
		return refuse("page_size", "must be 1 or greater")
	}
	return nil
}

// PageSize returns the maximum number of rows of the result. If cut is true, further rows are
// left out; otherwise more rows are the error TooMany.
func (a *Analysis) PageSize() (n int, cut bool) {
	if a.Limit == 0 || a.Limit > MaxGroups {
		return MaxGroups, false
	}
	return a.Limit, true
}

// TooMany returns the error for an Analysis that has more than MaxGroups rows.
func TooMany() error {
	return fault.Newf(fault.InvalidParameter, "the result exceeds %d rows; narrow the time range or request a page", MaxGroups).WithParam("page_size")
}

// AnalysisPage is the result of an Analysis. Buckets and values without attempts have no row.
// Without both buckets and values there is always one row.
type AnalysisPage struct {
	Rows  []AnalysisRow
	Total int64 // number of rows without Offset and Limit
}

// BucketsFrom is the time from which buckets are counted: a Monday.
var BucketsFrom time.Time

// BucketStart returns the start of the nth bucket after BucketsFrom, in UTC.
func (a *Analysis) BucketStart(n int64) time.Time {
	return time.UnixMicro(n*a.Step.Microseconds() + BucketsFrom.UnixMicro() - a.Zone.Microseconds()).UTC()
}

// Complete adds the one row that a result without buckets and values always has.
func (a *Analysis) Complete(page *AnalysisPage) {
	if a.Step != 0 || a.By != ByNothing || page.Total != 0 {
		return
	}
	page.Total = 1
	if a.Offset == 0 {
		page.Rows = []AnalysisRow{{}}
	}
}

// Hits returns the number of simple and semantic cache hits.
func (f *Metrics) Hits() int64 { return f.SimpleHits + f.SemanticHits }

// Per returns sum divided by the number of requests, 0 without requests.
func (f *Metrics) Per(sum float64) float64 {
	if f.Requests == 0 {
		return 0
	}
	return sum / float64(f.Requests)
}
