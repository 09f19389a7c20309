// Package worker runs what has to be done again and again, once for all nodes: keys
// expire, secrets are rotated, mails are sent. One node holds a lease and does the work;
// when it dies another one takes over within 30 s.
//
// A job may be cut off at any point and may run twice: when a node loses the lease while
// it works, another one begins. So each job keeps what it did in the transaction that
// did it, and looks at the store for what is left to do.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/lease"
)

// Job is something to be done again and again.
type Job struct {
	Name  string        // "keys": in the log and the metrics
	Every time.Duration // between the beginnings of two runs; the first is at once
	// Run does what is due. It returns soon after ctx ends; an error is logged, and the
	// job runs again when its time comes.
	Run func(ctx context.Context, now time.Time) error
}

// Lease is the name of the lease: while somebody has it, a gateway runs on the database, or
// did until a moment ago.
const Lease = "worker"

const (
	// A node that dies stops renewing: after leaseTTL the lease is free, and at the latest
	// a beat later another node has it.
	leaseTTL = 20 * time.Second
	beat     = 5 * time.Second
	// lastLimit bounds giving the lease back at the end.
	lastLimit = 5 * time.Second
)

// Runner runs the jobs of one node. Run belongs to one goroutine.
type Runner struct {
	leases  lease.Store
	jobs    []Job
	clock   ident.Clock
	log     *slog.Logger
	metrics *Metrics
	holder  string
	ttl     time.Duration
	due     map[string]time.Time // by job: not before
	leads   bool
}

// New makes a runner; Run starts it. The names of the jobs differ.
func New(leases lease.Store, clock ident.Clock, log *slog.Logger, metrics *Metrics, jobs ...Job) *Runner {
	return &Runner{
		leases: leases, jobs: jobs, clock: clock, log: log, metrics: metrics, holder: lease.Holder(), ttl: leaseTTL, due: make(map[string]time.Time),
	}
}

// Run works until ctx ends, then gives the lease back, so that the next node need not
// wait for its end.
func (r *Runner) Run(ctx context.Context) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	defer r.release(ctx)
	for {
		r.RunDue(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunDue takes or renews the lease and, holding it, runs the jobs that are due, one after
// the other. It reports whether this node has the lease.
func (r *Runner) RunDue(ctx context.Context) bool {
	r.renewLease(ctx)
	if !r.leads {
		return false
	}
	now := r.clock.Now()
	held, stop := lease.Hold(ctx, r.leases, Lease, r.holder, r.ttl)
	defer stop()
	for _, job := range r.jobs {
		if held.Err() == nil && !now.Before(r.due[job.Name]) {
			r.due[job.Name] = now.Add(job.Every)
			r.run(held, job, now)
		}
	}
	return true
}

// renewLease takes or renews the lease, and says so when that changes something.
func (r *Runner) renewLease(ctx context.Context) {
	leads, err := r.leases.TakeLease(ctx, Lease, r.holder, r.ttl)
	if err != nil && ctx.Err() == nil && !fault.Has(err, fault.ReadOnly) {
		r.log.Warn("cannot acquire worker lease; retrying", "error", err.Error())
	}
	if leads != r.leads {
		r.log.Info("worker", "leads", leads)
	}
	r.leads = leads
	if !leads {
		clear(r.due) // whoever has the lease does the work; when it comes back all is looked at anew
	}
	r.metrics.lead(leads)
}

// run runs one job. One that panics does not end the others.
func (r *Runner) run(ctx context.Context, job Job, now time.Time) {
	began := time.Now()
	err := runRecovered(ctx, job, now)
	if ctx.Err() != nil {
		delete(r.due, job.Name) // cut off: the next holder of the lease goes on, which may be this node
		return
	}
	r.metrics.ran(job.Name, err, now, time.Since(began))
	if err != nil && !fault.Has(err, fault.ReadOnly) {
		r.log.Warn("job failed; retrying at its next run", "job", job.Name, "error", err.Error())
	}
}

func runRecovered(ctx context.Context, job Job, now time.Time) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return job.Run(ctx, now)
}

func (r *Runner) release(ctx context.Context) {
	if !r.leads {
		return
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastLimit)
	defer stop()
	if err := r.leases.ReleaseLease(last, Lease, r.holder); err != nil {
		r.log.Warn("cannot release worker lease; it will expire", "error", err.Error())
	}
	r.leads = false
	r.metrics.lead(false)
}
