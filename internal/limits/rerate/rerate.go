// Package rerate bills recorded attempts again at present prices, and corrects the charges of
// budgets. Start reading at Engine.Run.
//
// A correction is one entry of the journal. The row of the attempt and the meters of its budgets
// apply it exactly once, as they do with the records of attempts. If the process is killed at
// any moment, each attempt is either corrected completely or unchanged, and repeating the order
// corrects the rest.
package rerate

import (
	"context"
	"sync"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
)

// Logs is the request log: *requestlog.Store.
type Logs interface {
	// Billed returns a page of the attempts that may have cost something.
	Billed(ctx context.Context, q record.Query) (record.BilledPage, error)
	// WaitIngested returns when everything in the journal is in the log.
	WaitIngested(ctx context.Context) error
}

// Journal stores corrections: *journal.Journal.
type Journal interface {
	// AppendCorrection returns once the correction would survive a crash of the process.
	AppendCorrection(c *record.Correction) error
}

// Prices looks up the prices of models: *catalog.PriceList.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
	// Ready returns when the price list of a provider has been read.
	Ready(ctx context.Context, provider string) error
}

// Accounts are the present saved providers and virtual keys: *live.Snapshot.
type Accounts interface {
	FindAccount(workspace, slug string) *credential.Account // nil if it does not exist
	Agreement(a *credential.Account) *catalog.PriceOverrides
}

// Parts are the dependencies of an Engine; all are required.
type Parts struct {
	Logs     Logs
	Journal  Journal
	Prices   Prices
	Accounts func() Accounts // the newest snapshot
	Clock    ident.Clock
}

// Engine re-rates attempts. It is safe for concurrent use.
type Engine struct {
	Parts

	mu   sync.Mutex               // guards busy
	busy map[string]chan struct{} // organisations that are being re-rated; closed when done
}

// New returns an Engine.
func New(p Parts) *Engine { return &Engine{Parts: p, busy: make(map[string]chan struct{})} }

// Order selects the attempts to re-rate, and names the caller. Empty fields select everything;
// OrgID is required.
type Order struct {
	OrgID         string
	From, To      time.Time // start of the attempt; From is inclusive, To is not
	WorkspaceID   string
	Provider      string // "openai"
	Model         string // requested from the provider
	IntegrationID string // of the saved provider as it is now
	By            string // id of the user or API key that requests it
}

// Outcome is the result of an order. Amounts are nano-dollars.
type Outcome struct {
	Operation string // UUID, which the corrections contain
	Attempts  int    // attempts that were billed again, including Unpriced ones
	Changed   int    // of Attempts: those with another cost
	Unpriced  int    // of Attempts: unchanged, because their price is not fully known
	Left      int    // attempts left unchanged because their usage or their charges are unknown
	Before    int64  // what budgets were charged for Attempts
	After     int64  // what Attempts cost now
	Changes   []Change
}

// maxChanges limits the changes in an Outcome.
const maxChanges = 100

// Change is an attempt whose cost changes.
type Change struct {
	ID            string // id in the log
	Started       time.Time
	Before, After record.Rated
}

// Try returns what Run would do and changes nothing.
func (e *Engine) Try(ctx context.Context, o Order) (Outcome, error) {
	return e.plan(ctx, o, ident.NewID())
}

// plan computes what an order changes. An earlier order may have left corrections in the journal
// that the log does not have yet.
func (e *Engine) plan(ctx context.Context, o Order, operation string) (Outcome, error) {
	if err := e.Logs.WaitIngested(ctx); err != nil {
		return Outcome{}, late(err)
	}
	return e.pass(ctx, o, operation, false)
}

// Run re-rates attempts. It first computes the changes and calls approve, whose error ends the
// run; only then it makes corrections. When Run returns, the log shows the new costs, and
// budgets follow within seconds. An organisation has one run at a time; further ones wait. The
// error is fault.Overloaded if the journal accepts no more entries. Corrections made before an
// error remain, and repeating the order corrects the rest.
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

// acquire waits until no other run re-rates the organisation, or ctx ends.
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

// late converts an error from waiting for the log to fault.Overloaded; nil for nil.
func late(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Overloaded, "the request log is overloaded; retry shortly").WithCause(err)
}
