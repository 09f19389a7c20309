package record

import (
	"strings"
	"time"

	"sluice/internal/kernel/fault"
)

// Query selects attempts. Empty fields select everything but OrgID, which must be
// given: no query crosses organisations. Order is by start and id.
// Source: contract/content-and-observability.yaml, GET /logs.
type Query struct {
	OrgID                string
	WorkspaceID          string   // empty: all workspaces of the organisation
	TraceIDs             []string // any
	SpanIDs              []string // any
	RequestID            string
	From                 time.Time         // start of the attempt, inclusive
	To                   time.Time         // exclusive
	Statuses             []StatusRange     // any of them
	Models               []string          // any; asked of the upstream
	Providers            []string          // any; "openai"
	Pairs                []Pair            // any
	KeyIDs               []string          // any
	UserID               string            // only what was made with keys of this user
	Configs              []string          // any; slugs or ids as they were recorded
	ProviderIDs          []string          // any; slugs of saved providers
	PromptSlugs          []string          // any
	CacheStatuses        []string          // any; "SEMANTIC HIT"
	Metadata             map[string]string // all pairs
	Total, Input, Output Range             // of tokens, as the log shows them
	Cost                 Range             // nano-dollars; a cost that nobody knows is in no range
	Weighted             FloatRange        // average of Feedback.Weighted of the trace; none is in no range
	After                Cursor            // after the last row of the previous page
	Offset               int               // for page numbers; not together with After
	Limit                int               // 1 to MaxLimit; 0 means DefaultLimit, more is cut
	Newest               bool              // newest first
	ByArrival            bool              // in the order in which the log store took the rows, the first one first; not together with Newest
	Count                bool              // fill Page.Total
}

// Range selects numbers, both ends included; a nil end is open.
type Range struct{ Min, Max *int64 }

// Has reports whether a number is in the range.
func (r Range) Has(n int64) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// Open reports whether both ends are open.
func (r Range) Open() bool { return r.Min == nil && r.Max == nil }

// FloatRange is a Range of numbers with fractions.
type FloatRange struct{ Min, Max *float64 }

// Has is as Range.Has.
func (r FloatRange) Has(n float64) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// Open is as Range.Open.
func (r FloatRange) Open() bool { return r.Min == nil && r.Max == nil }

// Pair is a model at a provider.
type Pair struct{ Provider, Model string }

// ParsePairs reads a comma list of provider__model, for example
// "openai__gpt-4o,anthropic__claude-sonnet-4". An empty text does not filter. It rejects
// anything else with fault.InvalidParameter.
// Source: contract/content-and-observability.yaml, AnalyticsFilters.ai_org_model.
func ParsePairs(text string) (out []Pair, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		provider, model, found := strings.Cut(entry, "__")
		if !found {
			return nil, fault.New(fault.InvalidParameter, "each entry must be provider__model, such as openai__gpt-4o").WithParam("ai_org_model")
		}
		out = append(out, Pair{provider, model})
	}
	return out, nil
}

// Limits of a page of logs.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// PageSize is Limit within its bounds.
func (q Query) PageSize() int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

// Page is a slice of the log. Rows have no body bytes; the other fields of their
// bodies are there.
type Page struct {
	Rows  []Attempt
	Next  Cursor // empty on the last page
	Total int64  // rows that match, without After and Limit; 0 unless Query.Count
	// Arrived are the places of the rows in the order of arrival, each to be given as
	// Query.After; nil unless Query.ByArrival. A row that arrives later comes after all
	// that were ever read. Rows taken before that order was kept are on no such page.
	Arrived []Cursor
}

// Position is a place between two records of the journal. The zero Position is
// its beginning. Only Seq need be stored.
type Position struct {
	Seq    uint64 // of the next record
	Offset int64  // hint where it stands in its segment; 0 when not known
}
