package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/ops/telemetry"
)

const (
	checkEvery = time.Second     // how often Run checks each handle
	checkLimit = 5 * time.Second // maximum time of one check
)

// errReadOnlyServer reports that the writer's address leads to a replica.
var errReadOnlyServer = errors.New("the server accepts no writes")

// The values of Health.Status.
const (
	OK       = "ok"       // both handles respond
	Degraded = "degraded" // reads continue, writes are rejected: HADR mode, a full or failing disk, or a locked file
	Down     = "down"     // no reads, or no writes outside HADR mode
)

// Health is the state of the handles after the last check by Run, or after a write that found no
// writer.
type Health struct {
	Status string // OK, Degraded or Down
	Writer bool
	Reader bool
	Detail string // "writer away since 2026-11-20T10:00:00Z"; empty when OK
}

// side is one handle and its known state.
type side struct {
	name  string // "writer" or "reader"
	db    *sql.DB
	idle  int
	query string // returns "0" if all is well

	mu               sync.Mutex // guards the following fields
	unavailableSince time.Time  // zero while it responds
	failedAt         time.Time  // when it last failed a check
	writeBlockedBy   string     // why writes fail in a responding writer: noDiskSpace, badDisk or locked; empty while they succeed
	since            time.Time  // since when they fail
}

// Run watches both handles until ctx ends and then returns nil. It updates Health, permits writes
// again when the writer is back, and on SQLite does maintenance that writers would otherwise do.
func (s *database) Run(ctx context.Context) error {
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

func (s *database) watch(ctx context.Context, x *side) {
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

// check probes a handle and records the result.
func (s *database) check(ctx context.Context, x *side) { s.recordCheck(ctx, x, s.probe(ctx, x)) }

// recordCheck records the result of a check, unless it reveals nothing about the server.
func (s *database) recordCheck(ctx context.Context, x *side, err error) {
	if ctx.Err() == nil && !x.busy(err) {
		s.seen(x, err)
	}
}

// probe sends a query to a handle and returns an error if it does not respond as expected.
func (s *database) probe(ctx context.Context, x *side) error {
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	var state string
	err := x.db.QueryRowContext(limited, x.query).Scan(&state)
	if err == nil && state != "0" && state != "OFF" {
		err = errReadOnlyServer
		x.drop() // new connections may lead to the new primary, idle ones never do
	}
	return err
}

// busy reports whether a check failed only because all connections were in use, which reveals
// nothing about the server.
func (x *side) busy(err error) bool {
	st := x.db.Stats()
	return errors.Is(err, context.DeadlineExceeded) && st.InUse >= st.MaxOpenConnections
}

// seen records the state of a handle and logs changes of it, not each check.
func (s *database) seen(x *side, err error) {
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

// Why a responding writer fails writes, as reported in Health.
const (
	noDiskSpace = "no space to write"
	badDisk     = "failing or read-only disk"
	locked      = "locked by another process"
)

// recordWriteBlock records why a write failed, or that it succeeded, and logs the change. Checks
// by Run cannot detect it, because a full disk and a locked file still allow reads.
func (s *database) recordWriteBlock(reason string, err error) {
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

// dropStaleConns reports whether an error may only mean that a pooled connection died. If so it
// drops the connections that may be dead too, so that a second try gets a new one.
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

// isRecentlyUnavailable reports whether the handle failed a check so recently that another try is
// pointless. It returns false when checks have stopped.
func (x *side) isRecentlyUnavailable() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.unavailableSince.IsZero() && time.Since(x.failedAt) < checkLimit+2*checkEvery
}

// Health returns the state of the handles. It does not access the database.
func (s *database) Health() Health {
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

// RegisterMetrics registers metrics of whether the writer and the reader are reachable.
func (s *Store) RegisterMetrics(m *telemetry.Registry) {
	for role, ok := range map[string]func() bool{
		"writer": func() bool { return s.Health().Writer },
		"reader": func() bool { return s.Health().Reader },
	} {
		m.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sluice_store_up", Help: "1 if the control-plane database is reachable, by role: writer or reader.", ConstLabels: prometheus.Labels{"role": role},
		}, func() float64 {
			if ok() {
				return 1
			}
			return 0
		}))
	}
}
