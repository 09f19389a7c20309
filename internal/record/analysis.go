package record

import (
	"cmp"
	"slices"
	"time"

	"sluice/internal/fault"
)

// Analysis asks for figures over all attempts that a Query selects: of each bucket of
// time, of each value of a property, of both, or, with neither, of all together. All
// graphs, summaries and groups of the administration are made of it.
// Source: contract/content-and-observability.md section 5.
type Analysis struct {
	Query   Query         // From and To must be given; After, Offset, Limit, Newest and Count count for nothing
	Step    time.Duration // width of a bucket, whole minutes; 0 for no buckets
	Zone    time.Duration // east of UTC: a bucket begins where a clock there shows a multiple of Step, one of weeks on a Monday
	By      Dimension     // ByNothing for no groups
	Key     string        // of ByMetadata: "team"
	Metrics MetricSet     // what is worked out besides Requests

	// Rows without buckets are in the order of a column, equal ones in that of their
	// values; those with buckets in the order of time, then of values.
	Order     Column // ColumnRequests when empty; what it is made of must be wanted
	Ascending bool
	Offset    int // rows to pass over
	Limit     int // rows; 0 for as many as there may be, which are MaxGroups
}

// MaxGroups bounds the rows of one Analysis. More of them than that, where no Limit asks
// for less, are fault.InvalidParameter.
const MaxGroups = 50_000

// Dimension is a property of attempts whose values make groups. Attempts that do not
// have it, or an empty one, are in none of them.
type Dimension string

// The dimensions. Those that clients name have the contract's words.
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
	ByUser       Dimension = "user"        // the value of UserKey in the metadata
	ByMetadata   Dimension = "metadata"    // the value of Analysis.Key in the metadata
	ByTrace      Dimension = "trace"       // Attempt.TraceID
	ByRetries    Dimension = "retries"     // Attempt.Retries: "2"; of attempts that ended well after retries
	ByUnpriced   Dimension = "unpriced"    // of attempts whose cost is not known, or not all of it: provider, reason and model, "openai unknown_model gpt-x"
	ByScore      Dimension = "score"       // the value of each feedback: "-3"; rows have no figures but those of feedback
)

// UserKey is the key of metadata that names the end user of a request.
const UserKey = "_user"

// MetricSet is a set of figures; some cost more to work out than others.
type MetricSet uint16

// The figures, with the fields of Figures that each fills in.
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

// Metrics are worked out over attempts, each of which is a request in the words of
// analytics. A figure that was not wanted is 0.
// Source: contract/content-and-observability.md 5.2.
type Metrics struct {
	Requests int64
	Errors   int64 // attempts whose status is not 200 to 299
	Cost     int64 // nano-dollars, as far as they are known
	Tokens   int64 // Attempt.Tokens
	Input    int64
	Output   int64
	Latency  time.Duration // sum of Attempt.Duration

	// The least duration that at least so many of a hundred do not exceed, over the rows
	// themselves, at most 1 % off.
	P50, P90, P95, P99 time.Duration

	Users        int64 // distinct values of UserKey in the metadata
	UserRequests int64 // attempts that have one

	ByRetry    int64 // attempts that ended well after at least one retry
	ByFallback int64 // attempts that ended well on a target other than the first: Number above 0

	SimpleHits    int64         // CacheStatus HIT
	SemanticHits  int64         // SEMANTIC HIT
	SimpleSaved   int64         // nano-dollars of SimpleHits (Spend.Saved)
	SemanticSaved int64         // nano-dollars of SemanticHits
	HitLatency    time.Duration // sum over both kinds of hits

	First, Last time.Time // Attempt.Started

	// Of feedback on traces. One that several of the attempts belong to counts once in a
	// row; its bucket is that of the first of them.
	Feedbacks int64
	Judged    int64   // attempts whose trace has feedback
	Weighted  float64 // sum of Feedback.Weighted
}

// Column is a figure by which groups are ordered, in the words of the contract.
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

// AnalysisRow has the figures of a bucket and a value.
type AnalysisRow struct {
	Start time.Time // of the bucket, in UTC; zero without buckets
	Value string    // empty without groups
	Metrics
}

// needs are the figures that a column is made of.
var needs = map[Column]MetricSet{
	ColumnRequests: 0, ColumnCost: MetricCost, ColumnTokens: MetricTokens, ColumnAvgTokens: MetricTokens, ColumnAvgInput: MetricTokens, ColumnAvgOutput: MetricTokens,
	ColumnAvgLatency: MetricLatency, ColumnP95: MetricPercentiles, ColumnP99: MetricPercentiles, ColumnSuccessRate: MetricErrors, ColumnErrors: MetricErrors,
	ColumnHitRate: MetricCache, ColumnLast: MetricSeen, ColumnFirst: MetricSeen,
}

// Needs are the figures that a column is made of: 0 for ColumnRequests. ok is false when
// there is no such column.
func (c Column) Needs() (f MetricSet, ok bool) {
	f, ok = needs[c]
	return f, ok
}

// dimensions are those that there are.
var dimensions = []Dimension{
	ByNothing, ByProvider, ByModel, ByStatus, ByKey, ByConfig, ByWorkspace, ByProviderID, ByPrompt, ByUser, ByMetadata, ByTrace, ByRetries, ByScore, ByUnpriced,
}

// maxZone bounds Analysis.Zone on both sides.
const maxZone = 24 * time.Hour

// Validate refuses, with fault.InvalidParameter naming the parameter of the contract, what
// cannot be worked out.
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

// PageSize is the largest number of rows of the answer, and whether more of them are left
// out: without that they are refused by TooMany.
func (a *Analysis) PageSize() (n int, cut bool) {
	if a.Limit == 0 || a.Limit > MaxGroups {
		return MaxGroups, false
	}
	return a.Limit, true
}

// TooMany is the refusal of an Analysis that has more than MaxGroups rows.
func TooMany() error {
	return fault.Newf(fault.InvalidParameter, "the result exceeds %d rows; narrow the time range or request a page", MaxGroups).WithParam("page_size")
}

// AnalysisPage is the answer to an Analysis. Buckets and values without attempts have no
// row; without both there is always one.
type AnalysisPage struct {
	Rows  []AnalysisRow
	Total int64 // rows without Offset and Limit
}

// BucketsFrom is where buckets are counted from: a Monday.
var BucketsFrom time.Time

// BucketStart is when the nth bucket behind BucketsFrom begins, in UTC.
func (a *Analysis) BucketStart(n int64) time.Time {
	return time.UnixMicro(n*a.Step.Microseconds() + BucketsFrom.UnixMicro() - a.Zone.Microseconds()).UTC()
}

// Complete adds the row that there always is without buckets and values.
func (a *Analysis) Complete(page *AnalysisPage) {
	if a.Step != 0 || a.By != ByNothing || page.Total != 0 {
		return
	}
	page.Total = 1
	if a.Offset == 0 {
		page.Rows = []AnalysisRow{{}}
	}
}

// Hits are those of both kinds.
func (f *Metrics) Hits() int64 { return f.SimpleHits + f.SemanticHits }

// Per is a sum over the number of requests, 0 for none of them.
func (f *Metrics) Per(sum float64) float64 {
	if f.Requests == 0 {
		return 0
	}
	return sum / float64(f.Requests)
}
