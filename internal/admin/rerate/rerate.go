// Package rerate bills recorded attempts again at the prices of now, and corrects what
// budgets were charged for them.
//
// A correction is one entry of the journal. The row of the attempt and the meters of its
// budgets follow it, each exactly once, as they follow the records of attempts: so a
// process that is killed at any instant leaves attempts that are corrected wholly and
// attempts that are not, and the same order given again corrects the rest.
package rerate

import (
	"context"
	"sync"
	"time"

	"sluice/internal/catalog"
	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/record"
)

// Logs is the request log: *logstore.Store.
type Logs interface {
	// Billed returns a page of the attempts that may have cost something.
	Billed(ctx context.Context, q record.Query) (record.BilledPage, error)
	// WaitIngested returns when everything that is in the journal is in the log.
	WaitIngested(ctx context.Context) error
}

// Journal is where corrections go: *journal.Journal.
type Journal interface {
	// AppendCorrection returns once the correction would survive the death of the process.
	AppendCorrection(c *record.Correction) error
}

// Prices know what models cost: *catalog.Book.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
	// Ready returns when the list of a provider was read.
	Ready(ctx context.Context, provider string) error
}

// Accounts are the saved providers and virtual keys as they are now: *live.Snapshot.
type Accounts interface {
	FindAccount(workspace, slug string) *credential.Account // nil when there is none
	Agreement(a *credential.Account) *catalog.PriceOverrides
}

// Parts are what an Engine works with; all are needed.
type Parts struct {
	Logs     Logs
	Journal  Journal
	Prices   Prices
	Accounts func() Accounts // the newest
	Clock    ident.Clock
}

// Engine re-rates. Safe for concurrent use.
type Engine struct {
	Parts

	mu   sync.Mutex               // guards busy
	busy map[string]chan struct{} // organisations that are being re-rated; closed when that has ended
}

// New makes an Engine.
func New(p Parts) *Engine { return &Engine{Parts: p, busy: make(map[string]chan struct{})} }

// Order says which attempts are re-rated, and for whom. Empty fields select everything but
// OrgID, which must be given.
type Order struct {
	OrgID         string
	From, To      time.Time // start of the attempt; From is inclusive, To is not
	WorkspaceID   string
	Provider      string // "openai"
	Model         string // asked of the provider
	IntegrationID string // of the saved provider, as that is now
	By            string // id of the user or API key that asks for it
}

// Outcome is what came of an order. Amounts are nano-dollars.
type Outcome struct {
	Operation string // UUID; corrections name it
	Attempts  int    // Number of attempts that were billed again, Unpriced ones among them
	Changed   int    // those of them that cost something else
	Unpriced  int    // those of them that stay as they are because not all of their price is known
	Left      int    // attempts that stay as they are because it is not known what they used or who was charged
	Before    int64  // what budgets were charged for Attempts
	After     int64  // what they cost now
	Changes   []Change
}

// maxChanges bounds the changes that are shown.
const maxChanges = 100

// Change is an attempt that costs something else.
type Change struct {
	ID            string // of the log
	Started       time.Time
	Before, After record.Rated
}

// Try says what Run would do and changes nothing.
func (e *Engine) Try(ctx context.Context, o Order) (Outcome, error) {
	return e.plan(ctx, o, ident.NewID())
}

// plan works out what an order changes. An earlier one may have left corrections in the
// journal that the log does not have yet.
func (e *Engine) plan(ctx context.Context, o Order, operation string) (Outcome, error) {
	if err := e.Logs.WaitIngested(ctx); err != nil {
		return Outcome{}, late(err)
	}
	return e.pass(ctx, o, operation, false)
}

// Run re-rates. It works out first what it will do, and asks approve, whose error ends it;
// only then it corrects. When it returns, the log shows the costs of now, and budgets
// follow within seconds. Of an organisation there is one at a time: a further one waits.
// fault.Overloaded when the journal takes no more; what was corrected until an error stays,
// and the same order corrects the rest.
func (e *Engine) Run(ctx context.Context, o Order, approve func(Outcome) error) (Outcome, error) {
	if err := e.acquire(ctx, o.OrgID); err != nil {
		return Outcome{}, err
	}
	defer e.release(o.OrgID)
	operation := ident.NewID()
	plan, err := e.plan(ctx, o, operation)
	if err != nil {
		return Outcome{}, err
	}
	if err := approve(plan); err != nil {
		return Outcome{}, err
	}
	out, err := e.pass(ctx, o, operation, true)
	if err != nil {
		return Outcome{}, err
	}
	return out, late(e.Logs.WaitIngested(ctx))
}

// acquire waits until nobody else re-rates an organisation, or ctx ends.
func (e *Engine) acquire(ctx context.Context, org string) error {
	for {
		e.mu.Lock()
		ended := e.busy[org]
		if ended == nil {
			e.busy[org] = make(chan struct{})
		}
		e.mu.Unlock()
		if ended == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fault.New(fault.Conflict, "another re-rating of this organisation is running; retry when it has finished").WithCause(ctx.Err())
		case <-ended:
		}
	}
}

func (e *Engine) release(org string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.busy[org])
	delete(e.busy, org)
}

// late is the refusal of what has to wait for the log.
func late(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Overloaded, "the request log is overloaded; retry shortly").WithCause(err)
}
