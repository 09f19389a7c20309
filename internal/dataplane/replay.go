package dataplane

import (
	"bytes"
	"context"

	"sluice/internal/fault"
	"sluice/internal/ledger"
	"sluice/internal/record"
	"sluice/internal/record/replay"
	"sluice/internal/wire"
)

// maxReplayBytes is how much of the answer to a replay is looked at, in bytes. (ours)
const maxReplayBytes = 4 << 20

// Credential is the API key in a header, by the rules of a call; empty when there is none.
func (g *Gateway) Credential(h wire.Header) string {
	var c controls
	c.read(h.Clone(0), g.set.HeaderAliases)
	return c.credential()
}

// Replay sends a request of the log again, with the key of whoever wants it. It goes the
// way of every request: with the key's rights, limits and budgets, onto the ledger and on
// record, marked as a replay. Its error is the refusal of one that came to no target; any
// other answer is an Outcome, errors of providers too.
func (g *Gateway) Replay(ctx context.Context, key, remote string, call *replay.Call) (*replay.Outcome, error) {
	req := &wire.Request{Method: call.Method, Path: call.Path, Body: bytes.NewReader(call.Body), Length: int64(len(call.Body)), Remote: remote}
	req.Header.Add(prefix+"api-key", key)
	for _, line := range call.Headers() {
		req.Header.Add(line[0], line[1])
	}
	out := &collected{}
	x := g.newExchange(req, out)
	replayed := &replayContext{attemptID: call.AttemptID}
	x.replay = replayed
	switch err := g.serve(ctx, x); {
	case err != nil && ctx.Err() != nil:
		return nil, clientGone(ctx, err)
	case err != nil:
		return nil, fault.Wrap(fault.UpstreamFailed, err)
	case replayed.refusal != nil && replayed.record.Upstream == 0 && (replayed.attempts == 0 || replayed.record.Outcome == record.Refused):
		return nil, replayed.refusal
	}
	return &replay.Outcome{Status: out.status, Type: out.kind, Body: out.body, Cut: out.cut, Record: replayed.record}, nil
}

// replayContext is what a replay must know of its exchange when that is over.
type replayContext struct {
	attemptID string         // id of the attempt that is repeated
	record    record.Attempt // the last one
	attempts  int
	refusal   *fault.Error
}

// forDetached is for an attempt that outlasts the exchange: it is marked alike, and nobody is told
// of it.
func (r *replayContext) forDetached() *replayContext {
	if r == nil {
		return nil
	}
	return &replayContext{attemptID: r.attemptID}
}

// mark marks the record of an attempt as one of a replay.
func (r *replayContext) mark(a *record.Attempt) {
	if r != nil {
		a.Source, a.ReplayOf = record.FromReplay, r.attemptID
	}
}

// markLine marks the ledger line of a call as one of a replay.
func (r *replayContext) markLine(l *ledger.Entry) {
	if r != nil {
		l.ReplayOf = r.attemptID
	}
}

// saveRecord notes a record that was written.
func (r *replayContext) saveRecord(a *record.Attempt) {
	if r == nil {
		return
	}
	r.record = *a
	for _, b := range r.record.Bodies() {
		b.Bytes, b.Head = nil, nil // they are lent
	}
	r.record.Closing = nil
}

// end notes how the exchange ended.
func (r *replayContext) end(x *exchange) {
	if r != nil {
		r.attempts, r.refusal = x.attempts, x.refusal
	}
}

// collected takes an answer in.
type collected struct {
	status int
	kind   string
	body   []byte
	cut    bool
}

// Head implements wire.Responder.
func (c *collected) Head(status int, h wire.Header, _ int64) error {
	c.status, c.kind = status, h.Get("content-type")
	return nil
}

// Write implements wire.Responder.
func (c *collected) Write(p []byte) (int, error) {
	remaining := maxReplayBytes - len(c.body)
	c.cut = c.cut || len(p) > remaining
	c.body = append(c.body, p[:min(len(p), remaining)]...)
	return len(p), nil
}

// Flush implements wire.Responder.
func (c *collected) Flush() error { return nil }
