package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/internal/dialect"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/gateway/stream"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// firstEventMax is the maximum number of bytes that are read to find the end of a stream's first
// event.
const firstEventMax = 64 << 10

// peek waits for the first event of a stream, because a target counts as successful only after
// that. If the first event is an error, peek returns the status of the error, so that
// retries and fallback see it.
// Source: contract/dataplane.md 4.3.
func (u *upstreamCaller) peek(a *attempt, resp *transport.Response) (status int, err error) {
	buf := wire.GetSmallBuffer()[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := resp.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		atEOF := errors.Is(err, io.EOF)
		switch {
		case dialect.FirstEvent(buf), len(buf) >= firstEventMax, atEOF && dialect.FirstEvent(append(buf, "\n\n"...)):
			a.first = buf
			if status, failed := dialect.FirstEventError(buf); failed {
				return cmp.Or(a.translator.contentFields(), status), nil // the caller's format may not contain it
			}
			return resp.Status, nil
		case atEOF:
			return 0, errEmptyStream
		case u.bodies.unsent(err) != nil:
			return 0, u.bodies.unsent(err)
		case err != nil:
			return 0, fault.From(err)
		}
	}
}

// stream relays an event stream. Each read from the upstream is one write to the client, without
// further buffering. The record is written before the client receives the end. When a stream
// ends early, the client receives an error event, or the next target continues the stream if the
// config permits it.
func (d *deliverer) stream(ctx context.Context, a *attempt) error {
	if a.first == nil || a.status >= 400 {
		return nil
	}
	a.outlives.BeginStream()
	d.backgroundJobs.detectStreamJob(a, a.first)
	s := &relayer{deliverer: d, a: a, watch: dialect.NewStream(d.streamOptions(a)), capture: wire.Capture{Max: d.bodyLogBytes}}
	if err := s.begin(); err != nil {
		return s.left(err)
	}
	defer forgetCapture(a, &s.capture)
	err := s.pass(a.first, false)
	readBuf := wire.ReadBufferFrom(a.first)
	defer readBuf.Free()
	a.first = nil
	for err == nil {
		buf := readBuf.Bytes()
		n, rerr := a.resp.Body.Read(buf)
		if n > 0 {
			err = s.pass(buf[:n], rerr != nil)
			readBuf.Took(n)
		}
		if err == nil && rerr != nil {
			return s.end(ctx, rerr)
		}
	}
	return s.left(err)
}

func (d *deliverer) streamOptions(a *attempt) dialect.StreamOptions {
	o := dialect.StreamOptions{
		Endpoint: a.x.match.Endpoint, HideUsage: a.addedUsageRequest, CollectText: a.target.ContinueStream, Rules: d.rules.responseRules(a),
	}
	if a.speech.translates() {
		o.Rules = dialect.ResponseRules{} // the gateway built the relayed events itself
	} else if a.spec.Stream.Framing == "sse-lf" {
		o.Framing = dialect.Lines
	}
	if a.x.partial != nil {
		o.ID = a.x.partial.ID
	}
	return o
}

// relayer is a stream that is being relayed to the client.
type relayer struct {
	deliverer    *deliverer
	a            *attempt
	watch        *dialect.Stream
	capture      wire.Capture
	upstreamDone bool // the upstream sent the complete stream
}

// begin sends the head, or if the stream continues another one, the continuation mark.
func (s *relayer) begin() error {
	x := s.a.x
	s.a.committed = true
	if x.partial != nil {
		s.a.continued, x.streamError = true, nil
		_, err := x.out.Write(x.partial.ContinuedEvent(s.a.target.Path))
		return err
	}
	x.status, x.headSent = s.a.status, true
	return x.out.Head(s.a.status, s.deliverer.clientHeaders.responseHeader(x, s.a.response.header), -1)
}

// pass relays the bytes of one read. If they contain the end of the stream, the record is written
// first. The last chunk is not flushed, so that the HTTP server can append to it. After the client has
// disconnected, the bytes are only watched.
func (s *relayer) pass(p []byte, last bool) error {
	s.capture.Add(p)
	out := s.watch.Feed(p)
	if s.a.outlives.IsDetached() {
		return s.stopReadingOn(len(p))
	}
	if s.watch.Done() {
		s.ended()
	}
	if len(out) == 0 {
		return nil
	}
	if _, _, failed := s.watch.Failure(); failed {
		out = s.a.withoutKey(out)
	}
	err := s.a.x.writeChunk(out, !last)
	if err != nil && !s.a.recorded && s.a.outlives.ClientLeft() {
		return nil
	}
	return err
}

// stopReadingOn ends the reading of a detached stream when it is complete or enough was read.
func (s *relayer) stopReadingOn(n int) error {
	if s.watch.Done() {
		return disconnect.ErrLeft
	}
	return s.a.outlives.CountRead(n)
}

// left records that the client disconnected before the end of its stream, with the usage so far.
func (s *relayer) left(err error) error {
	_, _, failed := s.watch.Failure()
	s.a.drained = (s.upstreamDone || s.watch.Done()) && !failed
	s.a.fault = fault.Wrap(fault.ClientGone, err)
	s.record(record.ClientGone)
	return fmt.Errorf("%w: %w", errCut, err)
}

// end finishes a stream after the upstream's last read, which returned err.
// If it were inlined, each open stream would have its variables on the stack.
//
//go:noinline
func (s *relayer) end(ctx context.Context, err error) error {
	end, out := s.watch.End(), s.a.x.out
	tail, complete := end.Tail, end.Done
	if !complete && !end.Failed && end.Finished && errors.Is(err, io.EOF) {
		tail, complete = append(tail, "data: [DONE]\n\n"...), true // some servers omit the mark
	}
	if s.a.outlives.IsDetached() {
		s.upstreamDone = complete
		return s.left(disconnect.ErrLeft)
	}
	if complete {
		s.ended()
	}
	if end.Failed {
		tail = s.a.withoutKey(tail)
	}
	if len(tail) > 0 {
		if _, werr := out.Write(tail); werr != nil {
			return s.left(werr)
		}
	}
	switch {
	case complete && end.Failed:
		return s.failed(end)
	case complete:
		return nil
	case ctx.Err() != nil && !s.deliverer.stops(ctx):
		return s.left(ctx.Err())
	case end.Failed:
		return s.failed(end)
	case ctx.Err() != nil:
		return s.stopped(ctx.Err(), end)
	}
	return s.cut(err, end)
}

// failed finishes a stream in which the upstream reported an error, which the client has received.
func (s *relayer) failed(end dialect.StreamEnd) error {
	s.failure(end.UpstreamError, end.Status)
	s.record(record.Failed)
	return s.a.fault
}

// failure sets the fault to the error that the upstream reported in the stream.
func (s *relayer) failure(message string, status int) {
	s.a.fault = fault.New(fault.UpstreamFailed, "the provider reported an error in the stream").WithCause(errors.New(message))
	s.a.failing = cmp.Or(s.a.translator.contentFields(), status) // the caller's format may not contain it
}

// ended records a stream that the upstream completed. The stream may contain an error, so a
// complete stream is not always a successful one.
func (s *relayer) ended() {
	if message, status, failed := s.watch.Failure(); failed {
		s.failure(message, status)
		s.record(record.Failed)
		return
	}
	s.record(record.OK)
}

// cut records that the upstream ended the stream early, and prepares its error event or its
// continuation at another target.
func (s *relayer) cut(err error, end dialect.StreamEnd) error {
	f, o := s.deliverer.broke(err, "the stream")
	s.a.fault, s.a.failing = f, f.HTTPStatus()
	s.record(o)
	s.unfinished(f, end)
	if s.a.target.ContinueStream && !s.a.restores() { // the next target must not receive restored values
		if p := stream.Continue(s.a.x.partial, s.a.x.match.Endpoint, end, s.a.target.Path); p != nil {
			s.a.x.partial, s.a.canContinue = p, true
		}
	}
	return f
}

// unfinished stores what writeStreamError needs, in case no other target continues the stream.
func (s *relayer) unfinished(f *fault.Error, end dialect.StreamEnd) {
	s.a.x.streamError, s.a.x.cutInsideEvent, s.a.x.partialStream = f, end.Mid, s.a.translator
	s.a.x.sequence = end.Sequence
}

// writeStreamError sends an error event at the end of a stream that no target could finish, so
// that the caller does not take the part for the complete response.
func (x *exchange) writeStreamError() error {
	typ := cmp.Or(x.streamError.Type, "upstream_error")
	var ev []byte
	if t := x.partialStream; t != nil { // its events are numbered, and some formats need further events
		ev = t.enc.Append(nil, &llm.Event{Kind: llm.EventFault, Text: x.streamError.Text(), Name: typ})
	} else {
		ev = upstreamerror.NumberedEvent(x.match.Endpoint, x.streamError.Text(), typ, x.sequence)
	}
	if x.cutInsideEvent {
		ev = append([]byte("\n\n"), ev...)
	}
	if _, err := x.out.Write(ev); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return x.out.Flush()
}

func (s *relayer) record(o record.Outcome) {
	if s.a.recorded {
		return
	}
	s.a.log().Usage, s.a.log().ResponseModel, s.a.counted = s.watch.Usage(), s.watch.Model(), s.watch.Counted()
	if t := s.a.translator; t != nil {
		s.a.log().Usage, s.a.log().ResponseModel, s.a.counted = t.usage, t.model, t.final
	}
	if s.watch.Done() || o == record.Failed {
		s.a.backgroundID = "" // the provider has finished it
	}
	s.deliverer.recorder.recordResponse(s.a, &s.capture)
	s.deliverer.recorder.record(s.a, o)
}
