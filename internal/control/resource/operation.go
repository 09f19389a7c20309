package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// Operation is one route of the administration: what the engine checks before it runs, and what
// the published API description contains about it. Kinds create theirs. A route without a kind
// of record (logs, states) is an Operation of its own. It has one field for each property, so that
// an operation reads as one list.
type Operation struct {
	Method  string         // "POST"
	Path    string         // path below the version: "/policies/rate-limits/{id}"; a last "{model...}" may contain slashes
	ID      string         // unique name: "createRateLimitPolicy"
	Summary string         // "Create a rate-limit policy"
	Tag     string         // heading in the description: "Policies"
	Audited string         // resource type in the audit trail; empty for reads
	Action  string         // action in the audit trail: "create"
	Feature string         // deployment flag whose OFF disables the route
	Scopes  []access.Scope // the caller needs any one of them; empty admits every authenticated caller
	// Identify replaces the engine's identification, for callers that do not have an API key.
	Identify func(r *http.Request) (*access.Principal, error)
	Params   []Param // the path's placeholders
	Query    []Param
	// Body is a zero value of the type that describes the body, nil for none. Fields that are
	// not in its schema are ignored and listed in HeaderWarnings, or rejected in a strict call.
	// Unknown fields of objects within the body are always rejected.
	Body     any
	Optional bool // the body may be absent
	// MaskedFields reports which strings of the body the audit trail must not show, in addition
	// to those whose names mark them as secrets: the path "configurations", "note".
	MaskedFields func(path []string) bool
	// Many lets the body also be a list of at most that many objects, each as Body describes.
	// Call.Items contains them; for a body that is a single object, it contains that one.
	Many     int
	MaxBytes int // limit for the body; 0 means 1 MiB
	// Public lets a caller without a credential call it. Run identifies the caller and calls
	// SetPrincipal. The operation has no scopes.
	Public bool
	// Anywhere lets a user who belongs to some workspaces call it without naming one, because
	// Run checks each record that it reads or writes with May.
	Anywhere bool
	Response any // zero value of the type of the response; nil means {}
	// Stream is the content type of a response that is not a JSON object, such as
	// "application/x-ndjson". Run then returns a Stream, or a *File of one of the types that are
	// listed here, separated by ", ".
	Stream string
	// ExternalRoute means that another part of the program serves the route: it is described,
	// but not mounted. Takes then lists the content types of its body, separated by ", ".
	ExternalRoute bool
	Takes         string
	// Unversioned also serves the path without a version in front of it.
	Unversioned bool
	// Refuse builds the body of an error response that differs from the usual one, and Refusal
	// is a zero value of its type.
	Refuse  func(f *fault.Error) any
	Refusal any
	// AnyWorkspace makes workspace_id in the query an ordinary filter: the workspace that it
	// names may not exist any more.
	AnyWorkspace bool
	// Archived lets callers that may name any workspace name an archived one, by its id.
	Archived bool
	// Run does the work and returns the response.
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
	Min, Max int // limits of integers and numbers; Max 0 means no maximum
	// MaxLength is the maximum number of characters of a string; 0 means no limit of its own.
	MaxLength int
	Required  bool
	Secret    bool // for path parameters: logs and the audit trail show *** instead of the value
	Hidden    bool // accepted, but not in the description: another spelling of a listed parameter
	Repeated  bool // may occur several times; the value is all of them, separated by commas
}

// Call is an administrative request that the engine is processing. It belongs to one goroutine.
type Call struct {
	Principal   *access.Principal
	OrgID       string
	WorkspaceID string // workspace that the call is about; empty when it names none
	RequestID   string
	Now         time.Time
	Sent        Sent   // fields of the body, without ignored ones; nil in operations with Many
	Items       []Sent // objects of the body in operations with Many
	// Reader reads the records that the call can see; in a write, it is the transaction.
	Reader Reader

	engine *Engine
	schema *schema // schema of the body; nil for an operation without one
	incomingRequest
	sentBody
	ignoredParts
	trail
	responseHeader
	shared map[string]any
}

// incomingRequest is the request of a call.
type incomingRequest struct {
	op    *Operation
	r     *http.Request
	query map[string]string // parameters of op, with defaults
}

// sentBody is the state of the body of a request, without its fields.
type sentBody struct {
	listed  bool  // the body was a list
	held    int64 // bytes acquired from Engine.bodies
	repeats bool  // the body repeats values from the path
	idle    bool  // a field was sent that changes nothing: a null, or an ignored one
	// original contains the objects of the body as they were sent, once ignored fields are
	// removed from Sent and Items. The warnings name those fields.
	original []Sent
}

// ignoredParts are the fields and parameters of a request that the call ignores.
type ignoredParts struct {
	strict bool   // unknown fields and parameters are rejected instead
	echoes []echo // read-only fields that the client sent back
	// compared means that the echoes were compared with the record.
	compared bool
	warnings []string
}

// responseHeader contains the fields that a call adds to the header of its response.
type responseHeader struct {
	etag   string
	header http.Header // additional fields
}

// trail is what the audit row of a call contains in addition to the request itself.
type trail struct {
	targetID, targetWorkspaceID string
	notes                       map[string]any // additional facts, without secrets
}

// Target records in the audit trail the record that a call acted on.
func (t *trail) Target(r Record) { t.targetID, t.targetWorkspaceID = r.ID, r.WorkspaceID }

// Note adds a fact to the audit row, for example "rotation_mode": "manual".
func (t *trail) Note(name string, value any) {
	if t.notes == nil {
		t.notes = make(map[string]any)
	}
	t.notes[name] = value
}

// SetPrincipal sets the caller of a public operation, once it is identified. From then on the
// call is attributed to that caller, in the audit trail too.
func (c *Call) SetPrincipal(p *access.Principal) { c.Principal, c.OrgID = p, p.OrgID }

// Request returns the original request, for operations that need more of it than its path, query
// and body. It must not be changed.
func (in *incomingRequest) Request() *http.Request { return in.r }

// Remote returns the address of the caller without port. Behind trusted proxies it is that of
// the client.
func (c *Call) Remote() string { return c.engine.client(c.r) }

// SetCookie adds a cookie to the response, also to an error response.
func (h *responseHeader) SetCookie(cookie *http.Cookie) {
	if h.header == nil {
		h.header = make(http.Header)
	}
	h.header.Add("Set-Cookie", cookie.String())
}

// Path returns the value of a placeholder of the path, unescaped.
func (in *incomingRequest) Path(name string) string { return in.r.PathValue(name) }

// Query returns the value of a query parameter, or its default when it was not sent.
func (in *incomingRequest) Query(name string) string { return in.query[name] }

// Int returns the value of an integer parameter, 0 when it has none.
func (in *incomingRequest) Int(name string) int {
	n, _ := strconv.Atoi(in.query[name]) // checked when the call arrived
	return n
}

// Number returns the value of a number parameter, 0 when it has none.
func (in *incomingRequest) Number(name string) float64 {
	n, _ := strconv.ParseFloat(in.query[name], 64) // checked when the call arrived
	return n
}

// May returns nil if the caller has one of the scopes for the target, else fault.Forbidden.
func (c *Call) May(scopes []access.Scope, t access.Target) error {
	return anyOf(scopes, func(s access.Scope) error { return access.Can(c.Principal, s, t) })
}

func anyOf(scopes []access.Scope, can func(access.Scope) error) error {
	var first error
	for _, s := range scopes {
		err := can(s)
		if err == nil {
			return nil
		}
		if f := fault.From(err); first == nil || f.Param == "" { // an error about the target is more specific than one about a scope
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

// Holds reports whether the caller may use a scope in the workspace that the call is about.
func (c *Call) Holds(s access.Scope) bool {
	return access.Can(c.Principal, s, access.Target{OrgID: c.OrgID, WorkspaceID: cmp.Or(c.Principal.WorkspaceID, c.WorkspaceID)}) == nil
}

// Sent is a JSON object as a client sent it, field by field. A field that was not sent is
// absent; one that was sent as null is "null".
type Sent map[string]json.RawMessage

// Has reports whether a field was sent with a value.
func (s Sent) Has(name string) bool {
	v, ok := s[name]
	return ok && string(v) != "null"
}

// Cleared reports whether a field was sent as null.
func (s Sent) Cleared(name string) bool { return string(s[name]) == "null" }

// Text returns the value of a string field, "" when there is none.
func (s Sent) Text(name string) string {
	var v string
	_ = json.Unmarshal(s[name], &v) // the schema was checked; a value that is not a string has no text
	return v
}

// Secret is Text for a value that must not be printed.
func (s Sent) Secret(name string) sealed.String { return sealed.New(s.Text(name)) }

// Into decodes a field that was sent with a value. A value that does not fit is
// fault.InvalidParameter.
func (s Sent) Into(name string, to any) error {
	if !s.Has(name) {
		return nil
	}
	if err := json.Unmarshal(s[name], to); err != nil {
		return fault.New(fault.InvalidParameter, "invalid value").WithParam(name).WithCause(err)
	}
	return nil
}
