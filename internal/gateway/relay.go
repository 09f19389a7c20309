package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/stream"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// deliverer relays upstream responses to clients as they arrive.
type deliverer struct {
	bodyLogBytes   int
	recorder       *recorder
	backgroundJobs *backgroundTracker
	responder      *responder
	bodies         *bodyReader
	stopped        *atomic.Bool
	rules          *ruleCache
	clientHeaders  *clientHeaders
}

// relay relays a body unchanged, without buffering it. The last chunk is sent only after the record
// is written, so that no completed call is lost. An upstream that fails before it sent any of the
// body is an error, as on typed routes.
func (d *deliverer) relay(ctx context.Context, a *attempt, h wire.Header) error {
	var readBuf wire.ReadBuffer
	defer readBuf.Free()
	p := &relay{deliverer: d, a: a, head: h, capture: wire.Capture{Max: d.bodyLogBytes}, watch: watchEvents(a), flush: a.resp.Length < 0 || a.resp.Length > wire.LargeReadBytes}
	defer forgetCapture(a, &p.capture)
	if p.watch != nil {
		a.outlives.BeginStream()
		p.frame = stream.NewFrames(a.response.header)
	}
	for {
		buf := readBuf.Bytes()
		n, err := a.resp.Body.Read(buf)
		end := p.read(buf[:n], err)
		switch {
		case a.outlives.IsDetached():
			if a.drained = end; end || err != nil || !a.outlives.IsBuffered() && a.outlives.CountRead(n) != nil {
				return p.left(disconnect.ErrLeft)
			}
		case end || n > 0:
			if err := p.pass(buf[:n], end); err != nil || end {
				return err
			}
		}
		if err != nil {
			p.account()
			err = d.broken(ctx, a, err)
			p.reportCut()
			return err
		}
		readBuf.Took(n)
	}
}

// begin sends the head once. Repeated calls have no effect.
func (p *relay) begin() error {
	x := p.a.x
	if x.headSent {
		return nil
	}
	x.headSent = true
	length := p.a.resp.Length
	if x.req.Method == http.MethodHead {
		length = announced(p.a.response.header)
	}
	return x.out.Head(p.a.status, p.head, length)
}

// announced returns the length of the body that a response to HEAD omits; -1 when it is not stated.
func announced(h wire.Header) int64 {
	n, err := strconv.ParseInt(h.Get("content-length"), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// relay is a body that is being relayed to the client.
type relay struct {
	deliverer *deliverer
	a         *attempt
	head      wire.Header
	capture   wire.Capture
	watch     *dialect.Stream // nil when the body is not an event stream
	frame     *stream.Frames  // nil when the events are not in Amazon's frames
	sieve     *usage.Scanner  // nil when the body is not JSON, or not longer than what is stored
	flush     bool            // each chunk is sent at once
}

// read processes the bytes of one read, and reports whether the body is complete.
func (p *relay) read(b []byte, err error) (end bool) {
	p.scanUsage(b)
	p.capture.Add(b)
	if p.watch != nil {
		p.inspect(b)
	}
	return errors.Is(err, io.EOF) || p.a.resp.Length >= 0 && p.capture.Size() == p.a.resp.Length
}

// inspect passes bytes to the watcher of events.
func (p *relay) inspect(b []byte) {
	if p.frame == nil {
		p.watch.Feed(b)
		return
	}
	p.frame.Feed(b, p.watch)
}

// scanUsage scans for the usage in a JSON body that is longer than what is stored of it.
func (p *relay) scanUsage(b []byte) {
	if p.sieve == nil {
		h := p.a.response.header
		if p.capture.Size()+int64(len(b)) <= int64(p.capture.Max) || p.watch != nil || !p.a.x.limits.IsMetered() || !isJSON(h) || h.Get("content-encoding") != "" {
			return
		}
		p.sieve = new(usage.Scanner)
		p.sieve.Feed(p.capture.Bytes())
	}
	p.sieve.Feed(b)
}

// pass sends a chunk to the client. The record is written before the last chunk is sent.
func (p *relay) pass(b []byte, end bool) error {
	a := p.a
	if end {
		p.account()
		p.failure()
		p.deliverer.recorder.record(a, a.recordedOutcome())
	}
	if err := p.begin(); err != nil {
		return p.left(err)
	}
	if len(b) == 0 {
		return nil
	}
	if p.needsKeyMask() {
		b = a.withoutKey(b)
	}
	if err := a.x.writeChunk(b, p.flush && !end); err != nil {
		if !a.recorded && a.outlives.ClientLeft() {
			return nil
		}
		return p.left(err)
	}
	a.committed = true
	return nil
}

// needsKeyMask reports whether the credential must be masked in what is relayed. That is only so
// for errors in event streams: Amazon's frames have a checksum, and a stated length must hold.
func (p *relay) needsKeyMask() bool {
	if p.watch == nil || p.frame != nil || p.a.resp.Length >= 0 {
		return false
	}
	_, _, failed := p.watch.Failure()
	return failed || p.a.status >= 400
}

// failure records an error that the provider put into its stream.
func (p *relay) failure() {
	if p.watch == nil {
		return
	}
	if message, status, failed := p.watch.Failure(); failed {
		p.a.failing, p.a.counted, p.a.log().Error = status, p.watch.Counted(), message
	}
}

// account adds the response so far to the record.
func (p *relay) account() {
	p.deliverer.recorder.recordResponse(p.a, &p.capture)
	p.readUsage()
}

// left is recorder.left, with the response so far added to the record.
func (p *relay) left(err error) error {
	p.account()
	return p.deliverer.recorder.left(p.a, err)
}

// writeChunk writes a chunk of the response to the client, and flushes it if requested.
func (x *exchange) writeChunk(p []byte, flush bool) error {
	if _, err := x.out.Write(p); err != nil || !flush {
		return err
	}
	return x.out.Flush()
}

// watchEvents returns a watcher for the events of a stream that is only passed through. It returns nil
// for any other body.
func watchEvents(a *attempt) *dialect.Stream {
	if !eventStream(a.response.header) || a.response.header.Get("content-encoding") != "" {
		return nil
	}
	return dialect.NewStream(dialect.StreamOptions{Endpoint: a.x.match.Endpoint})
}

// maxUsageBodyBytes is the maximum number of bytes of an encoded response that are decoded to find
// its usage.
const maxUsageBodyBytes = 8 << 20

// readUsage records the usage that a relayed response reports, in its events or in its JSON body. A
// body with a content encoding is decoded at its end.
func (p *relay) readUsage() {
	r, ep, h := p.a.log(), p.a.x.match.Endpoint, p.a.response.header
	watch := p.watch
	switch {
	case watch != nil:
	case p.sieve != nil:
		r.Usage, r.ResponseModel = p.sieve.Usage(ep)
		return
	case !p.capture.IsComplete():
		return
	case eventStream(h):
		watch = dialect.NewStream(dialect.StreamOptions{Endpoint: ep})
		watch.Feed(plainOf(h, &p.capture))
	case isJSON(h):
		body := plainOf(h, &p.capture)
		r.Usage, r.ResponseModel = usage.Read(ep, body, "")
		p.deliverer.backgroundJobs.detectBackgroundJob(p.a, body)
		return
	default:
		return
	}
	r.Usage, r.ResponseModel = watch.Usage(), watch.Model()
}

func isJSON(h wire.Header) bool { return strings.Contains(h.Get("content-type"), "json") }

// plainOf returns the stored part of a response, without its content encoding.
func plainOf(h wire.Header, captured *wire.Capture) []byte {
	return record.Body{Bytes: captured.Bytes(), Encoding: h.Get("content-encoding")}.Plain(maxUsageBodyBytes)
}

// left records that the client disconnected before the end of its response.
func (re *recorder) left(a *attempt, err error) error {
	a.fault = fault.Wrap(fault.ClientGone, err)
	re.record(a, record.ClientGone)
	return fmt.Errorf("%w: %w", errCut, err)
}

// broken records that the upstream ended a response early. If a part of it was sent, the HTTP server
// closes the connection, because the part must not pass for the complete response. Otherwise
// the client receives an error.
func (d *deliverer) broken(ctx context.Context, a *attempt, err error) error {
	if ctx.Err() != nil {
		return d.recorder.left(a, err)
	}
	f, o := d.broke(err, "its response")
	if !a.x.headSent {
		d.recorder.finish(a, f)
		return d.responder.respondError(a.x, f)
	}
	a.fault = f
	d.recorder.record(a, o)
	return fmt.Errorf("%w: %w", errCut, err)
}

// broke returns the fault and the outcome of a response that ended early. what names it in the
// error message, for example "the stream".
func (d *deliverer) broke(err error, what string) (*fault.Error, record.Outcome) {
	if unsentErr := d.bodies.unsent(err); unsentErr != nil {
		return unsentErr, outcomeOf(unsentErr)
	}
	if errors.Is(err, transport.ErrStalled) {
		return fault.New(fault.UpstreamTimeout, "the provider stalled: it sent no data in time").WithCause(err), record.Stalled
	}
	return fault.New(fault.UpstreamFailed, "the provider ended "+what+" early").WithCause(err), record.Truncated
}

// forgetCapture releases the buffers of a capture after the record that uses its bytes is written.
func forgetCapture(a *attempt, c *wire.Capture) {
	if a.recorded {
		a.log().Response.Bytes, a.log().ClientResponse.Bytes = nil, nil
		c.Free()
		a.raw.Free()
		a.captured.Free()
	}
}

// recordResponse adds the captured response to the record: the body that the client received, and
// for a translated response also the body that the upstream sent.
func (re *recorder) recordResponse(a *attempt, c *wire.Capture) {
	a.log().BytesOut = c.Size()
	if a.captured.Max > 0 { // without the values that were restored for the client
		c = &a.captured
	}
	clientBody := re.captured(a.response.header, c)
	if a.raw.Max == 0 {
		a.log().Response = clientBody
		return
	}
	a.log().Response, a.log().ClientResponse = re.captured(a.got, &a.raw), clientBody
}

func (re *recorder) captured(h wire.Header, c *wire.Capture) record.Body {
	b := re.truncateBody(h.Get("content-type"), c.Bytes(), c.Size())
	b.Encoding = h.Get("content-encoding")
	return b
}
