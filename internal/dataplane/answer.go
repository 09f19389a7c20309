package dataplane

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// respond gives the client what the walk ended with: a refusal, the fault of the
// last attempt, or the answer in hand.
func (g *Gateway) respond(ctx context.Context, x *exchange, err error) error {
	switch {
	case x.headSent && x.streamError != nil:
		g.discard(x.last) // what came instead of the rest of the stream is not given
		return x.writeStreamError()
	case x.headSent:
		return nil // a stream was relayed to its end, or to a client that left
	case err != nil:
		return g.respondError(x, err)
	case x.last == nil:
		return nil
	case x.last.fault != nil:
		return g.respondError(x, x.last.fault)
	}
	return g.sendResponse(ctx, x.last)
}

// respondError answers with an error of the gateway in the body of the surface.
func (g *Gateway) respondError(x *exchange, err error) error {
	f := fault.From(err)
	if f.Code == fault.ClientGone && g.stopped.Load() { // the client is still there
		f = stopping().WithCause(f)
	}
	x.refusal, x.status = f, f.HTTPStatus()
	if f.Code == fault.Internal {
		g.Log.Error("internal error", "request_id", x.id, "trace_id", x.trace.id, "error", f.Error())
	}
	g.recordRefusal(x)
	h := g.addGatewayHeaders(x.scratch.clientHeader[:0], x)
	h = append(h, wire.Field{Name: "content-type", Value: "application/json"})
	if f.Retry > 0 {
		h = append(h, wire.Field{Name: "retry-after", Value: strconv.Itoa(int((f.Retry + time.Second - 1) / time.Second))})
	}
	h = x.vendorHeader(h, f)
	x.scratch.clientHeader = h
	body := x.legible(x.errorBody(f))
	x.headSent = true
	if err := x.out.Head(x.status, h, int64(len(body))); err != nil {
		return err
	}
	_, err = x.out.Write(body)
	return err
}

// errorBody is the error in the body of the surface. Callers of messages find the id of
// their request in it, as Anthropic's clients look for it there.
// Source: contract/provider-transforms.md 2.6.
func (x *exchange) errorBody(f *fault.Error) []byte {
	body := f.Body(x.surface())
	if x.surface() != fault.Messages {
		return body
	}
	var w dialect.JSON
	w.B = body[:len(body)-1]
	w.Str("request_id", x.id)
	w.Close('}')
	return w.B
}

// sendResponse gives the answer in hand. It is on record before its last byte leaves.
func (g *Gateway) sendResponse(ctx context.Context, a *attempt) error {
	x := a.x
	x.status = a.status
	switch {
	case a.response.live:
		a.hideKey()
	case a.failing != 0: // an error in an answer of success
		a.response.body = a.withoutKey(a.response.body)
	}
	h := g.responseHeader(x, a.response.header)
	if a.response.live {
		return g.relay(ctx, a, h)
	}
	if a.outlives.isDetached() { // nobody waits for the answer, of which all is known now
		a.drained = true
		return g.left(a, errLeft)
	}
	g.captureClientResponse(a)
	g.record(a, a.recordedOutcome())
	x.headSent = true
	body := x.legible(a.response.body)
	if err := x.out.Head(a.status, h, int64(len(body))); err != nil {
		return err
	}
	return x.hand(body)
}

// maxWriteBytes is the most that a client is given at once, in bytes. The fronts give it a time
// for each piece, and who takes a large answer slowly shall have more than that.
const maxWriteBytes = 256 << 10

// hand gives the client a body that is in memory.
func (x *exchange) hand(body []byte) error {
	for chunk := range slices.Chunk(body, maxWriteBytes) {
		if _, err := x.out.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// recordedOutcome is how an answer in hand ended for the log, the metrics and the breakers. An answer
// of success may say that the call failed.
func (a *attempt) recordedOutcome() record.Outcome {
	if a.failing != 0 || a.status >= 400 {
		return record.Failed
	}
	return record.OK
}

// errCut tells the front that the answer could not be finished: the connection
// has to be closed so that the caller does not take a part for the whole.
var errCut = errors.New("the response was cut short")
