package dataplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/provider/transport"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// relay passes a body on as it comes, byte for byte, without holding it. The last
// piece waits for the record, so that no answered call is lost.
func (g *Gateway) relay(ctx context.Context, a *attempt, h wire.Header) error {
	x, body := a.x, a.resp.Body
	var room readRoom
	defer room.free()
	if err := x.out.Head(a.status, h, a.resp.Length); err != nil {
		return g.left(a, err)
	}
	keep := capture{max: g.set.BodyLogBytes}
	defer a.forget(&keep)
	watch := g.meter(a)
	flush := a.resp.Length < 0 || a.resp.Length > fastBytes
	for {
		buf := room.bytes()
		n, err := body.Read(buf)
		keep.take(buf[:n])
		if watch != nil {
			watch.Feed(buf[:n])
		}
		end := errors.Is(err, io.EOF) || a.resp.Length >= 0 && keep.size == a.resp.Length
		if end {
			a.keepReply(g, &keep)
			a.readUsage(watch, &keep)
			g.record(a, outcomeOfStatus(a.status))
		}
		if n > 0 {
			if _, werr := x.out.Write(buf[:n]); werr != nil {
				return g.left(a, werr)
			}
			a.committed = true
			room.took(n)
		}
		switch {
		case end:
			return nil
		case err != nil:
			a.keepReply(g, &keep)
			return g.broken(ctx, a, err)
		}
		if flush {
			if err := x.out.Flush(); err != nil {
				return g.left(a, err)
			}
		}
	}
}

// meter watches the events of a stream that is only passed through; nil for
// anything else.
func (g *Gateway) meter(a *attempt) *dialect.Stream {
	if !eventStream(a.reply.header) || a.reply.header.Get("content-encoding") != "" {
		return nil
	}
	return dialect.NewStream(dialect.StreamOptions{Endpoint: a.x.match.Endpoint})
}

// readUsage takes what a relayed answer says it used: from its events, or from a
// JSON body that was kept whole.
func (a *attempt) readUsage(watch *dialect.Stream, keep *capture) {
	switch {
	case watch != nil:
		a.log.Usage, a.log.ReplyModel = watch.Usage(), watch.Model()
	case keep.size == int64(len(keep.kept)) && strings.Contains(a.reply.header.Get("content-type"), "json"):
		a.log.Usage, a.log.ReplyModel = dialect.Usage(a.x.match.Endpoint, keep.kept, "")
	}
}

// left records a client that went away before the end of its answer.
func (g *Gateway) left(a *attempt, err error) error {
	a.fault = fault.Wrap(fault.ClientGone, err)
	g.record(a, record.ClientGone)
	return fmt.Errorf("%w: %w", errCut, err)
}

// broken records an upstream that ended an answer early, and has the front cut
// the connection, because the part that went out must not pass for the whole.
func (g *Gateway) broken(ctx context.Context, a *attempt, err error) error {
	if ctx.Err() != nil {
		return g.left(a, err)
	}
	a.fault = fault.Wrap(fault.UpstreamFailed, err)
	o := record.Truncated
	if errors.Is(err, transport.ErrStalled) {
		o = record.Stalled
	}
	g.record(a, o)
	return fmt.Errorf("%w: %w", errCut, err)
}

// forget gives the room of a capture back once the record, which had its bytes, is written.
func (a *attempt) forget(c *capture) {
	if a.recorded {
		a.log.Response.Bytes = nil
		c.free()
	}
}

// keepReply hands what was captured of the reply to the record.
func (a *attempt) keepReply(g *Gateway, c *capture) {
	a.log.BytesOut = c.size
	a.log.Response = g.keep(a.reply.header.Get("content-type"), c.kept, c.size)
	a.log.Response.Encoding = a.reply.header.Get("content-encoding")
}
