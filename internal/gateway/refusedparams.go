package gateway

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/provider/transport"
)

// Limits for the stored parameters that hosts refuse, and for the part of an error that is
// searched for their names.
const (
	refusedHosts    = 1024
	refusedTime     = time.Hour
	refusedTextSize = 64 << 10
)

// refusedParams are the gateway-added parameters that hosts refused. Calls omit them for an hour.
// It contains at most 1,024 pairs of host and model. It is safe for concurrent use.
type refusedParams struct {
	used  atomic.Bool // an entry exists; until then calls take no lock
	mu    sync.RWMutex
	known map[refusedKey]refusedEntry // guarded by mu
}

// refusedKey is a model at a host, because a host may serve the models of many vendors.
type refusedKey struct{ host, model string }

type refusedEntry struct {
	params dialect.Added
	until  time.Time
}

// find returns the parameters that the host refuses for the model at the time now.
func (r *refusedParams) find(host, model string, now time.Time) dialect.Added {
	if !r.used.Load() {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.known[refusedKey{host, model}]
	if !now.Before(e.until) {
		return 0
	}
	return e.params
}

// put stores the parameters for an hour. When the limit is reached, it evicts the expired
// entries, or else any entry.
func (r *refusedParams) put(host, model string, params dialect.Added, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[refusedKey]refusedEntry)
	}
	key := refusedKey{strings.Clone(host), strings.Clone(model)}
	if _, there := r.known[key]; !there && len(r.known) >= refusedHosts {
		r.evict(now)
	}
	r.known[key] = refusedEntry{params, now.Add(refusedTime)}
	r.used.Store(true)
}

// evict removes the expired entries, or else any entry. The caller holds mu.
func (r *refusedParams) evict(now time.Time) {
	for k, e := range r.known {
		if !now.Before(e.until) {
			delete(r.known, k)
		}
	}
	for k := range r.known {
		if len(r.known) < refusedHosts {
			return
		}
		delete(r.known, k)
	}
}

// withoutRefused removes the parameters that the host refuses from a translated body, and records
// which added parameters remain.
func withoutRefused(a *attempt, body []byte, added dialect.Added) []byte {
	a.addedParams = added &^ a.leftOut
	gone := added & a.leftOut
	if gone == 0 {
		return body
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(body, d) != nil { // dialects write JSON: cannot happen
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.DropAll(gone.Paths())})
}

// isRefused reports whether the provider refused a parameter that the gateway added, and records
// which one. Any other response can still be read from its beginning.
func isRefused(a *attempt, resp *transport.Response) bool {
	if a.addedParams == 0 || resp.Status != 400 && resp.Status != 422 || !a.body.Replayable() {
		return false
	}
	text := a.first // the first event of a stream, when it is an error
	if text == nil {
		body := &peekedBody{Body: resp.Body}
		body.fill(refusedTextSize)
		resp.Body, text = body, body.head
	}
	refused := a.addedParams.RefusedBy(text)
	a.leftOut |= refused
	return refused != 0
}

// resend discards a response that refuses an added parameter, and prepares the request again
// without it. The refused call and the next one have separate ledger entries.
func (s *sender) resend(ctx context.Context, a *attempt, resp *transport.Response) error {
	_ = resp.Body.Close() // it is not an answer to the caller's request
	a.first, a.translator = nil, nil
	if err := s.accountant.reserveRetry(ctx, a, nil); err != nil {
		return err
	}
	a.resent = true
	return s.shaper.shape(ctx, a)
}

// remember stores the parameters that a host had refused, once it accepts the request without
// them.
func (s *sender) remember(a *attempt, resp *transport.Response) {
	if !a.resent || resp == nil || resp.Status >= 400 {
		return
	}
	s.refusedParams.put(a.plan.Host, a.plan.Model, a.leftOut, s.clock.Now())
	s.log.Info("provider rejects a parameter that the gateway adds; it is omitted for an hour",
		"provider", a.spec.ID, "host", a.plan.Host, "model", clip(a.plan.Model), "parameters", strings.Join(a.leftOut.Paths(), ","), "request_id", a.x.id)
}

// peekedBody is a body whose beginning has already been read.
type peekedBody struct {
	transport.Body
	head   []byte
	offset int
	err    error // of the read that ended head
}

// fill reads ahead until it has at least size bytes, or until the body ends or fails.
func (r *peekedBody) fill(size int) {
	var b bytes.Buffer
	buf := make([]byte, 4<<10)
	for r.err == nil && b.Len() < size {
		var n int
		n, r.err = r.Body.Read(buf)
		b.Write(buf[:n])
	}
	r.head = b.Bytes()
}

// Read implements transport.Body.
func (r *peekedBody) Read(p []byte) (int, error) {
	if r.offset < len(r.head) {
		n := copy(p, r.head[r.offset:])
		if r.offset += n; r.offset == len(r.head) {
			return n, r.err
		}
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.Body.Read(p)
}
