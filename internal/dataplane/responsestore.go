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

// Responses is where responses are kept that the gateway made of answers of providers
// that keep none. Input is a JSON list of items, response the object that the caller
// got. FindResponse and DeleteResponse know only the responses of that workspace.
//
// Errors: fault.NotFound; fault.TooLarge; fault.ReadOnly and fault.Overloaded when the
// database is away.
type Responses interface {
	SaveResponse(ctx context.Context, workspace, id string, until time.Time, input, response []byte) error
	FindResponse(ctx context.Context, workspace, id string, now time.Time) (input, response []byte, err error)
	DeleteResponse(ctx context.Context, workspace, id string) error
	SweepResponses(ctx context.Context, now time.Time) error
}

const (
	responseRetention = 30 * 24 * time.Hour // as long as OpenAI keeps responses
	maxPendingBytes   = 64 << 20            // of all that wait to be written
	retryInterval     = time.Second         // until a database that was away is tried again
	sweepInterval     = time.Hour
	finalWriteTimeout = 5 * time.Second // to write what waits when the program ends
)

// ResponseStore keeps responses without a request waiting for the database: what is to
// be kept waits in memory until Run has written it, and is found there until then. A
// process that is killed loses what waits, which is the work of milliseconds.
//
// While the database takes no writes nothing new is kept. It is safe for concurrent
// use; a nil one keeps nothing.
type ResponseStore struct {
	rows  Responses
	clock ident.Clock
	log   *slog.Logger
	wake  chan struct{}

	mu          sync.Mutex      // guards the rest
	waiting     []*pendingWrite // the oldest first
	bytes       int
	unavailable bool // the database took no write the last time
}

// pendingWrite is a response that waits.
type pendingWrite struct {
	workspace, id   string
	until           time.Time
	input, response []byte
	deleted         bool
}

// NewResponseStore makes a keeper; call Run, or it keeps nothing for long.
func NewResponseStore(rows Responses, clock ident.Clock, log *slog.Logger) *ResponseStore {
	return &ResponseStore{rows: rows, clock: clock, log: log, wake: make(chan struct{}, 1)}
}

// Run writes what waits, and sweeps what has expired, until ctx ends; then it writes
// the rest.
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

// flush writes what waits, until the database is away.
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

// dequeueWritten takes a response that was written out of the queue. One that was deleted
// meanwhile has to be forgotten first, because as long as it stands here nobody finds it.
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

// ready reports whether a response would be kept now.
func (k *ResponseStore) ready() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.unavailable && k.bytes < maxPendingBytes
}

var errTooManyPending = errors.New("too many responses are waiting to be written")

// save takes a response in. The slices belong to the keeper from now on.
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

// held returns a response that waits, nil when there is none. Who calls it holds mu.
func (k *ResponseStore) held(workspace, id string) *pendingWrite {
	for _, r := range k.waiting {
		if r.workspace == workspace && r.id == id {
			return r
		}
	}
	return nil
}

// findPending is what held says, to who does not hold mu.
func (k *ResponseStore) findPending(workspace, id string) (r *pendingWrite, deleted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r = k.held(workspace, id)
	return r, r != nil && r.deleted
}

// find returns a response and its input, from memory or the database; fault.NotFound
// when the workspace has none of that id.
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

// How long a response is looked for that another node made a moment ago and may still
// be writing.
const (
	otherFresh = 3 * time.Second
	otherPause = 50 * time.Millisecond
	otherTries = 10
)

// fresh reports whether the response of that id was made within otherFresh. Its id
// begins with a time, as UUIDs of version 7 do.
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

// remove deletes a response; fault.NotFound when the workspace has none of that id.
func (k *ResponseStore) remove(ctx context.Context, workspace, id string) error {
	if found, again := k.delete(workspace, id); again {
		return fault.New(fault.NotFound, "")
	} else if found {
		return nil
	}
	return k.rows.DeleteResponse(ctx, workspace, id)
}

// delete marks a response that waits as deleted. Again: it was so already.
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
