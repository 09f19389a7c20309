// Package providerjobs accounts for work that providers finish long after they accepted it:
// batches, fine-tuning jobs and videos. It computes the maximum cost of the call that creates a
// job, starts to poll the job, and bills the job when it has ended. Package providerjob has the
// stored job, its tracker and the rules of providers' formats. Start reading at Jobs.
package providerjobs

import (
	"context"
	"log/slog"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/boundedcache"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

// Snapshot is an immutable snapshot of the control plane. *live.Snapshot implements it.
type Snapshot interface {
	Accounts
	Limits
}

// Accounts looks up workspaces and their saved providers.
type Accounts interface {
	FindWorkspace(id string) *tenant.Scope
	FindAccount(workspace, slug string) *credential.Account
	Agreement(account *credential.Account) *catalog.PriceOverrides // nil: list prices apply; nil for a nil account
}

// Limits looks up the limits that apply to a caller.
type Limits interface {
	Limits(kind, id string) *quota.Plan // never nil
	IntegrationLimits(integration, workspace string) *quota.Plan
	Policies(workspace string) *quota.Policies
}

// Prices looks up what models cost. *catalog.PriceList implements it.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
	ContextLimits(provider, model string) catalog.ContextLimits
}

// Limiter counts the tokens of finished jobs. *quota.Limiter and *redis.Limiter implement it.
type Limiter interface {
	Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error)
	Settle(now time.Time, holds []quota.Hold, used []int64)
}

// Upstream makes the calls that the gateway needs for a job.
type Upstream interface {
	// Get reads a path below /v1 at a provider, such as "/batches/batch_abc". It runs the same
	// steps as a caller's request, so the response has the caller's format, whatever the
	// provider's format is. The call is not recorded and counts against no limit. The user of
	// the response must close it.
	Get(ctx context.Context, key *keys.Entry, by *Access, path string) (*Response, error)
}

// Recorder stores the records of finished jobs.
type Recorder interface {
	// RecordJob writes a record to the journal and counts it in the metrics.
	RecordJob(r *record.Attempt)
}

// Deps are the dependencies and settings of Jobs. All are required, except Tracker.
type Deps struct {
	Snapshot       func() Snapshot // the newest one
	Prices         Prices
	Limiter        Limiter
	Upstream       Upstream
	Recorder       Recorder
	Tracker        *providerjob.Tracker // nil: no job is polled; each is charged its maximum cost
	Counter        *tokens.Counter
	Clock          ident.Clock
	Log            *slog.Logger
	MaxUploadBytes int64 // of an input file
	MaxBodyBytes   int   // of a recorded description of a job
	AllowUnpriced  bool  // jobs of unknown cost are allowed even if a cost budget applies
}

// maxCountedFiles is the maximum number of input files whose counted usage a node stores.
const maxCountedFiles = 10_000

// Jobs accounts for the jobs that callers create at providers. It is safe for concurrent use.
type Jobs struct {
	Deps
	files    *boundedcache.Cache[string, *providerjob.Input] // counted input files, by fileKey
	accesses *boundedcache.Cache[string, *Access]            // of private jobs, by providerjob.Key
}

// New returns a Jobs that uses the given dependencies.
func New(d Deps) *Jobs {
	return &Jobs{Deps: d, files: boundedcache.New[string, *providerjob.Input](maxCountedFiles), accesses: boundedcache.New[string, *Access](providerjob.MaxOpen)}
}
