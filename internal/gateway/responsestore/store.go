package responsestore

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Database contains the stored responses; *sqlstore.Store implements it. input is a JSON list of
// items, response the object that the caller got. FindResponse and DeleteResponse find only the
// responses of the given workspace.
//
// Errors: fault.NotFound; fault.TooLarge; fault.ReadOnly and fault.Overloaded when the
// database is unavailable.
type Database interface {
	SaveResponse(ctx context.Context, workspace, id string, until time.Time, input, response []byte) error
	FindResponse(ctx context.Context, workspace, id string, now time.Time) (input, response []byte, err error)
	DeleteResponse(ctx context.Context, workspace, id string) error
	SweepResponses(ctx context.Context, now time.Time) error
}

const (
	responseRetention = 30 * 24 * time.Hour // as long as OpenAI stores responses
	maxPendingBytes   = 64 << 20            // of all pending responses together
	retryInterval     = time.Second         // between writes to a database that was unavailable
	sweepInterval     = time.Hour
	finalWriteTimeout = 5 * time.Second // to write the pending responses at shutdown
)

// Store stores responses without making requests wait for the database. A response is
// pending in memory until Run has written it, and can be found there until then. A process that
// is killed loses its pending responses, usually those of the last milliseconds.
//
// While the database accepts no writes, new responses are not stored. A Store is safe
// for concurrent use. A nil one stores nothing.
type Store struct {
	rows  Database
	clock ident.Clock
	log   *slog.Logger
	wake  chan struct{}

	mu          sync.Mutex      // guards the fields that follow
	waiting     []*pendingWrite // the oldest first
	bytes       int
	unavailable bool // the last write failed because the database was unavailable
}

// pendingWrite is a response that is not written yet.
type pendingWrite struct {
	workspace, id   string
	until           time.Time
	input, response []byte
	deleted         bool
}

// New creates a Store. Responses stay in memory until Run is called.
func New(rows Database, clock ident.Clock, log *slog.Logger) *Store {
	return &Store{rows: rows, clock: clock, log: log, wake: make(chan struct{}, 1)}
}

// Run writes pending responses and deletes expired ones until ctx ends. Then it writes the
// remaining ones for at most finalWriteTimeout. It always returns nil.
func (s *Store) Run(ctx context.Context) error {
	retry, sweep := time.NewTicker(retryInterval), time.NewTicker(sweepInterval)
	defer retry.Stop()
	defer sweep.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.wake:
			s.flush(ctx)
		case <-retry.C:
			s.flush(ctx)
		case <-sweep.C:
			if err := s.rows.SweepResponses(ctx, s.clock.Now()); err != nil && ctx.Err() == nil {
				s.log.Warn("cannot delete expired responses", "error", fault.From(err).Error())
			}
		}
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
	defer stop()
	s.flush(last)
	if n := s.count(); n > 0 {
		s.log.Error("stored responses lost", "responses", n)
	}
	return nil
}

// flush writes pending responses until none is left or the database is unavailable.
func (s *Store) flush(ctx context.Context) {
	for {
		r := s.oldest()
		if r == nil {
			return
		}
		err := s.rows.SaveResponse(ctx, r.workspace, r.id, r.until, r.input, r.response)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return
		case fault.Has(err, fault.ReadOnly), fault.Has(err, fault.Overloaded):
			s.logOutage(err)
			return
		default:
			s.log.Error("cannot store response", "response", r.id, "error", fault.From(err).Error())
		}
		for forgotten := false; !s.dequeueWritten(r, forgotten); forgotten = true {
			s.forget(ctx, r)
		}
	}
}

func (s *Store) oldest() *pendingWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil
	}
	return s.waiting[0]
}

func (s *Store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

func (s *Store) logOutage(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unavailable {
		s.log.Warn("database is read-only; responses are not stored", "error", fault.From(err).Error())
	}
	s.unavailable = true
}

// dequeueWritten removes a written response from the queue. It reports false for a response that
// was deleted meanwhile, unless forgotten is set: that one must first be deleted from the
// database, because requests do not find it while it is in the queue.
func (s *Store) dequeueWritten(r *pendingWrite, forgotten bool) (written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unavailable = false
	if r.deleted && !forgotten {
		return false
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *pendingWrite) bool { return w == r })
	s.bytes -= r.size()
	return true
}

func (s *Store) forget(ctx context.Context, r *pendingWrite) {
	err := s.rows.DeleteResponse(ctx, r.workspace, r.id)
	if err != nil && !fault.Has(err, fault.NotFound) {
		s.log.Error("cannot delete stored response", "response", r.id, "error", fault.From(err).Error())
	}
}

func (r *pendingWrite) size() int { return len(r.input) + len(r.response) }

// ready reports whether save would accept a response now.
func (s *Store) ready() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unavailable && s.bytes < maxPendingBytes
}

var errTooManyPending = errors.New("too many responses are waiting to be written")

// save queues a response to be written. The store owns the slices from now on.
func (s *Store) save(workspace, id string, input, response []byte) error {
	r := &pendingWrite{workspace: workspace, id: id, until: s.clock.Now().Add(responseRetention), input: input, response: response}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unavailable || s.bytes+r.size() > maxPendingBytes {
		return errTooManyPending
	}
	s.waiting = append(s.waiting, r)
	s.bytes += r.size()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// held returns a pending response, nil when there is none. The caller holds mu.
func (s *Store) held(workspace, id string) *pendingWrite {
	for _, r := range s.waiting {
		if r.workspace == workspace && r.id == id {
			return r
		}
	}
	return nil
}

// findPending is held for callers that do not hold mu.
func (s *Store) findPending(workspace, id string) (r *pendingWrite, deleted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.held(workspace, id)
	return r, r != nil && r.deleted
}

// find returns a response and its input, from memory or the database. It returns fault.NotFound
// when the workspace has no response with that id.
func (s *Store) find(ctx context.Context, workspace, id string) (input, response []byte, err error) {
	switch r, deleted := s.findPending(workspace, id); {
	case deleted:
		return nil, nil, fault.New(fault.NotFound, "")
	case r != nil:
		return r.input, r.response, nil
	}
	for try := 0; ; try++ {
		input, response, err = s.rows.FindResponse(ctx, workspace, id, s.clock.Now())
		if !fault.Has(err, fault.NotFound) || try == otherTries || !s.fresh(id) {
			return input, response, err
		}
		if background.Sleep(ctx, otherPause) != nil {
			return nil, nil, fault.Wrap(fault.ClientGone, ctx.Err())
		}
	}
}

// The limits of the search for a recent response that another node may still be writing.
const (
	otherFresh = 3 * time.Second
	otherPause = 50 * time.Millisecond
	otherTries = 10
)

// fresh reports whether the response with that id was created within otherFresh. The id begins
// with a time, as UUIDs of version 7 do.
func (s *Store) fresh(id string) bool {
	made, ok := strings.CutPrefix(id, responses.ID(""))
	if !ok || len(made) < 12 {
		return false
	}
	var ms [8]byte
	if _, err := hex.Decode(ms[2:], []byte(made[:12])); err != nil {
		return false
	}
	millis := int64(0)
	for _, b := range ms {
		millis = millis<<8 | int64(b)
	}
	return s.clock.Now().Sub(time.UnixMilli(millis)).Abs() < otherFresh
}

// remove deletes a response. It returns fault.NotFound when the workspace has no response with that
// id.
func (s *Store) remove(ctx context.Context, workspace, id string) error {
	if found, again := s.delete(workspace, id); again {
		return fault.New(fault.NotFound, "")
	} else if found {
		return nil
	}
	return s.rows.DeleteResponse(ctx, workspace, id)
}

// delete marks a pending response as deleted. again reports whether it was already deleted.
func (s *Store) delete(workspace, id string) (found, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.held(workspace, id)
	if r == nil {
		return false, false
	}
	again, r.deleted = r.deleted, true
	return true, again
}
