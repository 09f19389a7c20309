package providerjob

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/lease"
)

// These limit the tracking of jobs. They are constants and not settings, because no deployment
// needs other values.
const (
	MaxOpen           = 10_000             // jobs of a deployment; any further job is charged its maximum
	maxAge            = 9 * 24 * time.Hour // Bedrock lets a batch take seven days
	maxRefused        = 5                  // consecutive rejected checks until a job is charged its maximum
	maxChecks         = 4                  // concurrent checks on a node
	maxDue            = 64                 // rows read in one turn
	maxHurried        = 256                // check requests of callers that wait for a turn
	checkLimit        = 5 * time.Minute    // for one check, including reading all results
	leaseTTL          = 20 * time.Second
	turnPause         = 4 * time.Second
	firstPause        = 5 * time.Second // before the first check of a job; it grows by half up to longPause
	longPause         = 5 * time.Minute
	videoPause        = 30 * time.Second
	noCredentialPause = 10 * time.Minute // if this node does not have the credential of the job
	storeLimit        = 2 * time.Second  // how long the creation of a job waits for the database
	settleLimit       = 10 * time.Second
)

// These are the errors of a Checker.
var (
	// ErrRefused means that the provider does not describe the job: the job is unknown there,
	// or the credential is no longer valid.
	ErrRefused = errors.New("the provider rejects requests for the job")
	// ErrNoCredential means that this node does not have the credential of a private job.
	ErrNoCredential = errors.New("the credential of the job is missing on this node")
)

// Result is the result of a job that has ended.
type Result struct {
	Cost   int64 // nano-dollars
	Tokens int64
	// Record writes the log record. It is called once the budgets contain the result.
	Record func()
}

// Checker reads jobs at their providers and bills them. The data plane implements it. It is
// safe for concurrent use.
type Checker interface {
	// CheckJob returns nil while the job is running. It returns ErrRefused, ErrNoCredential,
	// or another error after which it is called again.
	CheckJob(ctx context.Context, j *Job) (*Result, error)
	// AbandonJob returns the result of a job whose end cannot be known: its maximum.
	AbandonJob(j *Job, reason string) *Result
	// ForgetJob drops what is in memory about a job that has ended.
	ForgetJob(j *Job)
}

// Store stores open jobs. It is safe for concurrent use.
type Store interface {
	// AddJob stores a job that is due at a time and charges budgets with its Charges, both or
	// neither. Adding it again changes nothing. Only node may check the job; empty means any
	// node.
	AddJob(ctx context.Context, j *Job, node string, due time.Time) error
	// DueJobs returns the jobs that are due by now, the oldest first, at most limit: those of
	// any node or of this one, and those created before a time whatever their node.
	DueJobs(ctx context.Context, node string, now, created time.Time, limit int) ([]*Job, error)
	// FindJob returns a job as it is now; nil if there is none.
	FindJob(ctx context.Context, id string) (*Job, error)
	// PostponeJob stores the counts of a job and when it is due next.
	PostponeJob(ctx context.Context, j *Job, due time.Time) error
	// SetJobDue makes the job with a Key due at a time, on node if its credential is private,
	// and reports whether there is one.
	SetJobDue(ctx context.Context, key, node string, due time.Time) (bool, error)
	// SettleJob adds deltas to the meters of budgets and marks the job as settled, both or
	// neither, unless it is already settled.
	SettleJob(ctx context.Context, j *Job, now time.Time, deltas []Delta) error
	// DropJob deletes a job. A missing job is not an error.
	DropJob(ctx context.Context, id string) error
	// CountJobs returns the number of open jobs.
	CountJobs(ctx context.Context) (int, error)
}

// Tracker follows open jobs. Open, RequestCheck, Full and Len are safe for concurrent use with
// Run. One goroutine calls Run, or Turn in tests.
type Tracker struct {
	store  Store
	leases lease.Store
	clock  ident.Clock
	log    *slog.Logger
	node   string // UUID of this process
	holder string
	number atomic.Int64
	notice chan string // keys of jobs to be checked, from callers that saw them change
}

// New returns a Tracker. It follows nothing until Run.
func New(s Store, leases lease.Store, clock ident.Clock, log *slog.Logger) *Tracker {
	return &Tracker{store: s, leases: leases, clock: clock, log: log, node: ident.NewID(), holder: lease.Holder(), notice: make(chan string, maxHurried)}
}

// Len returns the number of open jobs of the deployment, as of the last turn. A nil Tracker
// has none.
func (t *Tracker) Len() int {
	if t == nil {
		return 0
	}
	return int(t.number.Load())
}

// Full reports whether a further job cannot be followed. A nil Tracker is always full.
func (t *Tracker) Full() bool {
	return t == nil || t.number.Load() >= MaxOpen
}

// Open charges budgets with the maximum of a job and follows it. It waits for the database for
// up to two seconds, so that the job and its charges are stored before its creation gets a
// response. After an error the job is not followed, and the caller must charge it. Open does
// not retain j.
func (t *Tracker) Open(ctx context.Context, j *Job) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	node := ""
	if j.Private {
		node = t.node
	}
	if err := t.store.AddJob(ctx, j, node, t.clock.Now().Add(firstPause)); err != nil {
		return fmt.Errorf("store job %s: %w", j.ID, err)
	}
	t.number.Add(1)
	return nil
}

// RequestCheck requests a check of the job with a Key in the next turn, because a caller saw
// that it ended. It never waits; excess requests are dropped.
func (t *Tracker) RequestCheck(key string) {
	if t == nil {
		return
	}
	select {
	case t.notice <- key:
	default:
	}
}

// Run follows jobs until ctx ends. Another node, or the next process, follows the jobs that
// are open then.
func (t *Tracker) Run(ctx context.Context, c Checker) error {
	tick := time.NewTicker(turnPause)
	defer tick.Stop()
	for failed := false; ; {
		err := t.Turn(ctx, c)
		switch {
		case err != nil && ctx.Err() == nil && !failed:
			t.log.Warn("cannot read open jobs; retrying", "error", err.Error())
		case err == nil && failed:
			t.log.Info("open jobs readable again; polling restored")
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Turn checks the jobs that are due, at most 64.
func (t *Tracker) Turn(ctx context.Context, c Checker) error {
	now := t.clock.Now()
	if err := t.applyCheckRequests(ctx, now); err != nil {
		return err
	}
	n, err := t.store.CountJobs(ctx)
	if err != nil {
		return err
	}
	t.number.Store(int64(n))
	due, err := t.store.DueJobs(ctx, t.node, now, now.Add(-maxAge), maxDue)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, maxChecks)
	for _, j := range due {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			t.follow(ctx, c, j.ID)
		})
	}
	all.Wait()
	return nil
}

func (t *Tracker) applyCheckRequests(ctx context.Context, now time.Time) error {
	for {
		select {
		case key := <-t.notice:
			if _, err := t.store.SetJobDue(ctx, key, t.node, now); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}
