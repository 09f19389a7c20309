package managedbatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/lease"
)

// These limit the work. They are constants and not settings, because no deployment needs other values.
const (
	maxRunning    = 8               // batches that a node works on at once
	maxDue        = 64              // batches read in one turn
	turnPause     = 4 * time.Second // between turns without a request
	leaseTTL      = 20 * time.Second
	retryPause    = 15 * time.Second // before a failed step is repeated
	sweepInterval = time.Hour
	endLimit      = 10 * time.Second // for writes after the context has ended
)

// Run works on batches until ctx ends. Each batch has a lease, so one node works on it. Another node,
// or the next process, continues where this one stops.
func (s *Service) Run(ctx context.Context) error {
	tick, sweep := time.NewTicker(turnPause), time.NewTicker(sweepInterval)
	defer tick.Stop()
	defer sweep.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for failed := false; ; {
		err := s.turn(ctx, &all)
		switch {
		case err != nil && ctx.Err() == nil && !failed:
			s.Log.Warn("cannot read batches that are due; retrying", "error", err.Error())
		case err == nil && failed:
			s.Log.Info("batches readable again")
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
			if err := s.Store.SweepBatches(ctx, s.Clock.Now()); err != nil && ctx.Err() == nil {
				s.Log.Warn("cannot delete expired batches; retrying in an hour", "error", err.Error())
			}
		case <-tick.C:
		case <-s.wake:
		}
	}
}

// requestTurn makes Run look for batches now. It does not wait.
func (s *Service) requestTurn() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// turn starts the work on batches that are due, unless this node works on them already.
func (s *Service) turn(ctx context.Context, all *sync.WaitGroup) error {
	ids, err := s.Store.DueBatches(ctx, s.Clock.Now(), maxDue)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !s.begin(id) {
			continue
		}
		all.Go(func() {
			defer s.leave(id)
			s.follow(ctx, id)
		})
	}
	return nil
}

// begin reports whether this node may start to work on a batch.
func (s *Service) begin(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] || len(s.running) >= maxRunning {
		return false
	}
	s.running[id] = true
	return true
}

func (s *Service) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
}

// follow works on a batch under its lease until it has ended or waits for something.
func (s *Service) follow(ctx context.Context, id string) {
	name := "batch " + id
	acquired, err := s.Leases.TakeLease(ctx, name, s.holder, leaseTTL)
	if err != nil || !acquired {
		return // another node has it, or the next turn tries again
	}
	held, stop := lease.Hold(ctx, s.Leases, name, s.holder, leaseTTL)
	err = s.steps(held, id)
	if err != nil && held.Err() == nil {
		s.Log.Warn("cannot work on batch; retrying", "batch", id, "error", err.Error())
		s.postpone(held, id)
	}
	stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	if err := s.Leases.ReleaseLease(end, name, s.holder); err != nil {
		s.Log.Info("cannot release the lease of a batch; it expires", "batch", id, "error", err.Error())
	}
}

// postpone sets the next step of a batch to a later time.
func (s *Service) postpone(ctx context.Context, id string) {
	_, err := s.Store.UpdateBatch(ctx, id, func(b *batch.Batch) (*batch.Added, error) {
		b.Due = s.Clock.Now().Add(retryPause)
		return nil, nil
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Info("cannot postpone batch; retrying at once", "batch", id, "error", err.Error())
	}
}

// steps makes steps of a batch while it is due. A panic becomes an error.
func (s *Service) steps(ctx context.Context, id string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic while working on batch; retrying", "batch", id, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for ctx.Err() == nil {
		b, err := s.Store.FindBatch(ctx, "", id)
		if err != nil {
			return err
		}
		if b.State.Ended() || b.Due.After(s.Clock.Now()) {
			return nil
		}
		if err := s.step(ctx, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// step makes the next step of a batch.
func (s *Service) step(ctx context.Context, b *batch.Batch) error {
	switch {
	case b.End.State != "":
		return s.finish(ctx, b)
	case b.State == batch.Cancelling && b.Upstream.BatchID == "":
		return s.end(ctx, b, batch.End{State: batch.Cancelled, Code: "batch_cancelled", Message: "the batch was cancelled before this line was sent"})
	case b.State == batch.Validating:
		return s.validate(ctx, b)
	case !b.Delegated():
		return s.runLines(ctx, b)
	case b.Upstream.Status != "":
		return s.postProcess(ctx, b)
	}
	return s.poll(ctx, b)
}

// end decides how a batch ends. The next step finishes it.
func (s *Service) end(ctx context.Context, b *batch.Batch, e batch.End, problems ...batch.Problem) error {
	_, err := s.Store.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		for _, p := range problems {
			b.AddProblem(p)
		}
		b.EndAs(e, s.Clock.Now())
		return nil, nil
	})
	return err
}

// revoked decides the end of a batch whose key is not valid any more.
func (s *Service) revoked(ctx context.Context, b *batch.Batch) error {
	p := batch.Problem{Code: "key_revoked", Message: "the API key that created the batch is not valid any more; create the batch again with a valid key"}
	return s.end(ctx, b, batch.End{State: batch.Failed, Code: p.Code, Message: p.Message}, p)
}

// inputFile returns the input of a batch; nil after it was deleted or has expired, which ends the batch.
func (s *Service) inputFile(ctx context.Context, b *batch.Batch) (*batch.File, error) {
	f, err := s.Store.FindFile(ctx, b.WorkspaceID, b.InputFileID, s.Clock.Now())
	if fault.Has(err, fault.NotFound) {
		return nil, errInputGone
	}
	return f, err
}

// errInputGone reports that the input file was deleted or has expired.
var errInputGone = errors.New("the input file was deleted or has expired")

// withoutInput decides the end of a batch whose input is gone; other errors it returns.
func (s *Service) withoutInput(ctx context.Context, b *batch.Batch, err error) error {
	if !errIsInputGone(err) {
		return err
	}
	return s.end(ctx, b, batch.End{State: batch.Failed}, batch.Problem{Code: "input_file_missing", Message: errInputGone.Error(), Param: "input_file_id"})
}

func errIsInputGone(err error) bool {
	return errors.Is(err, errInputGone) || fault.Has(err, fault.NotFound)
}

// caller returns the key whose rights the calls of a batch have.
func (s *Service) caller(b *batch.Batch) Caller {
	return Caller{OrgID: b.OrgID, WorkspaceID: b.WorkspaceID, KeyID: b.KeyID, KeyHash: b.KeyHash}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
