package resource

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/semaphore"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
)

// Parts are the dependencies and settings of an Engine. All but Wake are required.
type Parts struct {
	Store    Store
	Identify func(r *http.Request) (*access.Principal, error) // authenticates the caller: fault.Unauthenticated, fault.KeyExpired
	// FindWorkspace finds a workspace of an organisation by id or slug. It returns fault.NotFound
	// if the workspace does not exist or is archived; an archived workspace comes together with
	// the error.
	FindWorkspace func(ctx context.Context, from Reader, orgID, name string) (Record, error)
	Wake          func()          // called after each commit, so that copies refresh at once; may be nil
	Features      map[string]bool // deployment flags by name; a flag that is absent is on
	Proxies       wire.Proxies    // proxies that are trusted to report client addresses; nil for none
	// PerMinute is how many administrative calls each key or user may make in a minute at this
	// node; 0 for no limit.
	PerMinute int
	// Strict makes every call reject the unknown fields and parameters that it otherwise ignores,
	// as HeaderStrict does for one call.
	Strict bool
	// MaxRecords is the maximum number of live records of a kind in a workspace, or in an
	// organisation for kinds that live there; 0 for no limit.
	MaxRecords int
	// KnownField reports whether a provider, a config or a check has a field of that name, such
	// as "openai_project". It applies to objects that accept any field: the audit trail shows the
	// value of a known field unless its name is that of a secret. If it is nil, no field is
	// known.
	KnownField func(name string) bool
	Ingest     *Rate // limits the traffic entries of each workspace; nil for no limit
	Clock      ident.Clock
	Log        *slog.Logger
}

// Deployment flags of the engine.
const (
	featureAPI   = "API_ACCESS_ENABLED"
	featureAudit = "AUDIT_LOGS_ENABLED"
)

// Engine serves the operations of the administration, all in the same order of steps (serve.go).
// It is safe for concurrent use once everything is mounted.
type Engine struct {
	Parts
	routeTable
	doc    *huma.OpenAPI       // nil after OpenAPI returned it
	users  map[string][]usage  // by kind: the kinds that refer to its records
	calls  *Rate               // administrative calls
	after  *semaphore.Weighted // one of maxLateAudits for each error that is audited after its response
	bodies *semaphore.Weighted // maxParsingBytes bytes, for bodies that are being parsed
}

// routeTable finds the operation of a method and path.
type routeTable struct {
	mux    *http.ServeMux
	fixed  *http.ServeMux // paths whose second element is not a placeholder
	routes []string
	// segments are the first segments of all paths, for example "configs". They include those
	// that are served elsewhere.
	segments map[string]bool
	bare     []string          // prefixes of paths that are also served without a version
	secret   map[string]string // by route: the path placeholder that holds a secret
}

// usage is a kind whose records refer to records of another kind.
type usage struct {
	kind, title string
	cascade     bool
}

// Resource is a set of operations that are mounted together: a Kind or a list of Operations.
type Resource interface {
	operations() []Operation
	refers() map[string]usage // by the kind referred to
}

// Operations is a Resource that is not a kind of record.
type Operations []Operation

func (o Operations) operations() []Operation  { return o }
func (o Operations) refers() map[string]usage { return nil }

// New builds an engine and mounts the resources. It panics if two of them have the same route,
// which is a programming error.
func New(p Parts, about huma.Info, resources ...Resource) *Engine {
	e := &Engine{
		Parts: p,
		routeTable: routeTable{
			mux: http.NewServeMux(), fixed: http.NewServeMux(), segments: make(map[string]bool), secret: make(map[string]string),
		},
		doc:    newDescription(about),
		users:  make(map[string][]usage),
		calls:  NewRate(p.PerMinute, "administrative requests"),
		after:  semaphore.NewWeighted(maxLateAudits),
		bodies: semaphore.NewWeighted(maxParsingBytes),
	}
	answers, bodies := make(map[string]*schema), make(map[string]*schema)
	for _, r := range resources {
		for kind, u := range r.refers() {
			e.users[kind] = append(e.users[kind], u)
		}
		for _, op := range r.operations() {
			e.mount(op, answers, bodies)
		}
	}
	e.learnAnswers(answers, bodies)
	return e
}

// mount serves an operation. It records the responses of reads and the bodies of updates by
// path.
func (e *Engine) mount(op Operation, answers, bodies map[string]*schema) {
	body := e.describe(op)
	if response := e.answerOf(op); op.Method == http.MethodGet && response != nil {
		answers[op.Path] = response
	}
	if op.Method == http.MethodPut && body != nil {
		bodies[op.Path] = body
	}
	e.segments[firstSegment(op.Path)] = true
	if op.ExternalRoute {
		return
	}
	e.routes = append(e.routes, op.Method+" "+shown(op.Path))
	if op.Unversioned {
		prefix, _, _ := strings.Cut(op.Path, "{")
		e.bare = append(e.bare, prefix)
	}
	for _, p := range op.Params {
		if p.Secret {
			e.secret[op.Method+" "+op.Path] = p.Name
		}
	}
	e.muxOf(op.Path).HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) { e.serve(w, r, &op, body) })
}

// muxOf separates patterns that conflict in one ServeMux because neither is more specific. For a
// path that matches both "/prompts/partials/{id}" and "/prompts/{id}/versions", the first one
// applies.
func (rt *routeTable) muxOf(path string) *http.ServeMux {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) > 2 && !strings.HasPrefix(parts[2], "{") {
		return rt.fixed
	}
	return rt.mux
}

// Routes lists the mounted routes in order, for example "GET /configs/{slug}".
func (rt *routeTable) Routes() []string {
	return slices.Sorted(slices.Values(rt.routes))
}
