package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

const (
	checkEvery = time.Second     // how often Run looks at each handle
	checkLimit = 5 * time.Second // how long one look may take
)

// errReadOnlyServer means that the writer's address leads to a replica.
var errReadOnlyServer = errors.New("the server accepts no writes")

// The words of Health.Status.
const (
	OK       = "ok"       // both handles answer
	Degraded = "degraded" // reads go on, writes are refused: HADR mode, a full or failing disk, or a locked file
	Down     = "down"     // no reads, or no writes outside of HADR mode
)

// Health is the state of the handles as last seen by Run or by a write that found
// no writer.
type Health struct {
	Status string // OK, Degraded or Down
	Writer bool
	Reader bool
	Detail string // "writer away since 2026-11-20T10:00:00Z"; empty when OK
}

// side is one handle and what is known of it.
type side struct {
	name  string // "writer" or "reader"
	db    *sql.DB
	idle  int
	query string // answers "0" when all is well

	mu               sync.Mutex // guards what follows
	unavailableSince time.Time  // since when; zero while it answers
	failedAt         time.Time  // when it was last found away
	writeBlockedBy   string     // what writes meet in the writer, noDiskSpace, badDisk or locked; empty while they get through
	since            time.Time  // from when on they do
}

// Run watches both handles until ctx ends and returns nil then. It is what makes
// Health current, what lets writes through again once the writer is back, and on SQLite
// what keeps writers from the work that others may do.
func (s *Store) Run(ctx context.Context) error {
	var both sync.WaitGroup
	for _, x := range []*side{s.write, s.read} {
		both.Go(func() { s.watch(ctx, x) })
	}
	if s.engine.tend != nil {
		both.Go(func() { s.engine.tend(ctx, s.read.db, s.log) })
	}
	both.Wait()
	return nil
}

func (s *Store) watch(ctx context.Context, x *side) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.check(ctx, x)
		}
	}
}

// check asks a handle for a sign of life and keeps the result.
func (s *Store) check(ctx context.Context, x *side) { s.recordCheck(ctx, x, s.probe(ctx, x)) }

// recordCheck keeps what a look came to, unless it says nothing about the server.
func (s *Store) recordCheck(ctx context.Context, x *side, err error) {
	if ctx.Err() == nil && !x.busy(err) {
		s.seen(x, err)
	}
}

// probe asks a handle for a sign of life.
func (s *Store) probe(ctx context.Context, x *side) error {
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	var state string
	err := x.db.QueryRowContext(limited, x.query).Scan(&state)
	if err == nil && state != "0" && state != "OFF" {
		err = errReadOnlyServer
		x.drop() // new connections may lead to the new primary, the idle ones never will
	}
	return err
}

// busy reports whether the look came to nothing only because every connection was
// at work, which says nothing about the server.
func (x *side) busy(err error) bool {
	st := x.db.Stats()
	return errors.Is(err, context.DeadlineExceeded) && st.InUse >= st.MaxOpenConnections
}

// seen keeps the state of a handle and logs the change of it, not each look.
func (s *Store) seen(x *side, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now().UTC()
	switch {
	case err != nil && x.unavailableSince.IsZero():
		x.unavailableSince = now
		s.log.Warn("database connection lost", "handle", x.name, "error", err)
	case err == nil && !x.unavailableSince.IsZero():
		s.log.Info("database connection restored", "handle", x.name, "away_for", now.Sub(x.unavailableSince))
		x.unavailableSince = time.Time{}
	}
	if err != nil {
		x.failedAt = now
	}
}

// What keeps writes from a writer that answers, in the words of Health.
const (
	noDiskSpace = "no space to write"
	badDisk     = "failing or read-only disk"
	locked      = "locked by another process"
)

// recordWriteBlock keeps what a write met, or that it got through, and logs the change of it. No look
// of Run can tell: a full disk and a locked file answer reads.
func (s *Store) recordWriteBlock(reason string, err error) {
	x := s.write
	x.mu.Lock()
	defer x.mu.Unlock()
	switch reason {
	case x.writeBlockedBy:
		return
	case noDiskSpace:
		s.log.Error("database disk is full; free disk space", "error", err)
	case badDisk:
		s.log.Error("database disk is failing or read-only; check the system log, for example with dmesg", "error", err)
	case locked:
		s.log.Error("another process has locked the database; stop it (find it with lsof)", "error", err)
	default:
		s.log.Info("database writes restored", "after", time.Since(x.since))
	}
	x.writeBlockedBy, x.since = reason, time.Now().UTC()
}

// drop closes the idle connections.
func (x *side) drop() {
	x.db.SetMaxIdleConns(0)
	x.db.SetMaxIdleConns(x.idle)
}

// dropStaleConns reports whether an error may only mean that a pooled connection had died,
// and if so drops those that may be dead too: a second try gets a new one.
func (x *side) dropStaleConns(e *engine, err error) bool {
	if err == nil || errors.Is(err, context.DeadlineExceeded) || e.verdictOn(err) != unavailable {
		return false
	}
	x.drop()
	return true
}

func (x *side) downSince() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unavailableSince
}

func (x *side) isWriteBlocked() (reason string, since time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.writeBlockedBy, x.since
}

// isRecentlyUnavailable reports whether the handle was found away so recently that trying
// it again is a waste. It stops holding when nobody looks any more.
func (x *side) isRecentlyUnavailable() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.unavailableSince.IsZero() && time.Since(x.failedAt) < checkLimit+2*checkEvery
}

// Health tells how the handles are. It does not touch the database.
func (s *Store) Health() Health {
	w, r := s.write.downSince(), s.read.downSince()
	reason, since := s.write.isWriteBlocked()
	h := Health{Status: OK, Writer: w.IsZero(), Reader: r.IsZero()}
	switch {
	case !h.Reader:
		h.Status, h.Detail = Down, "reader unavailable since "+r.Format(time.RFC3339)
	case !h.Writer:
		h.Status, h.Detail = Down, "writer unavailable since "+w.Format(time.RFC3339)
		if s.hadr {
			h.Status = Degraded
		}
	case reason != "":
		h.Status, h.Detail = Degraded, reason+" since "+since.Format(time.RFC3339)
	}
	return h
}
