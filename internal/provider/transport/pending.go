package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/internal/kernel/wire"
)

// Pending is a call that continues after the timeout for the head of its response: see
// Request.Late. It belongs to one goroutine at a time.
type Pending struct {
	await func() (*Response, error)
}

// Await waits for the response until the context of Request.Detach ends. It is called once. The
// caller must close the body of the response. Its errors are those of Client.Do.
func (p *Pending) Await() (*Response, error) { return p.await() }

// detached returns the context that ends the call from now on.
func (r *Request) detached(ctx context.Context) context.Context {
	if r.Detach == nil {
		return ctx
	}
	return r.Detach(ctx)
}

// late offers a completely sent HTTP/1.1 call to Request.Late, and reports whether the call
// continues. It then moves the call out of the shared buffer.
func (r *Request) late(a *http1Response) bool {
	if r.Late == nil || a.body.up != nil || a.body.stop == nil {
		return false
	}
	detached, method := &http1Response{body: a.body}, r.Method
	if !r.Late(&Pending{await: func() (*Response, error) { return detached.await(method) }}) {
		return false
	}
	a.body = body{}
	return true
}

// await reads the head of the response without a timeout.
func (a *http1Response) await(method string) (*Response, error) {
	b := &a.body
	b.cn.readLimit = time.Time{}
	_ = b.cn.nc.SetReadDeadline(b.cn.readLimit) // fails only when closed, which the next read returns
	h, err := b.receiveRest(wire.Header(nil))
	if err != nil {
		err = b.attributeError(err, nil)
		b.finish(false)
		return nil, err
	}
	a.fill(h, method)
	return &a.Response, nil
}

// errLate means that a call over HTTP/2 continues without its caller.
var errLate = errors.New("the call continues")

// tripped is the result of a round trip over HTTP/2.
type tripped struct {
	res *http.Response
	err error
}

// roundTrip sends the request and waits for the head of its response. A call that may continue
// after the timeout waits in a separate goroutine.
func (s *stream) roundTrip(cc *http.ClientConn, r *Request, hr *http.Request, t timing) (*http.Response, error) {
	if r.Late == nil || t.limit.IsZero() {
		return cc.RoundTrip(hr)
	}
	done := make(chan tripped, 1)
	go func() {
		res, err := cc.RoundTrip(hr) //nolint:bodyclose // the owner of the answer closes it
		done <- tripped{res, err}
	}()
	timer := time.NewTimer(time.Until(t.limit))
	defer timer.Stop()
	select {
	case end := <-done:
		return end.res, end.err
	case <-timer.C:
	}
	method := r.Method
	if s.sent.isFullyRead() && r.Late(&Pending{await: func() (*Response, error) { return s.await(done, method) }}) {
		return nil, errLate
	}
	s.cancel(errHeadTimeout)
	end := <-done
	if end.err == nil { // the result arrived just now
		return end.res, nil
	}
	return nil, end.err
}

// await waits for the result of the round trip.
func (s *stream) await(done <-chan tripped, method string) (*Response, error) {
	end := <-done
	if end.err != nil {
		err := s.failure(end.err, noHead)
		s.end(err)
		return nil, err
	}
	return s.answered(end.res, method), nil
}

// isFullyRead reports whether the body was read completely, so that nothing uses it any more.
func (s *source) isFullyRead() bool {
	if !s.replayable {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left == 0
}
