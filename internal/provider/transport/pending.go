package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/internal/wire"
)

// Pending is a call that goes on although the time for the head of its answer is over: see
// Request.Late. It belongs to one goroutine at a time.
type Pending struct {
	await func() (*Response, error)
}

// Await waits for the answer, for as long as the context of Request.Detach lasts. It is called
// once; the answer's body must be closed. Its errors are those of Client.Do.
func (p *Pending) Await() (*Response, error) { return p.await() }

// detached is the context that ends the call from now on.
func (r *Request) detached(ctx context.Context) context.Context {
	if r.Detach == nil {
		return ctx
	}
	return r.Detach(ctx)
}

// late offers a call over HTTP/1.1 that was sent whole to the owner of Late, and reports
// whether it goes on. It is moved out of the room then.
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

// await reads the head of the answer without a limit of time.
func (a *http1Response) await(method string) (*Response, error) {
	b := &a.body
	b.cn.readLimit = time.Time{}
	_ = b.cn.nc.SetReadDeadline(b.cn.readLimit) // fails only when closed, which the next read tells
	h, err := b.receiveRest(wire.Header(nil))
	if err != nil {
		err = b.attributeError(err, nil)
		b.finish(false)
		return nil, err
	}
	a.fill(h, method)
	return &a.Response, nil
}

// errLate says that a call over HTTP/2 goes on without its caller.
var errLate = errors.New("the call continues")

// tripped is what a round trip over HTTP/2 came to.
type tripped struct {
	res *http.Response
	err error
}

// roundTrip sends the request and waits for the head of its answer. Where the call may go on
// after the time for that, it waits in a goroutine of its own.
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
	if end.err == nil { // it came in this moment
		return end.res, nil
	}
	return nil, end.err
}

// await waits for what the round trip comes to.
func (s *stream) await(done <-chan tripped, method string) (*Response, error) {
	end := <-done
	if end.err != nil {
		err := s.failure(end.err, noHead)
		s.end(err)
		return nil, err
	}
	return s.answered(end.res, method), nil
}

// isFullyRead reports whether all of the body was read, so that it is not touched any more.
func (s *source) isFullyRead() bool {
	if !s.replayable {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left == 0
}
