package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// innerCaller makes calls of guardrail checks and of the cache through the gateway itself, with the
// permissions and budgets of the caller that they serve. Inner calls run without guardrails and cache,
// and have ledger entries and records of their own.
type innerCaller struct {
	serve func(ctx context.Context, x *exchange) error
	open  func(req *wire.Request, out wire.Responder) *exchange
}

// innerCall is the caller that an inner call serves, and what the call cost.
type innerCall struct {
	key      *keys.Entry
	scope    *tenant.Scope
	metadata map[string]string
	costNano int64
}

// add adds the cost of an attempt of the call.
func (i *innerCall) add(r *record.Attempt) {
	if i != nil {
		i.costNano += r.Spend.Cost
	}
}

// servedKey is the context key of the caller that a check serves.
type servedKey struct{}

// served is the caller that a check serves.
type served struct {
	call    innerCall
	traceID string
	payer   *checkPayer
}

// withCaller returns a context in which checks make inner calls for the caller of an attempt, and are
// paid by it.
func withCaller(ctx context.Context, a *attempt) context.Context {
	x := a.x
	return context.WithValue(ctx, servedKey{}, &served{
		call:    innerCall{key: x.key, scope: x.scope, metadata: ownMetadata(x.metadata)},
		traceID: strings.Clone(x.trace.ID), payer: newCheckPayer(a),
	})
}

// errNoCaller means that a check runs for no caller, so no budget can pay for it.
var errNoCaller = errors.New("the call has no API key that could pay for it")

// innerRequest is a call to make.
type innerRequest struct {
	path   string      // "/v1/chat/completions"
	name   string      // of its span: "guardrail judge"
	header [][2]string // settings of the deployment that select the target; nil for the target that the model names, or the caller's
	body   []byte
}

// call makes an inner call for the caller in ctx. It returns the body of a successful response.
func (c *innerCaller) call(ctx context.Context, r *innerRequest) (body []byte, costNano int64, err error) {
	by, ok := ctx.Value(servedKey{}).(*served)
	if !ok {
		return nil, 0, errNoCaller
	}
	req := &wire.Request{Method: "POST", Path: r.path, Body: bytes.NewReader(r.body), Length: int64(len(r.body))}
	req.Header.Add("content-type", "application/json")
	req.Header.Add(prefix+"trace-id", by.traceID)
	req.Header.Add(prefix+"span-name", r.name)
	for _, line := range r.header {
		req.Header.Add(line[0], line[1])
	}
	out := &collected{}
	x := c.open(req, out)
	inner := by.call
	x.inner = &inner
	if err := c.serve(ctx, x); err != nil {
		return nil, inner.costNano, err
	}
	if out.status != 200 || out.cut {
		return nil, inner.costNano, fmt.Errorf("the call ended with status %d: %s", out.status, jsonedit.Text(out.body, "error", "message"))
	}
	return out.body, inner.costNano, nil
}

// judge implements check.Judge with inner calls.
type judge struct{ inner *innerCaller }

// Judge returns what sends the texts of checks to models of the organisation.
func (g *Gateway) Judge() check.Judge { return judge{g.inner} }

// maxVerdictTokens limits the answer of a judge. (ours)
const maxVerdictTokens = 500

// Ask implements check.Judge.
func (j judge) Ask(ctx context.Context, model, system, user string) (response string, costNano int64, err error) {
	var b []byte
	b = append(append(b, `{"model":`...), jsonedit.Quote(model)...)
	b = append(append(b, `,"messages":[{"role":"system","content":`...), jsonedit.Quote(system)...)
	b = append(append(b, `},{"role":"user","content":`...), jsonedit.Quote(user)...)
	b = fmt.Appendf(b, `}],"max_tokens":%d,"temperature":0}`, maxVerdictTokens)
	body, costNano, err := j.inner.call(ctx, &innerRequest{path: "/v1/chat/completions", name: "guardrail judge", body: b})
	if err != nil {
		return "", costNano, err
	}
	return firstChoice(body), costNano, nil
}

// firstChoice returns the text of the first choice of a chat completion; empty without one.
func firstChoice(body []byte) string {
	choices, _ := jsonedit.Find(body, "choices")
	for choice := range jsonedit.Elements(choices) {
		return jsonedit.Text(choice, "message", "content")
	}
	return ""
}
