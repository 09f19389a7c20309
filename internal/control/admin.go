// Package control is the administration API. It joins the areas in the folders below it. Each area
// defines its resources and jobs; areas.go builds the dependencies of each area. Start reading at
// New.
package control

//go:generate go test -run ^TestOpenAPI_PublishedFileIsCurrent$ -update

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/api"
	"sluice/internal/control/budgets"
	"sluice/internal/control/configs"
	"sluice/internal/control/credentials"
	"sluice/internal/control/directory"
	"sluice/internal/control/logs"
	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/deployment"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/rerate"
	"sluice/internal/provider"
)

// Parts are the dependencies and settings of the administration. All are required unless the
// comment states otherwise.
type Parts struct {
	Store    resource.Store
	Box      *sealed.Sealer
	Hasher   *keys.Hasher
	Identify func(r *http.Request) (*access.Principal, error) // fault.Unauthenticated, fault.KeyExpired
	Wake     func()                                           // called after each committed change; may be nil
	Clock    ident.Clock
	Log      *slog.Logger
	Version  string // program version, for the description: "1.0.0"

	KeyPrefix string // prefix of new API keys: "sk-"
	// ConsoleURL is the public address of the console, without a trailing slash:
	// "https://gateway.example.com". Links in mails begin with it.
	ConsoleURL string
	// MCPURL is the public address of tool servers, without a trailing slash:
	// "https://mcp.example.com". The slug of a server and "/mcp" follow it.
	MCPURL   string
	Features map[string]bool // deployment flags by name, "POLICY_ENABLED"; a flag that is absent is on

	Specs   Specs
	Guard   Guard
	Outside *http.Client // for addresses that callers name; blocks private addresses
	Secrets Secrets
	Models  credentials.Models
	Checks  *guardrail.Table // the checks that guardrails may name
	Meters  budgets.Meters
	// Deployments is the maximum number of gateways of each type that an organisation may
	// register; a type that is absent has no limit.
	Deployments map[deployment.Type]int

	Requests   RequestRules
	SignIn     SignIn
	RequestLog RequestLog
	Audit      AuditLog
	Configs    ConfigRules
	Mail       Mail
}

// RequestRules are the limits and checks of administrative requests.
type RequestRules struct {
	// PerMinute is how many administrative requests each key or user may send in a minute to this
	// node; 0 for no limit.
	PerMinute int
	// MaxRecords is how many records of a kind a workspace or the organisation may have; 0 for no
	// limit.
	MaxRecords int
	// Strict rejects unknown fields and parameters.
	Strict  bool
	Ingest  *resource.Rate // limits the entries of each workspace: feedback, custom logs; nil for no limit
	Proxies wire.Proxies   // proxies that are trusted to report client addresses; may be nil
}

// SignIn is how users sign in to the console.
type SignIn struct {
	Local     bool // with e-mail and password
	Passwords *identity.Passwords
	Throttle  *identity.LoginThrottle // limits logins
	Invites   *identity.LoginThrottle // limits acceptances of invitations
}

// RequestLog is the log of model requests, with its replays, exports, cost corrections and retention.
type RequestLog struct {
	Logs    Logs
	Journal logs.Journal // receives custom logs
	// Replay sends a logged request again for the caller of r. The API key pays for it; if it is
	// empty, that of r does. An error means that the request was rejected before it reached a
	// target.
	Replay          func(r *http.Request, key sealed.String, remote string, call *replay.Call) (*replay.Outcome, error)
	Rerate          *rerate.Engine
	Exports         logs.ExportFiles
	ExportRetention time.Duration // how long the file of a log export is stored
	// Retention is how long the deployment stores logs; no organisation or workspace may set more.
	Retention tenant.Retention
	// RetentionShown is how long bodies and records are stored, as consoles show it.
	RetentionShown people.RetentionShown
	// MaxBodyBytes is the maximum number of bytes stored of each body of a custom log.
	MaxBodyBytes int
	// Draining reports whether the program is shutting down: endless responses then end. Nil
	// means never.
	Draining func() bool
}

// AuditLog is the log of changes, and the key that signs its checkpoints.
type AuditLog struct {
	Trail  logs.AuditTrail
	Signer *audit.Signer
}

// ConfigRules are the limits of configs, and the state of their circuit breakers on this node.
type ConfigRules struct {
	Limits routing.Limits
	// Breakers returns the circuit breakers of a workspace's configs.
	Breakers func(workspaceID string) []routing.BreakerState
	// CachePurger removes responses from the response cache; nil if there is none.
	CachePurger configs.CachePurger
	// Trials runs guardrails on texts and recorded bodies; nil if guardrails are off.
	Trials configs.Trials
}

// Mail sends emails. Only jobs use it.
type Mail struct {
	Sender    people.Mailer // nil if there is no mail server; emails then wait in the outbox
	Templates *mail.TemplateSet
}

// Secrets reads from external secret managers: *secretmanager.Reader.
type Secrets interface {
	// Read returns the values of fields by their names; the error is fault.SecretUnavailable.
	Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error)
}

// Specs looks up providers: *provider.Table.
type Specs interface {
	// Find returns the provider with an id or alias.
	Find(name string) (*provider.Spec, bool)
	// All lists the providers in the order of their ids. Callers must not change them.
	All() []*provider.Spec
}

// Guard checks URLs that callers name: *netguard.Guard.
type Guard interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
	// TakesStoredKeys reports whether the operator allows stored credentials for the host and
	// port of a URL.
	TakesStoredKeys(raw string) bool
	// MayReceive reports whether a stored credential may be sent to a URL: to the origin of a URL
	// that is saved with it, or where TakesStoredKeys allows it.
	MayReceive(raw string, saved ...string) bool
}

// Logs is the request log.
type Logs interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies. It returns fault.NotFound if the organisation
	// does not have it or, unless workspaceID is empty, if the workspace does not.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
	// Search lists the attempts with a body that contains a text. It may stop before the end, see
	// record.Found.
	Search(ctx context.Context, q record.Query, text string) (record.Found, error)
	// Corrections returns the cost corrections of an attempt, oldest first.
	Corrections(ctx context.Context, id string) ([]record.Correction, error)
	// Analyse computes statistics; more than record.MaxGroups rows is fault.InvalidParameter.
	Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error)
}

// Admin serves the administration. It is safe for concurrent use.
type Admin struct {
	engine *resource.Engine
	spec   []byte // description of the interface as JSON
}

// New mounts all routes. It panics if two kinds have the same route, which is a programming
// error.
func New(p Parts) *Admin {
	e := newEngine(p)
	_ = e.OpenAPI() // the published one comes from the folder api; this one is released
	return &Admin{engine: e, spec: api.Description(p.Version)}
}

// Describe returns the description of the operations as their types give it. The published
// description is generated from it.
func Describe(p Parts) *huma.OpenAPI { return newEngine(p).OpenAPI() }

func newEngine(p Parts) *resource.Engine {
	k := newDeps(p)
	return resource.New(resource.Parts{
		Store: p.Store, Identify: p.Identify, FindWorkspace: directory.FindWorkspace, Wake: p.Wake, Features: p.Features,
		Proxies: p.Requests.Proxies, PerMinute: p.Requests.PerMinute, Strict: p.Requests.Strict, MaxRecords: p.Requests.MaxRecords, Ingest: p.Requests.Ingest,
		KnownField: knownFields(p.Checks), Clock: p.Clock, Log: p.Log,
	}, huma.Info{
		Title:       "Sluice",
		Version:     p.Version,
		License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		Description: "Model routes and administration API of a Sluice gateway. Every path is served under /v1; administration is also served under /v2. Admin keys select a workspace with workspace_id; a workspace key belongs to one workspace.",
	}, k.list()...)
}

// Await waits until the audit trail contains the rows of all responses that were sent before
// their row. It is for shutdown, after the program has stopped accepting calls. The error is
// that of ctx.
func (a *Admin) Await(ctx context.Context) error { return a.engine.Await(ctx) }

// Description returns the published description of the interface: OpenAPI 3.1 as JSON.
func (a *Admin) Description() []byte { return a.spec }

// ShownPath returns a path for logs, with its secrets masked.
func (a *Admin) ShownPath(method, path string) string { return a.engine.ShownPath(method, path) }
