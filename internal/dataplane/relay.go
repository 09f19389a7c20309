package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// relay passes a body on as it comes, byte for byte, without holding it. The last
// piece waits for the record, so that no answered call is lost. An upstream that fails
// before it sent any of the body is an error as it is on typed routes.
func (g *Gateway) relay(ctx context.Context, a *attempt, h wire.Header) error {
	var readBuf readBuffer
	defer readBuf.free()
	p := &relay{g: g, a: a, head: h, capture: capture{max: g.set.BodyLogBytes}, watch: g.meter(a), flush: a.resp.Length < 0 || a.resp.Length > fastBytes}
	defer a.forget(&p.capture)
	if p.watch != nil {
		a.outlives.begin(g)
		p.frame = framedBy(a.response.header)
	}
	for {
		buf := readBuf.bytes()
		n, err := a.resp.Body.Read(buf)
		end := p.read(buf[:n], err)
		switch {
		case a.outlives.isDetached():
			if a.drained = end; end || err != nil || !a.outlives.isBuffered(g) && a.outlives.took(n) != nil {
				return p.left(errLeft)
			}
		case end || n > 0:
			if err := p.pass(buf[:n], end); err != nil || end {
				return err
			}
		}
		if err != nil {
			p.account()
			err = g.broken(ctx, a, err)
			p.reportCut()
			return err
		}
		readBuf.took(n)
	}
}

// begin sends the head, once.
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

// announced is how long a body would be that an answer to HEAD lacks; -1 when it does not say.
func announced(h wire.Header) int64 {
	n, err := strconv.ParseInt(h.Get("content-length"), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// relay is a body on its way to the client.
type relay struct {
	g       *Gateway
	a       *attempt
	head    wire.Header
	capture capture
	watch   *dialect.Stream       // nil where it is no stream of events
	frame   *framed               // nil where events are not in Amazon's frames
	sieve   *dialect.UsageScanner // nil where it is no JSON, or no longer than what is kept
	flush   bool                  // each piece is sent at once
}

// read notes what one read brought, and reports whether it is the end.
func (p *relay) read(b []byte, err error) (end bool) {
	p.scanUsage(b)
	p.capture.take(b)
	if p.watch != nil {
		p.inspect(b)
	}
	return errors.Is(err, io.EOF) || p.a.resp.Length >= 0 && p.capture.size == p.a.resp.Length
}

// inspect has the events watched.
func (p *relay) inspect(b []byte) {
	if p.frame == nil {
		p.watch.Feed(b)
		return
	}
	p.frame.events(b, p.watch)
}

// scanUsage looks for the usage in JSON that gets longer than what is kept of it.
func (p *relay) scanUsage(b []byte) {
	if p.sieve == nil {
		h := p.a.response.header
		if p.capture.size+int64(len(b)) <= int64(p.capture.max) || p.watch != nil || !p.a.x.metered || !isJSON(h) || h.Get("content-encoding") != "" {
			return
		}
		p.sieve = new(dialect.UsageScanner)
		p.sieve.Feed(p.capture.bytes())
	}
	p.sieve.Feed(b)
}

// pass gives the client a piece; the last one is on record before.
func (p *relay) pass(b []byte, end bool) error {
	a := p.a
	if end {
		p.account()
		p.failure()
		p.g.record(a, a.recordedOutcome())
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
		if !a.recorded && a.outlives.left() {
			return nil
		}
		return p.left(err)
	}
	a.committed = true
	return nil
}

// needsKeyMask reports whether the credential is masked in what is relayed: in an error that comes
// as events. Frames of Amazon have a checksum, and a length that was sent must hold.
func (p *relay) needsKeyMask() bool {
	if p.watch == nil || p.frame != nil || p.a.resp.Length >= 0 {
		return false
	}
	_, _, failed := p.watch.Failure()
	return failed || p.a.status >= 400
}

// failure notes an error that the provider put into its stream.
func (p *relay) failure() {
	if p.watch == nil {
		return
	}
	if message, status, failed := p.watch.Failure(); failed {
		p.a.failing, p.a.counted, p.a.log().Error = status, p.watch.Counted(), message
	}
}

// account hands the record what came through so far.
func (p *relay) account() {
	p.a.recordResponse(p.g, &p.capture)
	p.readUsage()
}

// left is Gateway.left with what came through until then.
func (p *relay) left(err error) error {
	p.account()
	return p.g.left(p.a, err)
}

// writeChunk writes a piece of the answer to the client, at once if it shall be flushed.
func (x *exchange) writeChunk(p []byte, flush bool) error {
	if _, err := x.out.Write(p); err != nil || !flush {
		return err
	}
	return x.out.Flush()
}

// meter watches the events of a stream that is only passed through; nil for
// anything else.
func (g *Gateway) meter(a *attempt) *dialect.Stream {
	if !eventStream(a.response.header) || a.response.header.Get("content-encoding") != "" {
		return nil
	}
	return dialect.NewStream(dialect.StreamOptions{Endpoint: a.x.match.Endpoint})
}

// maxUsageBodyBytes is how much of an encoded answer is decoded to find what it used.
const maxUsageBodyBytes = 8 << 20

// readUsage takes what a relayed answer says it used: from its events, or from a JSON body.
// What came encoded is decoded for that, at its end.
func (p *relay) readUsage() {
	r, ep, h := p.a.log(), p.a.x.match.Endpoint, p.a.response.header
	watch := p.watch
	switch {
	case watch != nil:
	case p.sieve != nil:
		r.Usage, r.ResponseModel = p.sieve.Usage(ep)
		return
	case !p.capture.isComplete():
		return
	case eventStream(h):
		watch = dialect.NewStream(dialect.StreamOptions{Endpoint: ep})
		watch.Feed(plainOf(h, &p.capture))
	case isJSON(h):
		body := plainOf(h, &p.capture)
		r.Usage, r.ResponseModel = dialect.Usage(ep, body, "")
		p.g.detectBackgroundJob(p.a, body)
		return
	default:
		return
	}
	r.Usage, r.ResponseModel = watch.Usage(), watch.Model()
}

func isJSON(h wire.Header) bool { return strings.Contains(h.Get("content-type"), "json") }

// plainOf is what was kept of an answer, without its content encoding.
func plainOf(h wire.Header, captured *capture) []byte {
	return record.Body{Bytes: captured.bytes(), Encoding: h.Get("content-encoding")}.Plain(maxUsageBodyBytes)
}

// left records a client that went away before the end of its answer.
func (g *Gateway) left(a *attempt, err error) error {
	a.fault = fault.Wrap(fault.ClientGone, err)
	g.record(a, record.ClientGone)
	return fmt.Errorf("%w: %w", errCut, err)
}

// broken records an upstream that ended an answer early. Where a part of it went out the
// front cuts the connection, because the part must not pass for the whole; else the client
// is told.
func (g *Gateway) broken(ctx context.Context, a *attempt, err error) error {
	if ctx.Err() != nil {
		return g.left(a, err)
	}
	f, o := g.broke(err, "its response")
	if !a.x.headSent {
		g.finish(a, f)
		return g.respondError(a.x, f)
	}
	a.fault = f
	g.record(a, o)
	return fmt.Errorf("%w: %w", errCut, err)
}

// broke says who ended an answer, or what else it is called, early, and how.
func (g *Gateway) broke(err error, what string) (*fault.Error, record.Outcome) {
	if unsentErr := g.unsent(err); unsentErr != nil {
		return unsentErr, outcomeOf(unsentErr)
	}
	if errors.Is(err, transport.ErrStalled) {
		return fault.New(fault.UpstreamTimeout, "the provider stalled: it sent no data in time").WithCause(err), record.Stalled
	}
	return fault.New(fault.UpstreamFailed, "the provider ended "+what+" early").WithCause(err), record.Truncated
}

// forget gives the room of a capture back once the record, which had its bytes, is written.
func (a *attempt) forget(c *capture) {
	if a.recorded {
		a.log().Response.Bytes, a.log().ClientResponse.Bytes = nil, nil
		c.free()
		a.raw.free()
	}
}

// recordResponse hands what was captured of the reply to the record: what the client got, and
// where that was put in other words, what the upstream sent.
func (a *attempt) recordResponse(g *Gateway, c *capture) {
	a.log().BytesOut = c.size
	clientBody := g.captured(a.response.header, c)
	if a.raw.max == 0 {
		a.log().Response = clientBody
		return
	}
	a.log().Response, a.log().ClientResponse = g.captured(a.got, &a.raw), clientBody
}

func (g *Gateway) captured(h wire.Header, c *capture) record.Body {
	b := g.truncateBody(h.Get("content-type"), c.bytes(), c.size)
	b.Encoding = h.Get("content-encoding")
	return b
}
