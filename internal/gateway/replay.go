package gateway

import (
	"bytes"
	"context"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/intake"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// maxReplayBytes is the maximum size, in bytes, of the stored response to a replay. (ours)
const maxReplayBytes = 4 << 20

// Credential returns the API key in a header, by the rules of a call, or "" when there is none.
func (g *Gateway) Credential(h wire.Header) string {
	var o call.Options
	intake.ReadOptions(&o, h.Clone(0), g.set.HeaderAliases)
	return o.Credential()
}

// Replay sends a logged request again, with the API key of the user who replays it. It runs the
// steps of every request: the key's permissions, limits and budgets apply, and the ledger entry
// and the record are marked as a replay. It returns an error for a request that was refused
// before it reached a target. Any other response is an Outcome, including errors of providers.
func (g *Gateway) Replay(ctx context.Context, key, remote string, call *replay.Call) (*replay.Outcome, error) {
	req := &wire.Request{Method: call.Method, Path: call.Path, Body: bytes.NewReader(call.Body), Length: int64(len(call.Body)), Remote: remote}
	req.Header.Add(prefix+"api-key", key)
	for _, line := range call.Headers() {
		req.Header.Add(line[0], line[1])
	}
	out := &collected{}
	x := g.exchanges.newExchange(req, out)
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

// replayContext stores what a replay needs from its exchange after that has ended.
type replayContext struct {
	attemptID string         // id of the replayed attempt
	record    record.Attempt // of the last attempt
	attempts  int
	refusal   *fault.Error
}

// forDetached returns the context for an attempt that outlives the exchange. Its record has the
// same mark, but the replay does not receive it.
func (r *replayContext) forDetached() *replayContext {
	if r == nil {
		return nil
	}
	return &replayContext{attemptID: r.attemptID}
}

// mark marks an attempt's record as a replay.
func (r *replayContext) mark(a *record.Attempt) {
	if r != nil {
		a.Source, a.ReplayOf = record.FromReplay, r.attemptID
	}
}

// logID returns the id of the replayed log; empty for a caller's own request.
func (r *replayContext) logID() string {
	if r == nil {
		return ""
	}
	return r.attemptID
}

// saveRecord stores a copy of a written record, without its bodies.
func (r *replayContext) saveRecord(a *record.Attempt) {
	if r == nil {
		return
	}
	r.record = *a
	for _, b := range r.record.Bodies() {
		b.Bytes, b.Head = nil, nil // the bodies are pooled
	}
	r.record.Closing = nil
}

// end stores how the exchange ended.
func (r *replayContext) end(x *exchange) {
	if r != nil {
		r.attempts, r.refusal = x.attempts, x.refusal
	}
}

// collected is a responder that collects a response in memory.
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
