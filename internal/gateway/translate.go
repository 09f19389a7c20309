package gateway

import (
	"context"
	"net/url"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/gateway/download"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// translator translates requests, responses and streams between the formats of callers and
// providers.
type translator struct {
	downloads    *download.Downloader
	dialect      *dialect.Dialect
	rules        *ruleCache
	states       *responsestore.Store
	prices       prices
	bodies       *bodyReader
	dialects     dialectSet
	clock        ident.Clock
	bodyLogBytes int
	lines        *dialect.FileLines
}

// translate converts the call to the provider's format. The changes of the target's config apply
// first, in the caller's format; the provider's own rules apply last.
func (t *translator) translate(ctx context.Context, a *attempt, s dialect.Shaping) error {
	if err := checkNumbers(a); err != nil {
		return err
	}
	body, to := t.requestedCall(a, s), t.target(a)
	if a.x.capturesBodies() {
		a.shaped = body
	}
	var out *dialect.Outgoing
	var err error
	if a.speech.unified != nil {
		out, err = t.translateBody(ctx, a, body, to)
	} else {
		out, err = t.translateResponse(ctx, a, body, to)
	}
	if err != nil {
		return err
	}
	if a.account != nil && a.account.Restricted() && a.plan.Requested == llm.CreateBatch {
		if err := batchAllowed(a.account, out.Body); err != nil {
			return err
		}
	}
	if err := checkMore(a, out.More); err != nil {
		return err
	}
	if err := a.recordDropped(out.Dropped); err != nil {
		return err
	}
	a.more, a.extra = out.More, out.Header
	if out.Path != "" || out.Query != "" {
		if err := a.plan.Reroute(out.Path, out.Query); err != nil {
			return err
		}
	}
	if a.body = out.Large; a.body.Len() == 0 {
		if to.Rules.Inline {
			if out.Body, err = media.Inline(ctx, out.Body, t.downloads.Files().Fetch); err != nil {
				return err
			}
		}
		a.body = t.applyRules(a, withoutRefused(a, out.Body, out.Added))
	}
	return nil
}

// checkNumbers refuses a number that JSON readers disagree on, before the call is translated. A
// relayed call forwards the client's bytes unchanged.
func checkNumbers(a *attempt) error {
	if a.x.doc == nil {
		return nil
	}
	if path, found := a.x.doc.Overflow(); found {
		return fault.Newf(fault.InvalidParameter, "%s must be a number below 1.8e308, the maximum that JSON readers agree on", clip(path)).WithParam(clip(path))
	}
	return nil
}

// recordDropped records the fields that the target does not receive. It returns an error when the
// caller requests strict parameters.
func (a *attempt) recordDropped(list []string) error {
	a.unsupported, a.dropped = list, joinDropped(list)
	if len(list) > 0 && a.x.ctl.StrictParams == "true" {
		return fault.Newf(fault.InvalidParameter, "%s does not support %s; remove these fields, or do not send x-gateway-strict-params", a.spec.ID, a.dropped).WithParam(clip(list[0]))
	}
	return nil
}

// requestedCall returns the caller's body with the changes of the target's config, or nil when it
// is not JSON.
func (t *translator) requestedCall(a *attempt, s dialect.Shaping) []byte {
	x := a.x
	if x.doc == nil {
		return nil
	}
	shaped := t.dialect.Shape(llm.Proxy, x.doc, s) // without the rules of an endpoint
	if x.partial != nil {
		shaped.Edits = append(shaped.Edits, x.partial.Edit(x.doc))
	}
	if len(shaped.Edits) > 0 {
		return x.doc.Apply(shaped.Edits)
	}
	return x.doc.Source()
}

func (t *translator) target(a *attempt) *dialect.Target {
	return &dialect.Target{
		Endpoint: a.plan.Requested, Provider: a.spec.ID, Model: a.plan.Model, Profiled: a.plan.Underlying, Rules: &t.rules.lookup(a.plan).request, Newer: a.spec.KeepDeveloper, Stream: a.wantsStream(),
		Value: func(name string) string { return a.values[name] }, Fetch: t.downloads.Files().Fetch,
	}
}

// translateResponse translates the call of a conversation.
func (t *translator) translateResponse(ctx context.Context, a *attempt, body []byte, to *dialect.Target) (*dialect.Outgoing, error) {
	if body == nil {
		return nil, fault.New(fault.InvalidParameter, "the body must be a JSON object that contains a conversation")
	}
	if a.x.match.Endpoint == llm.CreateModelResponse {
		c, err := t.states.Begin(ctx, a.x.key.Principal.WorkspaceID, body)
		if err != nil {
			return nil, err
		}
		a.conversation, body = c, c.Body()
		if a.judgesOutput() {
			c.Stage()
		}
	}
	call, err := a.speech.client.DecodeCall(body)
	if err != nil {
		return nil, err
	}
	if a.x.ctl.StrictParams != "false" {
		if err := toolcalls.Served(call); err != nil {
			return nil, err
		}
	}
	if a.model != "" {
		call.Model = a.model // without the saved provider; responses default to this name
	}
	if call.Model == "" && a.plan.Model == "" {
		return nil, fault.New(fault.InvalidParameter, "model is required; send it in the request body").WithParam("model")
	}
	a.call, a.to, a.stream = call, to, call.Stream
	to.Stream = call.Stream
	if !to.Rules.CustomTools {
		call, a.texts = toolcalls.AsFunctions(call)
	}
	call, a.names = toolcalls.ShortNames(call)
	call, lowered := conversation.ClampMaxTokens(call, t.prices.ContextLimits(a.spec.ID, a.priceName()).Output)
	out, err := a.speech.upstream.EncodeCall(ctx, call, to)
	if err != nil {
		return nil, err
	}
	if lowered {
		out.Dropped = append(out.Dropped, llm.MaxTokens)
	}
	for i := range call.Unserved {
		out.Dropped = append(out.Dropped, call.Unserved[i].From)
	}
	return out, nil
}

// translateBody translates a request of a unified endpoint.
func (t *translator) translateBody(ctx context.Context, a *attempt, body []byte, to *dialect.Target) (*dialect.Outgoing, error) {
	x := a.x
	r := &dialect.Request{Endpoint: a.plan.Requested, Body: body, ContentType: x.ctl.ContentType, Query: x.req.RawQuery, Lines: t.lines, NewSpool: func() *wire.Spool { return t.bodies.newSpool(x) }}
	if id, err := url.PathUnescape(x.match.ID); err == nil {
		r.ID = id
	}
	if x.match.Endpoint == llm.MessagesCountTokens {
		call, err := t.dialects.clients[llm.Messages].DecodeCall(body)
		if err != nil {
			return nil, err
		}
		r.Call = call
	}
	switch {
	case x.form != nil:
		r.Payload, r.Form = x.form.Payload(), x.form
	case x.spool != nil && body == nil:
		r.Payload = x.spool.Payload()
	case x.direct != nil:
		r.Payload = *x.direct
	}
	a.sent, a.to, a.stream = r, to, x.stream
	return a.speech.unified.EncodeRequest(ctx, r, to)
}

// newSpool returns a spool that lives as long as the exchange.
func (b *bodyReader) newSpool(x *exchange) *wire.Spool {
	s := wire.NewSpool(b.spoolDir)
	x.made = append(x.made, s)
	return s
}

// applyRules applies the request rules of the provider's spec to a body.
func (t *translator) applyRules(a *attempt, body []byte) wire.Payload {
	rules := &t.rules.lookup(a.plan).request
	if !rules.Any() && a.plan.Endpoint.Dialect != provider.OpenAI || len(body) == 0 || body[0] != '{' {
		return wire.Bytes(body)
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(body, d) != nil { // dialects write JSON: cannot happen
		return wire.Bytes(body)
	}
	shaped := t.dialect.Shape(a.plan.Requested, d, dialect.Shaping{Rules: rules, NoUsage: a.leftOut&dialect.AddedUsage != 0})
	if shaped.AddedUsageRequest {
		a.addedParams |= dialect.AddedUsage
	}
	if len(shaped.Edits) == 0 {
		return wire.Bytes(body)
	}
	return wire.Bytes(d.Apply(shaped.Edits))
}
