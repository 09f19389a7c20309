package gateway

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// restoration restores what reversible redaction hid from the provider, for the client only. The log,
// the cache and the output hooks keep the placeholders. guardrailStep writes it.
type restoration struct {
	vault      *placeholder.Vault // values that the caller sent in this conversation; nil without reversible redaction
	unrestored []byte             // the response before its values were restored; nil if none was
	captured   wire.Capture       // likewise, of a stream
}

// conversationIDs returns the ids under which earlier calls of the conversation stored their values: the
// response that the call continues, its conversation, and its trace if the client named one.
func conversationIDs(x *exchange) (ids []string) {
	if x.match.Endpoint == llm.GetModelResponse { // the stored response has placeholders
		ids = append(ids, responseKey+x.path[strings.LastIndexByte(x.path, '/')+1:])
	}
	if x.match.Endpoint == llm.CreateModelResponse && x.doc != nil {
		if id, ok := x.doc.String("previous_response_id"); ok && id != "" {
			ids = append(ids, responseKey+id)
		}
		ids = append(ids, conversationID(x.doc)...)
	}
	return append(ids, traceIDs(x)...)
}

// Prefixes keep ids of different kinds apart.
const (
	responseKey     = "response:"
	conversationKey = "conversation:"
	traceKey        = "trace:"
)

// traceIDs returns the trace id that the client sent. The one that the gateway makes is different for
// each call.
func traceIDs(x *exchange) []string {
	if x.trace.ID == "" || x.trace.ID == x.id {
		return nil
	}
	return []string{traceKey + x.trace.ID}
}

// conversationID returns the id of the stored conversation that a request of the Responses API continues.
func conversationID(d *jsonedit.Doc) []string {
	raw, _ := d.Raw("conversation")
	id, ok := d.String("conversation")
	if !ok && bytes.HasPrefix(raw, []byte("{")) {
		id = jsonedit.Text(raw, "id")
	}
	if id == "" {
		return nil
	}
	return []string{conversationKey + id}
}

// placeholderScope identifies the values of the caller. The conversation is not part of it: a value has
// one placeholder in all calls of a caller, so that the provider's cached prefix stays equal.
func placeholderScope(x *exchange) placeholder.Scope {
	p := &x.key.Principal
	return placeholder.Scope{Organisation: p.OrgID, Workspace: p.WorkspaceID, Caller: cmp.Or(p.ID, p.UserID)}
}

// restores reports whether the response of the attempt may have values that are restored for the client.
func (r *restoration) restores() bool { return r.vault != nil && r.vault.Len() > 0 }

// hasForeignPlaceholders reports whether a stored response has placeholders of values that the caller
// did not send: the semantic cache may find the response to a question about somebody else.
func (r *restoration) hasForeignPlaceholders(body []byte) bool {
	return r.vault != nil && r.vault.HasForeign(body)
}

// openVault opens the values of the call's conversation, if a hook hides values. All attempts of a
// call share them. Values of earlier calls that cannot be read stay hidden.
func (s *guardrailStep) openVault(ctx context.Context, a *attempt) {
	x := a.x
	if s.placeholders == nil || !a.hooks.Reversible() {
		return
	}
	if x.vault == nil {
		v, err := s.placeholders.Open(ctx, placeholderScope(x), conversationIDs(x)...)
		if err != nil {
			s.log.Warn("cannot read the placeholders of earlier calls; their values are not restored", "request_id", x.id, "error", err.Error())
		}
		x.vault = v
	}
	a.vault = x.vault
}

// saveVault stores the values of the conversation for later calls.
func (s *guardrailStep) saveVault(ctx context.Context, a *attempt, ids ...string) {
	if a.vault == nil || len(ids) == 0 {
		return
	}
	if err := s.placeholders.Save(context.WithoutCancel(ctx), placeholderScope(a.x), a.vault, ids...); err != nil {
		s.log.Warn("cannot store placeholders; later calls of the conversation cannot restore them", "request_id", a.x.id, "error", err.Error())
	}
}

// keepValues stores the values for later calls of the trace or of the conversation.
func (s *guardrailStep) keepValues(ctx context.Context, a *attempt) {
	if a.vault == nil {
		return
	}
	ids := traceIDs(a.x)
	if a.x.match.Endpoint == llm.CreateModelResponse && a.x.doc != nil {
		ids = append(ids, conversationID(a.x.doc)...)
	}
	s.saveVault(ctx, a, ids...)
}

// restoreResponse restores the caller's values in the response of an attempt. It is the last step
// before the client receives it, for responses of providers and of the cache.
func (s *guardrailStep) restoreResponse(ctx context.Context, a *attempt) error {
	if !a.restores() || !answersText(a.x) || a.status != 200 && a.status != statusHooksFailed {
		return nil
	}
	if a.first != nil {
		s.restoreStream(ctx, a)
		return nil
	}
	if a.response.live && isJSON(a.response.header) {
		if err := s.buffer(ctx, a); err != nil {
			return err
		}
	}
	if a.response.live || len(a.response.body) == 0 {
		return nil
	}
	if a.x.match.Endpoint == llm.CreateModelResponse {
		if id := jsonedit.Text(a.response.body, "id"); id != "" {
			s.saveVault(ctx, a, responseKey+id)
		}
	}
	restored := guardrails.Restore(a.vault, answerShape(a.x, bodyShape(a.x)), a.response.body)
	if !sameBytes(restored, a.response.body) {
		a.unrestored, a.response.body = a.response.body, restored
	}
	return nil
}

// restoreStream restores the caller's values while a stream is relayed. What the log keeps of the
// stream is captured before.
func (s *guardrailStep) restoreStream(ctx context.Context, a *attempt) {
	if a.x.capturesBodies() {
		a.captured = wire.Capture{Max: s.bodyLogBytes}
	}
	guard := guardedstream.New(surfaceOf(a.x), guardrails.RestoreStream(a.vault), guardedstream.Options{KeepAlive: keepAliveInterval, Now: s.clock.Now})
	find := responseIDFinder{found: a.x.match.Endpoint != llm.CreateModelResponse}
	g := &guardedBody{body: a.resp.Body, first: append([]byte(nil), a.first...)}
	g.pass = func(dst, p []byte) ([]byte, error) {
		if a.captured.Max > 0 {
			a.captured.Add(p)
		}
		if id := find.feed(p); id != "" {
			s.saveVault(ctx, a, responseKey+id)
		}
		return guard.Append(ctx, dst, p)
	}
	g.finish = func(dst []byte) ([]byte, error) { return guard.Close(ctx, dst) }
	a.resp.Body, a.resp.Length = g, -1
	a.first = wire.GetSmallBuffer()[:0]
}

// responseIDFinder finds the id of a response at the beginning of its stream.
type responseIDFinder struct {
	found bool
	seen  []byte
}

// maxResponseHead is the number of bytes in which the id of a response is searched.
const maxResponseHead = 64 << 10

// feed returns the id once it is complete.
func (f *responseIDFinder) feed(p []byte) string {
	if f.found {
		return ""
	}
	f.seen = append(f.seen, p...)
	mark := []byte(`"id":"resp_`)
	at := bytes.Index(f.seen, mark)
	if at < 0 {
		f.found = len(f.seen) > maxResponseHead
		return ""
	}
	id := f.seen[at+len(`"id":"`):]
	end := bytes.IndexByte(id, '"')
	if end < 0 {
		return ""
	}
	f.found = true
	return string(id[:end])
}

// unredacted reports whether hooks should have redacted the request of the attempt, but did not: it
// ended before, or a hook failed. The log keeps no body of such a request.
func (s *guardrailStep) unredacted(a *attempt) bool {
	set := a.hooks
	switch {
	case a.cleared || s.engine == nil || a.x.inner != nil:
		return false
	case set == nil && a.x.key != nil && a.target != nil && judged(a.x):
		set = s.sets.find(s.engine, a)
	}
	return set.RedactsRequests()
}
