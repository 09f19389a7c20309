// Package admin is the administration interface: one file per kind of record, each
// saying what the resource engine must know about it, and the few routes that are
// no kind (logs, circuit breakers, the description of the interface itself).
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/api"
	"sluice/internal/access"
	"sluice/internal/admin/rerate"
	"sluice/internal/audit"
	"sluice/internal/credential"
	"sluice/internal/deployment"
	"sluice/internal/ident"
	"sluice/internal/identity"
	"sluice/internal/keys"
	"sluice/internal/mail"
	"sluice/internal/provider"
	"sluice/internal/record"
	"sluice/internal/record/replay"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/sealed"
	"sluice/internal/tenant"
	"sluice/internal/wire"
)

// Parts are what the administration works with. All are needed unless it says
// otherwise.
type Parts struct {
	Store    resource.Store
	Box      *sealed.Sealer
	Hasher   *keys.Hasher
	Identify func(r *http.Request) (*access.Principal, error) // fault.Unauthenticated, fault.KeyExpired
	Wake     func()                                           // called after each committed change; may be nil
	Clock    ident.Clock
	Log      *slog.Logger
	Version  string // of the program, for the description: "1.0.0"

	KeyPrefix string // of new API keys: "sk-"
	// ConsoleURL is where people reach the console, without a slash at the end:
	// "https://gateway.example.com". Links in mails begin with it.
	ConsoleURL string
	// MCPURL is where clients reach tool servers, without a slash at the end:
	// "https://mcp.example.com". Behind it stand the slug of a server and "/mcp".
	MCPURL     string
	LocalLogin bool // people sign in with e-mail and password
	Passwords  *identity.Passwords
	Throttle   *identity.LoginThrottle // of logins
	Invites    *identity.LoginThrottle // of acceptances of invitations
	Features   map[string]bool         // deployment flags by name, "POLICY_ENABLED"; absent is on
	Specs      Specs
	Guard      Guard
	Secrets    Secrets
	Limits     routing.Limits
	Logs       Logs
	Journal    Journal // takes custom logs
	// Replay sends a request of the log again for the caller of r, with an API key that
	// pays for it: that of r when the value is empty. An error is the refusal of a request
	// that came to no target.
	Replay          func(r *http.Request, key sealed.String, remote string, call *replay.Call) (*replay.Outcome, error)
	Models          Models
	Rerate          *rerate.Engine
	Exports         ExportFiles
	ExportRetention time.Duration // how long the file of a log export is kept
	// LogRetention is how long the deployment keeps what is logged: nobody may ask for
	// longer.
	LogRetention tenant.Retention
	// RetentionShown is how long bodies and records are kept, as people are shown it.
	RetentionShown RetentionShown
	// BodyLogBytes is how much is kept of each body of a custom log.
	BodyLogBytes int
	// Deployments are the most gateways of each type that an organisation may register;
	// a type that is absent has no limit.
	Deployments map[deployment.Type]int
	Outside     *http.Client // for addresses that callers name: keeps from private ones
	Breakers    func(workspaceID string) []routing.BreakerState
	// Draining reports whether the program is about to stop: answers without an end then
	// end. Nil means never.
	Draining func() bool

	// Mail hands letters to a mail server; nil when there is none: mails then wait in
	// the outbox. Letters writes them; only jobs need it.
	Mail      Mailer
	Templates *mail.TemplateSet

	// PerMinute is how many administrative requests each key or user may send in a minute
	// to this node; 0 for no limit.
	PerMinute int
	// MaxRecords is how many records of a kind a workspace, or the organisation, may have;
	// 0 for no limit.
	MaxRecords int
	// StrictRequests refuses unknown fields and parameters of every request.
	StrictRequests bool
	Ingest         *resource.Rate // of the entries that each workspace sends: feedback, custom logs; nil for no limit

	Meters      Meters
	Audit       AuditTrail
	AuditSigner *audit.Signer
	Proxies     wire.Proxies // who is believed about the addresses of callers; may be nil
}

// RetentionShown are the retentions, in days, that consoles show to people; what is kept is
// Parts.LogRetention.
type RetentionShown struct{ Bodies, Metrics int }

// Secrets reads from external secret managers: *secretref.Reader.
type Secrets interface {
	// Read returns the values of fields by their names; fault.SecretUnavailable.
	Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error)
}

// Specs knows the providers: *provider.Table.
type Specs interface {
	// Find returns the provider with an id or alias.
	Find(name string) (*provider.Spec, bool)
	// All lists the providers in the order of their ids; they must not be changed.
	All() []*provider.Spec
}

// Guard judges URLs that callers name: *netguard.Guard.
type Guard interface {
	// CheckURL refuses with fault.InvalidRequest or fault.AddressRefused.
	CheckURL(raw string) error
	// TakesStoredKeys reports whether the operator lets stored credentials go to the host
	// and port of a URL.
	TakesStoredKeys(raw string) bool
	// MayReceive reports whether a stored credential may go to a URL: to the origin of one
	// that it is saved with, or where TakesStoredKeys lets it.
	MayReceive(raw string, saved ...string) bool
}

// Logs is the request log.
type Logs interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies; fault.NotFound when there is none
	// in the organisation or, unless it is empty, in the workspace.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
	// Search is List of the attempts one of whose bodies holds a text, as far as it came.
	Search(ctx context.Context, q record.Query, text string) (record.Found, error)
	// Corrections are those of the cost of an attempt, the oldest first.
	Corrections(ctx context.Context, id string) ([]record.Correction, error)
	// Analyse works out figures; fault.InvalidParameter for more than record.MaxGroups rows.
	Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error)
}

// Admin serves the administration. Safe for concurrent use.
type Admin struct {
	engine *resource.Engine
	spec   []byte // description of the interface, JSON
}

// New mounts everything. Two kinds that claim one route are a programmer's mistake and
// panic.
func New(p Parts) *Admin {
	e := newEngine(p)
	_ = e.OpenAPI() // published from the folder api; this one is released
	return &Admin{engine: e, spec: api.Description(p.Version)}
}

// Describe returns the description of the operations as their types give it, from which
// the published one is generated.
func Describe(p Parts) *huma.OpenAPI { return newEngine(p).OpenAPI() }

func newEngine(p Parts) *resource.Engine {
	k := deps{p, new(tails)}
	return resource.New(resource.Parts{
		Store: p.Store, Identify: p.Identify, FindWorkspace: findWorkspace, Wake: p.Wake, Features: p.Features, Proxies: p.Proxies, PerMinute: p.PerMinute, Strict: p.StrictRequests, MaxRecords: p.MaxRecords, Ingest: p.Ingest,
		KnownField: knownFields(), Clock: p.Clock, Log: p.Log,
	}, huma.Info{
		Title:       "Sluice",
		Version:     p.Version,
		License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		Description: "Model routes and administration API of a Sluice gateway. Every path is served under /v1; administration is also served under /v2. Admin keys select a workspace with workspace_id; a workspace key belongs to one workspace.",
	}, k.list()...)
}

// Await waits until the audit trail has what was answered before it was written: for the
// end of the program, once it takes no more calls. The error is that of ctx.
func (a *Admin) Await(ctx context.Context) error { return a.engine.Await(ctx) }

// Description is the published description of the interface: OpenAPI 3.1 as JSON.
func (a *Admin) Description() []byte { return a.spec }

// ShownPath is a path as logs may show it: secrets in it are masked.
func (a *Admin) ShownPath(method, path string) string { return a.engine.ShownPath(method, path) }
