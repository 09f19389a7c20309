package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/sealed"
)

// Operation is one route of the administration: what the engine checks before it
// runs, and what the published description says of it. Kinds make theirs; what is
// no kind of record (logs, states) is an Operation of its own.
type Operation struct {
	Method  string         // "POST"
	Path    string         // below the version: "/policies/rate-limits/{id}"; a last "{model...}" takes slashes
	ID      string         // unique name: "createRateLimitPolicy"
	Summary string         // "Create a rate-limit policy"
	Tag     string         // heading in the description: "Policies"
	Audited string         // resource type in the audit trail; empty for reads
	Action  string         // action in the audit trail: "create"
	Feature string         // deployment flag whose OFF disables the route
	Scopes  []access.Scope // any of them lets the caller in; with none everybody who is identified
	// Identify replaces that of the engine, for callers that have no API key.
	Identify func(r *http.Request) (*access.Principal, error)
	Params   []Param // what the path's placeholders mean
	Query    []Param
	// Body is a zero value of the type that describes the body, nil for none. Fields that
	// its schema does not have are ignored and named in HeaderWarnings, or refused in a strict
	// call; those of objects within it are always refused.
	Body     any
	Optional bool // the body may be absent
	// MaskedFields says which texts of the body the audit trail must not show, besides those
	// whose names say that they are secrets: the path "configurations", "note".
	MaskedFields func(path []string) bool
	// Many lets the body also be a list of at most so many objects, each as Body
	// describes; Call.Items has them, and of a single object that one.
	Many     int
	MaxBytes int // of the body; 0 means 1 MiB
	// Public lets anybody call it, with no credential: Run finds out who that is, and
	// says so with Become. It has no scopes.
	Public bool
	// Anywhere lets a user who belongs to some workspaces call it without naming one,
	// because it decides by itself about each record that it reads or writes, with May.
	Anywhere bool
	Response any // zero value of the type of the answer; nil means {}
	// Stream is the content type of an answer that is no JSON object, such as
	// "application/x-ndjson": Run then returns a Stream, or a *File of one
	// of the types that are listed here with ", " between them.
	Stream string
	// ExternalRoute says that another part of the program serves the route: it is described, and
	// not mounted. Takes are then the content types of its body, with ", " between them.
	ExternalRoute bool
	Takes         string
	// Unversioned serves the path also without a version before it.
	Unversioned bool
	// Refuse makes the body of a refusal where it differs from that of all others, and
	// Refusal is a zero value of its type.
	Refuse  func(f *fault.Error) any
	Refusal any
	// AnyWorkspace makes workspace_id of the query a filter like any other: what it names
	// may be gone.
	AnyWorkspace bool
	// Archived lets those who may name any workspace name an archived one, by its id.
	Archived bool
	// Run does the work and returns what is answered.
	Run func(ctx context.Context, c *Call) (any, error)
}

// Param is a parameter of a path or query.
type Param struct {
	Name     string
	Doc      string
	Type     string // string (also when empty), integer, number, boolean
	Format   string // "uuid", "date-time"
	Enum     []string
	Default  string
	Min, Max int // of integers and numbers; Max 0 means none
	// MaxLength is the most characters of a string; 0 means no limit of its own.
	MaxLength int
	Required  bool
	Secret    bool // of the path: logs and the audit trail show *** in its place
	Hidden    bool // accepted, but left out of the description: another spelling of a listed parameter
	Repeated  bool // may be there several times; the value is all of them, with commas
}

// Call is an administrative request on its way through the engine. It belongs to
// one goroutine.
type Call struct {
	Principal   *access.Principal
	OrgID       string
	WorkspaceID string // what the call is about; empty when it names no workspace
	RequestID   string
	Now         time.Time
	Sent        Sent   // the body, field by field, without what is ignored; nil in operations with Many
	Items       []Sent // the objects of the body in operations with Many
	// Reader reads what the call may see: in a write, the transaction.
	Reader Reader

	engine *Engine
	op     *Operation
	schema *schema // of the body; nil for an operation without one
	r      *http.Request
	query  map[string]string
	listed bool  // the body was a list
	held   int64 // bytes of Engine.bodies
	trail  trail
	etag   string
	echoes []echo // read-only fields that were sent back
	// compared says that they were held against the record.
	compared bool
	repeats  bool        // the body repeats what the path names
	idle     bool        // a field was sent that changes nothing: a null, or one that is ignored
	strict   bool        // unknown fields and parameters are refused
	header   http.Header // further fields of the answer
	// original are the objects of the body as they were sent, once Sent and Items have lost
	// what is ignored of them; warnings name that.
	original []Sent
	warnings []string
	shared   map[string]any
}

// trail is what the audit row of a call says beyond the request itself.
type trail struct {
	targetID, workspaceID string
	notes                 map[string]any // further facts, without secrets
}

// Target names in the audit trail what a call acted on.
func (c *Call) Target(r Record) { c.trail.targetID, c.trail.workspaceID = r.ID, r.WorkspaceID }

// Note adds a fact to the audit row, for example "rotation_mode": "manual".
func (c *Call) Note(name string, value any) {
	if c.trail.notes == nil {
		c.trail.notes = make(map[string]any)
	}
	c.trail.notes[name] = value
}

// SetPrincipal says who calls a public operation, once that is known: from then on the call
// is theirs, in the audit trail too.
func (c *Call) SetPrincipal(p *access.Principal) { c.Principal, c.OrgID = p, p.OrgID }

// Request is the request as it came, for operations that look at more of it than its
// path, query and body. It must not be changed.
func (c *Call) Request() *http.Request { return c.r }

// Remote is the address of the caller without port, behind proxies that are trusted.
func (c *Call) Remote() string { return c.engine.client(c.r) }

// SetCookie adds a cookie to the answer, also when the call is refused.
func (c *Call) SetCookie(cookie *http.Cookie) {
	if c.header == nil {
		c.header = make(http.Header)
	}
	c.header.Add("Set-Cookie", cookie.String())
}

// Path is the value of a placeholder of the path, unescaped.
func (c *Call) Path(name string) string { return c.r.PathValue(name) }

// Query is the value of a query parameter, its default when it was not sent.
func (c *Call) Query(name string) string { return c.query[name] }

// Int is the value of an integer parameter, 0 when it has none.
func (c *Call) Int(name string) int {
	n, _ := strconv.Atoi(c.query[name]) // checked when the call came in
	return n
}

// Number is the value of a parameter that is a number, 0 when it has none.
func (c *Call) Number(name string) float64 {
	n, _ := strconv.ParseFloat(c.query[name], 64) // checked when the call came in
	return n
}

// May reports whether the caller holds one of the scopes for the target:
// fault.Forbidden when not.
func (c *Call) May(scopes []access.Scope, t access.Target) error {
	return c.anyOf(scopes, func(s access.Scope) error { return access.Can(c.Principal, s, t) })
}

func (c *Call) anyOf(scopes []access.Scope, can func(access.Scope) error) error {
	var first error
	for _, s := range scopes {
		err := can(s)
		if err == nil {
			return nil
		}
		if f := fault.From(err); first == nil || f.Param == "" { // that of the place says more than that of a scope
			first = err
		}
	}
	if f := fault.From(first); len(scopes) > 1 && f.Param != "" {
		return fault.Newf(fault.Forbidden, "the API key has none of the scopes %s", join(scopes, ", ")).WithParam(f.Param)
	}
	return first
}

func join(scopes []access.Scope, by string) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, by)
}

// Holds reports whether the caller may use a scope where the call is about.
func (c *Call) Holds(s access.Scope) bool {
	return access.Can(c.Principal, s, access.Target{OrgID: c.OrgID, WorkspaceID: cmp.Or(c.Principal.WorkspaceID, c.WorkspaceID)}) == nil
}

// Sent is a JSON object as a client sent it, field by field. A field that is not
// in it was not sent; one that was sent as null is "null".
type Sent map[string]json.RawMessage

// Has reports whether a field was sent with a value.
func (s Sent) Has(name string) bool {
	v, ok := s[name]
	return ok && string(v) != "null"
}

// Cleared reports whether a field was sent as null.
func (s Sent) Cleared(name string) bool { return string(s[name]) == "null" }

// Text is the value of a field that is a string, "" when there is none.
func (s Sent) Text(name string) string {
	var v string
	_ = json.Unmarshal(s[name], &v) // the schema was checked; what is no string has no text
	return v
}

// Secret is Text for what must not be printed.
func (s Sent) Secret(name string) sealed.String { return sealed.New(s.Text(name)) }

// Into decodes a field that was sent with a value: fault.InvalidParameter when it
// does not fit.
func (s Sent) Into(name string, to any) error {
	if !s.Has(name) {
		return nil
	}
	if err := json.Unmarshal(s[name], to); err != nil {
		return fault.New(fault.InvalidParameter, "invalid value").WithParam(name).WithCause(err)
	}
	return nil
}
