package dataplane

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/background"
	"sluice/internal/dialect/responses"
	"sluice/internal/fault"
	"sluice/internal/ident"
)

// Responses is the storage of responses that the gateway built for providers that do not store
// responses. input is a JSON list of items, response the object that the caller got.
// FindResponse and DeleteResponse find only the responses of the given workspace.
//
// Errors: fault.NotFound; fault.TooLarge; fault.ReadOnly and fault.Overloaded when the
// database is unavailable.
type Responses interface {
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

// ResponseStore stores responses without making requests wait for the database. A response is
// pending in memory until Run has written it, and can be found there until then. A process that
// is killed loses its pending responses, usually those of the last milliseconds.
//
// While the database accepts no writes, new responses are not stored. A ResponseStore is safe
// for concurrent use. A nil one stores nothing.
type ResponseStore struct {
	rows  Responses
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

// NewResponseStore creates a ResponseStore. Responses stay in memory until Run is called.
func NewResponseStore(rows Responses, clock ident.Clock, log *slog.Logger) *ResponseStore {
	return &ResponseStore{rows: rows, clock: clock, log: log, wake: make(chan struct{}, 1)}
}

// Run writes pending responses and deletes expired ones until ctx ends. Then it writes the
// remaining ones for at most finalWriteTimeout. It always returns nil.
func (k *ResponseStore) Run(ctx context.Context) error {
	retry, sweep := time.NewTicker(retryInterval), time.NewTicker(sweepInterval)
	defer retry.Stop()
	defer sweep.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-k.wake:
			k.flush(ctx)
		case <-retry.C:
			k.flush(ctx)
		case <-sweep.C:
			if err := k.rows.SweepResponses(ctx, k.clock.Now()); err != nil && ctx.Err() == nil {
				k.log.Warn("cannot delete expired responses", "error", fault.From(err).Error())
			}
		}
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
	defer stop()
	k.flush(last)
	if n := k.count(); n > 0 {
		k.log.Error("stored responses lost", "responses", n)
	}
	return nil
}

// flush writes pending responses until none is left or the database is unavailable.
func (k *ResponseStore) flush(ctx context.Context) {
	for {
		r := k.oldest()
		if r == nil {
			return
		}
		err := k.rows.SaveResponse(ctx, r.workspace, r.id, r.until, r.input, r.response)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return
		case fault.Has(err, fault.ReadOnly), fault.Has(err, fault.Overloaded):
			k.logOutage(err)
			return
		default:
			k.log.Error("cannot store response", "response", r.id, "error", fault.From(err).Error())
		}
		for forgotten := false; !k.dequeueWritten(r, forgotten); forgotten = true {
			k.forget(ctx, r)
		}
	}
}

func (k *ResponseStore) oldest() *pendingWrite {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) == 0 {
		return nil
	}
	return k.waiting[0]
}

func (k *ResponseStore) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.waiting)
}

func (k *ResponseStore) logOutage(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unavailable {
		k.log.Warn("database is read-only; responses are not stored", "error", fault.From(err).Error())
	}
	k.unavailable = true
}

// dequeueWritten removes a written response from the queue. It reports false for a response that
// was deleted meanwhile, unless forgotten is set: that one must first be deleted from the
// database, because requests do not find it while it is in the queue.
func (k *ResponseStore) dequeueWritten(r *pendingWrite, forgotten bool) (written bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unavailable = false
	if r.deleted && !forgotten {
		return false
	}
	k.waiting = slices.DeleteFunc(k.waiting, func(w *pendingWrite) bool { return w == r })
	k.bytes -= r.size()
	return true
}

func (k *ResponseStore) forget(ctx context.Context, r *pendingWrite) {
	err := k.rows.DeleteResponse(ctx, r.workspace, r.id)
	if err != nil && !fault.Has(err, fault.NotFound) {
		k.log.Error("cannot delete stored response", "response", r.id, "error", fault.From(err).Error())
	}
}

func (r *pendingWrite) size() int { return len(r.input) + len(r.response) }

// ready reports whether save would accept a response now.
func (k *ResponseStore) ready() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.unavailable && k.bytes < maxPendingBytes
}

var errTooManyPending = errors.New("too many responses are waiting to be written")

// save queues a response to be written. The store owns the slices from now on.
func (k *ResponseStore) save(workspace, id string, input, response []byte) error {
	r := &pendingWrite{workspace: workspace, id: id, until: k.clock.Now().Add(responseRetention), input: input, response: response}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.unavailable || k.bytes+r.size() > maxPendingBytes {
		return errTooManyPending
	}
	k.waiting = append(k.waiting, r)
	k.bytes += r.size()
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return nil
}

// held returns a pending response, nil when there is none. The caller holds mu.
func (k *ResponseStore) held(workspace, id string) *pendingWrite {
	for _, r := range k.waiting {
		if r.workspace == workspace && r.id == id {
			return r
		}
	}
	return nil
}

// findPending is held for callers that do not hold mu.
func (k *ResponseStore) findPending(workspace, id string) (r *pendingWrite, deleted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r = k.held(workspace, id)
	return r, r != nil && r.deleted
}

// find returns a response and its input, from memory or the database. It returns fault.NotFound
// when the workspace has no response with that id.
func (k *ResponseStore) find(ctx context.Context, workspace, id string) (input, response []byte, err error) {
	switch r, deleted := k.findPending(workspace, id); {
	case deleted:
		return nil, nil, fault.New(fault.NotFound, "")
	case r != nil:
		return r.input, r.response, nil
	}
	for try := 0; ; try++ {
		input, response, err = k.rows.FindResponse(ctx, workspace, id, k.clock.Now())
		if !fault.Has(err, fault.NotFound) || try == otherTries || !k.fresh(id) {
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
func (k *ResponseStore) fresh(id string) bool {
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
	return k.clock.Now().Sub(time.UnixMilli(millis)).Abs() < otherFresh
}

// remove deletes a response. It returns fault.NotFound when the workspace has no response with that
// id.
func (k *ResponseStore) remove(ctx context.Context, workspace, id string) error {
	if found, again := k.delete(workspace, id); again {
		return fault.New(fault.NotFound, "")
	} else if found {
		return nil
	}
	return k.rows.DeleteResponse(ctx, workspace, id)
}

// delete marks a pending response as deleted. again reports whether it was already deleted.
func (k *ResponseStore) delete(workspace, id string) (found, again bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.held(workspace, id)
	if r == nil {
		return false, false
	}
	again, r.deleted = r.deleted, true
	return true, again
}
