package resource

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/semaphore"

	"sluice/internal/access"
	"sluice/internal/ident"
	"sluice/internal/wire"
)

// Parts are what an Engine works with. All but Wake are needed.
type Parts struct {
	Store    Store
	Identify func(r *http.Request) (*access.Principal, error) // who calls: fault.Unauthenticated, fault.KeyExpired
	// FindWorkspace finds a workspace of an organisation by id or slug; fault.NotFound when
	// there is none, or it is archived: that one comes together with the error.
	FindWorkspace func(ctx context.Context, from Reader, orgID, name string) (Record, error)
	Wake          func()          // called after each commit, so that copies refresh at once; may be nil
	Features      map[string]bool // deployment flags by name; a flag that is absent is on
	Proxies       wire.Proxies    // who is believed about the addresses of callers; nil for nobody
	// PerMinute is how many administrative calls each key or user may make in a minute at
	// this node; 0 for no limit.
	PerMinute int
	// Strict makes every call refuse the unknown fields and parameters that it otherwise
	// ignores, as HeaderStrict does for one.
	Strict bool
	// MaxRecords is how many living records of a kind there may be in a workspace, or of one
	// that lives in the organisation there; 0 for no limit.
	MaxRecords int
	// KnownField reports whether a field of an object that takes any field is one that a
	// provider, a config or a check has, so that the audit trail shows its value unless
	// the name is that of a secret: "openai_project". Nil knows none.
	KnownField func(name string) bool
	Ingest     *Rate // of the entries of traffic of each workspace; nil for no limit
	Clock      ident.Clock
	Log        *slog.Logger
}

// The deployment flags that concern the engine itself.
const (
	featureAPI   = "API_ACCESS_ENABLED"
	featureAudit = "AUDIT_LOGS_ENABLED"
)

// Engine serves the operations of the administration, each in the same order of
// steps (serve.go). Safe for concurrent use once everything is mounted.
type Engine struct {
	Parts
	mux    *http.ServeMux
	fixed  *http.ServeMux // of paths whose second element is no placeholder
	doc    *huma.OpenAPI  // until it is published
	routes []string
	// segments are the first segments of all paths, those that are served elsewhere included:
	// "configs".
	segments map[string]bool
	bare     []string            // prefixes of paths that are served without a version too
	users    map[string][]usage  // by kind: who refers to records of it
	secret   map[string]string   // by route: the placeholder of its path that holds a secret
	calls    *Rate               // of the administration
	after    *semaphore.Weighted // one of maxLateAudits for each refusal that is written after its answer
	bodies   *semaphore.Weighted // maxParsingBytes bytes, for bodies that are taken apart
}

// usage is a kind whose records refer to those of another one.
type usage struct {
	kind, title string
	cascade     bool
}

// Resource is a set of operations that are mounted together: a Kind, or a List of
// operations.
type Resource interface {
	operations() []Operation
	refers() map[string]usage // by the kind referred to
}

// Operations are a Resource that is no kind of record.
type Operations []Operation

func (o Operations) operations() []Operation  { return o }
func (o Operations) refers() map[string]usage { return nil }

// New makes an engine and mounts the resources. It panics when two of them claim
// one route: a programmer's mistake.
func New(p Parts, about huma.Info, resources ...Resource) *Engine {
	e := &Engine{
		Parts:    p,
		mux:      http.NewServeMux(),
		fixed:    http.NewServeMux(),
		doc:      newDescription(about),
		users:    make(map[string][]usage),
		segments: make(map[string]bool),
		secret:   make(map[string]string),
		calls:    NewRate(p.PerMinute, "administrative requests"),
		after:    semaphore.NewWeighted(maxLateAudits),
		bodies:   semaphore.NewWeighted(maxParsingBytes),
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

// mount serves an operation. It notes the answers of reads and the bodies of updates by path.
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

// muxOf keeps apart what one ServeMux would not take together, because neither pattern
// is the more special one: of "/prompts/partials/{id}" and "/prompts/{id}/versions" the
// first counts for a path that fits both.
func (e *Engine) muxOf(path string) *http.ServeMux {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) > 2 && !strings.HasPrefix(parts[2], "{") {
		return e.fixed
	}
	return e.mux
}

// Routes lists what is mounted, as "GET /configs/{slug}", in order.
func (e *Engine) Routes() []string {
	return slices.Sorted(slices.Values(e.routes))
}
