package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// keepAliveInterval is the interval of comments while a stream is held, so that proxies and clients do
// not take it for dead.
const keepAliveInterval = 5 * time.Second

// guardStream puts the output hooks between the stream of the attempt and the client.
// Source: contract/dataplane.md 5.5; windows and holds are ours.
func (s *guardrailStep) guardStream(ctx context.Context, a *attempt) error {
	if a.failed {
		a.status = statusHooksFailed
	}
	after := s.outputHooks(a)
	events := newHookEvents(a, a.first)
	if len(after) == 0 && events.insertBefore(&a.first) {
		return nil
	}
	g := &guardedBody{body: a.resp.Body, first: append([]byte(nil), a.first...), events: events}
	a.resp.Body, a.resp.Length = g, -1
	a.first = wire.GetSmallBuffer()[:0]
	if len(after) == 0 {
		g.passUnjudged()
		return nil
	}
	s.attach(ctx, a, g, after)
	a.redacted = true
	a.raw.Free()
	a.raw = wire.Capture{}
	return nil
}

// passUnjudged makes a body that no hook judges: only the event with results is inserted.
func (g *guardedBody) passUnjudged() {
	g.pass = func(dst, p []byte) ([]byte, error) { return append(dst, p...), nil }
	g.finish = func(dst []byte) ([]byte, error) { return dst, nil }
}

// attach gives a body the hooks that judge it.
func (s *guardrailStep) attach(ctx context.Context, a *attempt, g *guardedBody, hooks []*guardrails.Hook) {
	id := responseID(g.first)
	c := s.call(a)
	judge := s.engine.Stream(hooks, c)
	judge.OnFinish = func(o *guardrails.Outcome) []byte {
		s.async.startOnStream(a, o, c)
		if o.Denied {
			s.stored.note(a, id)
		} else {
			g.stored = a.conversation
		}
		a.finishStream(o)
		return g.events.after(o)
	}
	guard := guardedstream.New(surfaceOf(a.x), judge, guardedstream.Options{KeepAlive: keepAliveInterval, Now: s.clock.Now})
	judging := s.serving(ctx, a, hooks)
	g.pass = func(dst, p []byte) ([]byte, error) { return guard.Append(judging, dst, p) }
	g.finish = func(dst []byte) ([]byte, error) { return guard.Close(judging, dst) }
}

// judgeReplay runs the output hooks on a stream in memory.
func (s *guardrailStep) judgeReplay(ctx context.Context, a *attempt, hooks []*guardrails.Hook) error {
	events := newHookEvents(a, a.response.body)
	if len(hooks) == 0 {
		a.response.body = events.insert(a.response.body)
		return nil
	}
	g := &guardedBody{first: a.response.body, events: events}
	s.attach(ctx, a, g, hooks)
	out, err := g.pass(nil, a.response.body)
	if err == nil {
		out, err = g.finish(out)
	}
	if err != nil {
		return clientGone(ctx, err)
	}
	out = events.insert(out)
	g.store(out)
	a.replaceResponse(out, s.bodyLogBytes)
	return nil
}

// store stores the response at the end of a judged stream, as hooks left it.
func (g *guardedBody) store(out []byte) {
	if g.stored == nil {
		return
	}
	for line := range bytes.Lines(out) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		if kind := jsonedit.Text(data, "type"); !ok || kind != "response.completed" && kind != "response.incomplete" {
			continue
		}
		if response, found := jsonedit.Find(data, "response"); found {
			g.stored.Commit(response)
		}
	}
	g.stored = nil
}

// surfaceOf returns the format of the stream that the client receives.
func surfaceOf(x *exchange) llm.Endpoint {
	switch x.match.Endpoint {
	case llm.Proxy:
		return llm.Endpoint(bodyShape(x))
	case llm.GetModelResponse:
		return llm.CreateModelResponse
	}
	return x.match.Endpoint
}

// finishStream notes what the output hooks decided.
func (a *attempt) finishStream(o *guardrails.Outcome) {
	a.results.After, a.failedAfter = o.Results, o.Failed
	if o.Denied {
		a.denied, a.failing = true, fault.New(fault.GuardrailDenied, "").HTTPStatus()
	}
}

// guardedBody is a stream that output hooks judge while the client receives it.
type guardedBody struct {
	body   io.ReadCloser
	first  []byte                              // the first bytes of the stream, read before
	pass   func(dst, p []byte) ([]byte, error) // appends what p releases
	finish func(dst []byte) ([]byte, error)    // appends the end of the stream
	stored *responsestore.Conversation         // that stores the response once its last event is released; nil before
	events *hookEvents                         // with the results of the hooks; nil for none
	out    []byte
	offset int
	err    error
	buf    wire.ReadBuffer
}

// Read returns the next bytes that the hooks release.
func (g *guardedBody) Read(p []byte) (int, error) {
	for g.offset == len(g.out) && g.err == nil {
		g.out, g.offset = g.out[:0], 0
		g.next()
		g.out = g.events.insert(g.out)
		g.store(g.out)
	}
	n := copy(p, g.out[g.offset:])
	g.offset += n
	if g.offset == len(g.out) {
		return n, g.err
	}
	return n, nil
}

// next passes the data of one read of the provider through the guard.
func (g *guardedBody) next() {
	if g.first != nil {
		g.out, g.err = g.pass(g.out, g.first)
		g.first = nil
		return
	}
	buf := g.buf.Bytes()
	n, err := g.body.Read(buf)
	if n > 0 {
		if g.out, g.err = g.pass(g.out, buf[:n]); g.err != nil {
			return
		}
		g.buf.Took(n)
	}
	if err == nil {
		return
	}
	g.err = err
	out, bad := g.finish(g.out) // also of a stream that was cut: what is left was judged
	if g.out = out; bad != nil && errors.Is(err, io.EOF) {
		g.err = bad
	}
}

// Close frees the buffer and closes the provider's body.
func (g *guardedBody) Close() error {
	g.buf.Free()
	return g.body.Close()
}
