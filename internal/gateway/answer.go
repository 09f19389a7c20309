package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
)

// responder sends the client the result of its request.
type responder struct {
	recorder      *recorder
	stopped       *atomic.Bool
	log           *slog.Logger
	clientHeaders *clientHeaders
	deliverer     *deliverer
	states        *responsestore.Store
	clock         ident.Clock
}

// respond sends the client the result of the routing: a rejection, the fault of the last attempt,
// or its response.
func (r *responder) respond(ctx context.Context, x *exchange, err error) error {
	switch {
	case x.headSent && x.streamError != nil:
		r.recorder.discard(x.last) // the upstream's replacement for the rest of the stream is not sent
		return x.writeStreamError()
	case x.headSent:
		return nil // a stream was relayed to its end, or the client disconnected
	case err != nil:
		return r.respondError(x, err)
	case x.last == nil:
		return nil
	case x.last.fault != nil:
		return r.respondError(x, x.last.fault)
	}
	return r.sendResponse(ctx, x.last)
}

// respondError sends an error of the gateway, in the error format of the called API.
func (r *responder) respondError(x *exchange, err error) error {
	f := fault.From(err)
	if f.Code == fault.ClientGone && r.stopped.Load() { // the client is still there
		f = stopping().WithCause(f)
	}
	x.refusal, x.status = f, f.HTTPStatus()
	contentType, soft, isSoft := x.softDenial(f, r.clock.Now())
	if isSoft {
		x.refusal, x.status = nil, 200
	}
	if f.Code == fault.Internal {
		r.log.Error("internal error", "request_id", x.id, "trace_id", x.trace.ID, "error", f.Error())
	}
	r.recorder.recordRefusal(x)
	h := r.clientHeaders.addGatewayHeaders(x.scratch.clientHeader[:0], x)
	h = append(h, wire.Field{Name: "content-type", Value: cmp.Or(contentType, "application/json")})
	if f.Retry > 0 {
		h = append(h, wire.Field{Name: "retry-after", Value: strconv.Itoa(int((f.Retry + time.Second - 1) / time.Second))})
	}
	h = x.vendorHeader(h, f)
	x.scratch.clientHeader = h
	body := soft
	if !isSoft {
		body = x.legible(x.errorBody(f))
	}
	x.headSent = true
	if err := x.out.Head(x.status, h, int64(len(body))); err != nil {
		return err
	}
	_, err = x.out.Write(body)
	return err
}

// errorBody returns the error in the error format of the called API. For the Messages API it adds
// the request id, because Anthropic's clients read it from the body.
// Source: contract/provider-transforms.md 2.6.
func (x *exchange) errorBody(f *fault.Error) []byte {
	body := x.withResults(f.Body(x.surface()), f)
	if x.surface() != fault.Messages {
		return body
	}
	var w jsonwriter.Writer
	w.B = body[:len(body)-1]
	w.Str("request_id", x.id)
	w.Close('}')
	return w.B
}

// sendResponse sends the response of the attempt. A buffered response is recorded before it is
// sent.
func (r *responder) sendResponse(ctx context.Context, a *attempt) error {
	x := a.x
	x.status = a.status
	switch {
	case a.response.live:
		hideKey(a)
	case a.failing != 0: // an error inside a successful response
		a.response.body = a.withoutKey(a.response.body)
	}
	h := r.clientHeaders.responseHeader(x, a.response.header)
	if a.response.live {
		return r.deliverer.relay(ctx, a, h)
	}
	if a.outlives.IsDetached() { // the client disconnected, and the complete response is known
		a.drained = true
		return r.recorder.left(a, disconnect.ErrLeft)
	}
	r.recorder.captureClientResponse(a)
	r.recorder.record(a, a.recordedOutcome())
	x.headSent = true
	body := x.legible(a.response.body)
	if err := x.out.Head(a.status, h, int64(len(body))); err != nil {
		return err
	}
	return x.hand(body)
}

// maxWriteBytes is the maximum number of bytes of one write to the client. HTTP servers apply a
// timeout to each write, so a slow client needs more than one write for a large response.
const maxWriteBytes = 256 << 10

// hand writes a response body in memory to the client.
func (x *exchange) hand(body []byte) error {
	for chunk := range slices.Chunk(body, maxWriteBytes) {
		if _, err := x.out.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

// recordedOutcome returns the outcome of a response for the log, the metrics and the circuit
// breakers. A successful response may contain an error.
func (i *incoming) recordedOutcome() record.Outcome {
	if i.failing != 0 || i.status >= 400 {
		return record.Failed
	}
	return record.OK
}

// errCut reports that the response could not be completed. The HTTP server must close the
// connection so that the client does not treat the partial response as complete.
var errCut = errors.New("the response was cut short")
