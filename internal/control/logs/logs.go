// Package logs is the part of the administration that reads and writes the request log: lists,
// the tail, replays, custom logs, feedback, analytics and exports. It also serves the audit trail
// and bills recorded requests again. Start reading at Resources.
package logs

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/rerate"
	"sluice/internal/provider"
)

// Deps are the dependencies and settings of the area. All are required unless the comment states
// otherwise.
type Deps struct {
	Box   *sealed.Sealer
	Clock ident.Clock
	Log   *slog.Logger

	Logs      RequestLog
	Analytics Analytics
	// Draining reports whether the program is shutting down: tails then end. Nil means never.
	Draining func() bool

	Journal      Journal // receives custom logs
	BodyLogBytes int     // maximum number of bytes stored of each body of a custom log

	// Replay sends a logged request again for the caller of r. The API key pays for it; if it is
	// empty, that of r does. An error means that the request was rejected before it reached a
	// target.
	Replay func(r *http.Request, key sealed.String, remote string, call *replay.Call) (*replay.Outcome, error)
	// MayEditKey reports whether the caller may change a service key of a workspace.
	MayEditKey func(c *resource.Call, r *resource.Row[keys.Key]) bool
	// ConfigVersions returns the versions of a config's text, newest first, by the id of the
	// config.
	ConfigVersions func(ctx context.Context, from resource.Reader, id string) ([]ConfigVersion, error)

	Exports         ExportFiles
	ExportRetention time.Duration // how long the file of a log export is stored
	// ConsoleURL is the public address of the console, without a trailing slash:
	// "https://gateway.example.com". Download addresses begin with it.
	ConsoleURL string

	Rerate    *rerate.Engine
	Providers Providers

	Audit       AuditTrail
	AuditSigner *audit.Signer
}

// RequestLog reads the request log.
type RequestLog interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies. It returns fault.NotFound if the organisation
	// does not have it or, unless workspaceID is empty, if the workspace does not.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
	// Search lists the attempts with a body that contains a text. It may stop before the end, see
	// record.Found.
	Search(ctx context.Context, q record.Query, text string) (record.Found, error)
	// Corrections returns the cost corrections of an attempt, oldest first.
	Corrections(ctx context.Context, id string) ([]record.Correction, error)
}

// Analytics computes statistics of the request log.
type Analytics interface {
	// Analyse computes statistics; more than record.MaxGroups rows is fault.InvalidParameter.
	Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error)
}

// Providers looks up providers: *provider.Table.
type Providers interface {
	// Find returns the provider with an id or alias.
	Find(name string) (*provider.Spec, bool)
}

// ConfigVersion is a version of a config's text.
type ConfigVersion struct {
	ID    string
	Began time.Time // when the text was saved
}

// Resources returns everything that the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{
		attempts{d}.routes(),
		tailer{d, new(tails)}.routes(),
		replayer{d}.routes(),
		customLogs{d}.routes(),
		feedback{d}.routes(),
		telemetry(),
		exports{d}.kind(),
		exports{d}.files(),
		analytics{d}.routes(),
		rerating{d}.routes(),
		auditLogs{d}.routes(),
	}
}

// Handlers of the area, by what they serve.
type (
	attempts  struct{ Deps } // list and details of the log
	replayer  struct{ Deps }
	analytics struct{ Deps }
	feedback  struct{ Deps }
	exports   struct{ Deps }
	auditLogs struct{ Deps }
	rerating  struct{ Deps }
	// customLogs receives records of calls that were made outside the gateway.
	customLogs struct{ Deps }
	// tailer streams new entries of the log.
	tailer struct {
		Deps
		open *tails
	}
)
