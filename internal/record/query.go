package record

import "time"

// Query selects attempts. Empty fields select everything but OrgID, which must be
// given: no query crosses organisations. Order is by start and id.
// Source: contract/content-and-observability.yaml, GET /logs.
type Query struct {
	OrgID                string
	WorkspaceID          string // empty: all workspaces of the organisation
	TraceID              string
	RequestID            string
	From                 time.Time     // start of the attempt, inclusive
	To                   time.Time     // exclusive
	Statuses             []StatusRange // any of them
	Models               []string      // any; asked of the upstream
	Providers            []string      // any; "openai"
	KeyIDs               []string      // any
	UserID               string        // only what was made with keys of this user
	Configs              []string      // any; slugs or ids as they were recorded
	ProviderIDs          []string      // any; slugs of saved providers
	Total, Input, Output Range         // of tokens, as the log shows them
	After                Cursor        // behind the last row of the page before
	Offset               int           // for page numbers; not together with After
	Limit                int           // 1 to MaxLimit; 0 means DefaultLimit, more is cut
	Newest               bool          // newest first
	Count                bool          // fill Page.Total
}

// Range selects numbers, both ends included; a nil end is open.
type Range struct{ Min, Max *int64 }

// Has reports whether a number is in the range.
func (r Range) Has(n int64) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
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
}

// Position is a place between two records of the journal. The zero Position is
// its beginning. Only Seq need be stored.
type Position struct {
	Seq    uint64 // of the next record
	Offset int64  // hint where it stands in its segment; 0 when not known
}
