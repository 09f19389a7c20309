package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

const (
	txLimit   = 30 * time.Second      // one try of a transaction, from start to end
	maxTries  = 8                     // of a transaction or statement that the engine wants repeated
	firstWait = 10 * time.Millisecond // before the second try; doubled for each further one
)

var _ resource.Tx = (*tx)(nil)

// tx is one try of one transaction. It belongs to the goroutine that InTx called.
type tx struct {
	reads
	changes []newChange
	audits  []auditRow
	failed  error // the first write that failed; after one, nothing is committed
}

// InTx runs f in a transaction on the writer and commits if f returns nil. f may run up to eight
// times, so it must have no effects outside its Tx, and it must not call InTx. Writes of one
// transaction see each other. A failed write fails the complete transaction, even if f returns
// nil.
//
// Errors: those of f; Conflict; ReadOnly while the writer is down (immediately in HADR mode), has
// no disk space or a failing disk, or is a file that another process locks for longer than
// busyTimeout. If the writer goes down during the commit, InTx returns ReadOnly too, and it is
// unknown whether the transaction was committed.
func (s *database) InTx(ctx context.Context, f func(resource.Tx) error) error {
	if s.isKnownUnavailable() {
		return fault.New(fault.ReadOnly, "")
	}
	err := s.engine.retry(ctx, func() error { return s.once(ctx, f) })
	return s.noteWriter(ctx, err)
}

// isKnownUnavailable reports whether a write would be rejected without trying the writer.
func (s *database) isKnownUnavailable() bool { return s.hadr && s.write.isRecentlyUnavailable() }

// noteWriter converts an error of a writer that is missing, full, failing or locked to ReadOnly.
// It records the state, so that the next write need not detect it again.
func (s *database) noteWriter(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	switch s.engine.verdictOn(err) {
	case full:
		s.recordWriteBlock(noDiskSpace, err)
	case failing:
		s.recordWriteBlock(badDisk, err)
	case again:
		if !s.engine.local {
			return err
		}
		s.recordWriteBlock(locked, err)
	case unavailable:
		if !errors.Is(err, context.DeadlineExceeded) { // that may be a lock that was held for long
			s.seen(s.write, err)
		}
	default:
		return err
	}
	return fault.Wrap(fault.ReadOnly, err)
}

func (s *database) once(ctx context.Context, f func(resource.Tx) error) error {
	limited, cancel := s.engine.withLimit(ctx, txLimit)
	defer cancel()
	conn, release, err := s.begin(ctx, limited)
	if s.write.dropStaleConns(s.engine, err) {
		conn, release, err = s.begin(ctx, limited)
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer release()
	ran := false
	defer func() { // also after a panic of f
		if !ran {
			_ = conn.Rollback() // the server discards the transaction in any case
		}
	}()
	t := &tx{reads: reads{db: conn, engine: s.engine}}
	if err := t.run(limited, f); err != nil {
		return err
	}
	ran = true
	if err := conn.Commit(); err != nil {
		return s.engine.fault("commit", err)
	}
	if len(t.changes) > 0 {
		s.recordWriteBlock("", nil)
	}
	return nil
}

// begin begins a transaction, which ends with limited. With a single writer, transactions queue
// in order of arrival: the pool would pick any waiting one, so some would wait for many others. A
// waiting caller may cancel. release admits the next one.
func (s *database) begin(ctx, limited context.Context) (conn bun.Tx, release func(), err error) {
	release = func() {}
	if s.engine.local {
		waiting, cancel := context.WithTimeout(ctx, txLimit)
		defer cancel()
		if err := s.line.Acquire(waiting, 1); err != nil {
			return conn, nil, err
		}
		release = func() { s.line.Release(1) }
	}
	if conn, err = s.writer.BeginTx(limited, &sql.TxOptions{Isolation: s.engine.isolation}); err != nil {
		release()
	}
	return conn, release, err
}

// run calls f, and adds its rows to the audit trail and its changes to the feed.
func (t *tx) run(ctx context.Context, f func(resource.Tx) error) error {
	if err := f(t); err != nil {
		return err
	}
	if t.failed != nil {
		return t.failed
	}
	return t.close(ctx)
}

// close adds the audit rows and the changes as the last step before the commit. Writers of all
// nodes wait for each other here, so it is short.
func (t *tx) close(ctx context.Context) error {
	return t.step(ctx, "add to the audit trail and the change feed", func(ctx context.Context, _ bun.IDB) error {
		links, err := t.chain(ctx)
		if err != nil {
			return err
		}
		return t.all(ctx, append(links, t.published()...)...)
	})
}

// step runs a write, and records its error so that the transaction cannot commit.
func (t *tx) step(ctx context.Context, doing string, f func(context.Context, bun.IDB) error) error {
	if t.failed != nil {
		return t.failed
	}
	t.failed = t.runStep(ctx, doing, func(ctx context.Context) error { return f(ctx, t.db) })
	return t.failed
}

// retry calls f until it succeeds, fails permanently or reaches the maximum number of tries. It
// does not wait again for a file that stayed locked for as long as SQLite waits automatically.
func (e *engine) retry(ctx context.Context, f func() error) error {
	began, wait := time.Now(), firstWait
	for try := 1; ; try++ {
		err := f()
		if err == nil || try == maxTries || e.verdictOn(err) != again || e.local && time.Since(began) >= busyTimeout {
			return err
		}
		// Jitter, so that two conflicting transactions do not conflict again.
		timer := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait *= 2
	}
}
