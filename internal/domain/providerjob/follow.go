package providerjob

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"sluice/internal/kernel/lease"
)

// follow checks one job under its lease, so that only one node does.
func (t *Tracker) follow(ctx context.Context, c Checker, id string) {
	name := "job " + id
	acquired, err := t.leases.TakeLease(ctx, name, t.holder, leaseTTL)
	if err != nil || !acquired {
		return // another node has it, or the next turn tries again
	}
	held, stop := lease.Hold(ctx, t.leases, name, t.holder, leaseTTL)
	err = t.checkHeld(held, c, id)
	stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	if released := t.leases.ReleaseLease(end, name, t.holder); err == nil {
		err = released
	}
	if err != nil && ctx.Err() == nil {
		t.log.Warn("cannot check open job; retrying", "job", id, "error", err.Error())
	}
}

// checkHeld checks a job whose lease this node has.
func (t *Tracker) checkHeld(ctx context.Context, c Checker, id string) error {
	j, err := t.store.FindJob(ctx, id) // another node may have changed it
	if err != nil || j == nil {
		return err
	}
	r, err := t.check(ctx, c, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := t.clock.Now()
	j.Checks++
	switch {
	case err == nil && r != nil:
		return t.settle(ctx, c, j, r)
	case err == nil:
		j.Refused = 0
	case errors.Is(err, ErrRefused):
		j.Refused++
	default:
		t.log.Info("cannot read open job; retrying", "job", j.ID, "kind", string(j.Kind), "provider", j.Provider, "request_id", j.RequestID, "error", err.Error())
	}
	reason := ""
	if j.Refused >= maxRefused {
		reason = "the provider rejects requests for the job"
	} else if now.Sub(j.Created) >= maxAge {
		reason = "the job did not finish within nine days"
	}
	if reason == "" {
		return t.store.PostponeJob(ctx, j, now.Add(pause(j, err)))
	}
	t.log.Warn("gave up polling open job; charging its maximum cost", "job", j.ID, "kind", string(j.Kind), "provider", j.Provider, "upstream_id", j.UpstreamID, "request_id", j.RequestID, "reason", reason)
	return t.settle(ctx, c, j, c.AbandonJob(j, reason))
}

// check calls CheckJob with a timeout. A panic becomes an error.
func (t *Tracker) check(ctx context.Context, c Checker, j *Job) (r *Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("panic while checking job; retrying", "job", j.ID, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.CheckJob(ctx, j)
}

// settle replaces the maximum of a job with its result. The budgets change in the transaction
// that marks the job as settled, so they change once. The log record follows, and the row is
// deleted last. If the process dies before that, the next check writes the record.
func (t *Tracker) settle(ctx context.Context, c Checker, j *Job, r *Result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	if !j.Settled {
		if err := t.store.SettleJob(ctx, j, t.clock.Now(), j.deltas(r.Cost, r.Tokens)); err != nil {
			return fmt.Errorf("finish job %s: %w", j.ID, err)
		}
	}
	r.Record()
	c.ForgetJob(j)
	t.number.Add(-1)
	if err := t.store.DropJob(ctx, j.ID); err != nil {
		return fmt.Errorf("drop job %s: %w", j.ID, err)
	}
	return nil
}

// pause returns the time until the next check. It grows with every check.
func pause(j *Job, err error) time.Duration {
	if errors.Is(err, ErrNoCredential) {
		return noCredentialPause
	}
	maxPause := longPause
	if j.Kind == Video {
		maxPause = videoPause
	}
	p := firstPause
	for range j.Checks {
		if p += p / 2; p >= maxPause {
			return maxPause
		}
	}
	return p
}
