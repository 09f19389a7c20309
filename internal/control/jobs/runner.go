// Package jobs runs periodic jobs, once for all nodes: keys expire, secrets are rotated,
// emails are sent. One node holds a lease and does the work. If it dies, another node takes
// over within 30 s. Start reading at Runner.
//
// A job may be interrupted at any point and may run twice: if a node loses the lease while it
// works, another one starts. So each job records what it did in the transaction that did it,
// and checks the store for what is left to do.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/lease"
)

// Job is periodic work.
type Job struct {
	Name  string        // "keys": for the log and the metrics
	Every time.Duration // between the starts of two runs; the first starts at once
	// Run does what is due. It must return soon after ctx ends. An error is logged, and the
	// job runs again when it is due next.
	Run func(ctx context.Context, now time.Time) error
}

// Lease is the name of the lease. While it is held, a gateway uses the database, or did until
// a moment ago.
const Lease = "worker"

const (
	// A node that dies stops renewing. After leaseTTL the lease is free, and another node
	// takes it at most one beat later.
	leaseTTL = 20 * time.Second
	beat     = 5 * time.Second
	// lastLimit is the timeout for releasing the lease at the end.
	lastLimit = 5 * time.Second
)

// Runner runs the jobs of one node. Run must be called by one goroutine.
type Runner struct {
	leases  lease.Store
	jobs    []Job
	clock   ident.Clock
	log     *slog.Logger
	metrics *Metrics
	holder  string
	ttl     time.Duration
	due     map[string]time.Time // earliest next run, by job
	leads   bool
}

// New returns a Runner; Run starts it. The names of the jobs must differ.
func New(leases lease.Store, clock ident.Clock, log *slog.Logger, metrics *Metrics, jobs ...Job) *Runner {
	return &Runner{
		leases: leases, jobs: jobs, clock: clock, log: log, metrics: metrics, holder: lease.Holder(), ttl: leaseTTL, due: make(map[string]time.Time),
	}
}

// Run works until ctx ends, then releases the lease, so that the next node need not wait until
// it expires.
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

// RunDue takes or renews the lease and, if it has it, runs the jobs that are due, one after
// another. It reports whether this node has the lease.
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

// renewLease takes or renews the lease, and logs a change.
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
		clear(r.due) // the holder of the lease does the work; if this node gets it again, it checks every job
	}
	r.metrics.lead(leads)
}

// run runs one job. A panic does not end the others.
func (r *Runner) run(ctx context.Context, job Job, now time.Time) {
	began := time.Now()
	err := runRecovered(ctx, job, now)
	if ctx.Err() != nil {
		delete(r.due, job.Name) // interrupted: the next holder of the lease, which may be this node, continues
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
