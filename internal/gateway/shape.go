package gateway

import (
	"cmp"
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/dialect"
	"sluice/internal/dialect/media"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/download"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/gateway/stream"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// shaper builds the upstream call of an attempt from the client's call.
type shaper struct {
	planner         *callPlanner
	estimator       *estimator
	upstreamHeaders *upstreamHeaders
	bodies          *bodyReader
	rules           *ruleCache
	translator      *translator
	dialect         *dialect.Dialect
	states          *responsestore.Store
	downloads       *download.Downloader
	promptCache     *promptCacher
}

// shape builds the upstream call from the client's: its address, its headers and its body. The
// target's changes are edited into the client's bytes; all other bytes are unchanged.
// Source: contract/dataplane.md 3.1 and 6.2.
func (sh *shaper) shape(ctx context.Context, a *attempt) error {
	if err := sh.planner.planCall(ctx, a); err != nil {
		return err
	}
	if a.estimated {
		return sh.estimator.estimate(ctx, a)
	}
	if err := sh.rejectStatefulThread(a); err != nil {
		return err
	}
	if err := sh.shapeBody(ctx, a); err != nil {
		return err
	}
	if err := sh.promptCache.prepare(a); err != nil {
		return err
	}
	if err := sh.upstreamHeaders.upstreamHeader(a); err != nil {
		return err
	}
	requestPlain(a)
	return nil
}

func (c *callPlanner) planCall(ctx context.Context, a *attempt) error {
	x := a.x
	host := a.customHost()
	call := provider.Call{
		Method: x.req.Method, ID: x.match.ID, Path: x.path, RawQuery: x.query(a.model),
		Model: a.model, User: x.user, Stream: a.wantsStream(), CustomHost: host,
	}
	if host != "" {
		if err := c.urls.CheckURL(host); err != nil {
			return fault.From(err).WithParam("custom_host")
		}
	}
	var err error
	if call.Underlying, err = c.underlying(ctx, a); err != nil {
		return err
	}
	p, err := c.choosePlan(a, call)
	if err != nil {
		return err
	}
	if p.Named != "" && host == "" {
		if err := c.urls.CheckURL(p.Scheme + "://" + p.Host); err != nil {
			return fault.From(err).WithParam(p.Named)
		}
	}
	a.plan, a.addedParams = p, 0
	a.leftOut |= c.refusedParams.find(p.Host, p.Model, a.started)
	return nil
}

// wantsStream reports whether the body requests a stream, after the target's parameters are
// applied.
// Source: contract/dataplane.md 3.1.
func (a *attempt) wantsStream() bool {
	if t := a.target; a.x.form != nil || len(t.Default)+len(t.Override)+len(t.Drop) == 0 {
		return a.x.stream
	}
	return a.params().Value("stream").Type == gjson.True
}

// customHost returns the base URL that replaces the provider's: from the header, or else the
// target, or else the saved provider.
func (a *attempt) customHost() string {
	return cmp.Or(a.x.ctl.CustomHost, a.target.CustomHost, a.values["custom_host"])
}

// shapeBody applies the target's changes and the provider's rules to the body.
func (sh *shaper) shapeBody(ctx context.Context, a *attempt) error {
	x := a.x
	if x.direct != nil && sign.Hashes(a.plan.Auth, a.values) {
		if err := sh.bodies.holdDirect(x); err != nil {
			return err
		}
	}
	s := a.shaping()
	if a.unified() {
		s.Rules = &sh.rules.lookup(a.plan).request
	}
	if a.plan.Model != x.model || x.account != "" || x.deployed != "" {
		s.Model = a.plan.Model
	}
	switch {
	case a.isNative():
		return sh.shapeNative(a, s)
	case a.speech.translates():
		if s.Rules = nil; x.deployed == "" {
			s.Model = ""
		}
		return sh.translator.translate(ctx, a, s)
	case x.doc != nil && a.unified():
		return sh.shapeUnified(ctx, a, s)
	case x.form != nil:
		return sh.shapeForm(a, s)
	case x.doc != nil:
		shaped := sh.dialect.Shape(x.match.Endpoint, x.doc, s)
		a.stream = x.stream
		a.body = spliced(x, shaped.Edits)
	case x.spool != nil:
		a.body = x.spool.Payload()
	case x.direct != nil:
		a.body = *x.direct
	}
	return nil
}

// shapeNative shapes a body in the provider's own format. It applies only the changes of the
// config.
func (sh *shaper) shapeNative(a *attempt, s dialect.Shaping) error {
	var edits []jsonedit.Edit
	if a.x.doc != nil {
		edits = sh.dialect.Shape(llm.Proxy, a.x.doc, dialect.Shaping{Default: s.Default, Override: s.Override, Drop: s.Drop}).Edits
	}
	return setNativeBody(a, edits)
}

// shapeUnified shapes a JSON body of a typed route for a provider that uses the caller's format.
func (sh *shaper) shapeUnified(ctx context.Context, a *attempt, s dialect.Shaping) error {
	x := a.x
	if err := sh.dialect.Check(x.match.Endpoint, x.doc, s); err != nil {
		return err
	}
	s.NoUsage = a.leftOut&dialect.AddedUsage != 0
	shaped := sh.dialect.Shape(x.match.Endpoint, x.doc, s)
	a.stream, a.addedUsageRequest = shaped.Stream, shaped.AddedUsageRequest
	if shaped.AddedUsageRequest {
		a.addedParams = dialect.AddedUsage
	}
	if err := a.recordDropped(shaped.Unsupported); err != nil {
		return err
	}
	edits := shaped.Edits
	if x.partial != nil {
		edits = append(edits, x.partial.Edit(x.doc))
	}
	stateEdits, err := sh.states.Edits(ctx, x.key.Principal.WorkspaceID, x.match.Endpoint, x.doc)
	if err != nil {
		return err
	}
	edits = append(edits, stateEdits...)
	if len(stateEdits) > 0 {
		a.restored = x.doc.Apply(edits)
	}
	switch {
	case s.Rules.Inline:
		body, err := media.Inline(ctx, x.doc.Apply(edits), sh.downloads.Files().Fetch)
		a.body = wire.Bytes(body)
		return err
	case a.restored != nil:
		a.body = wire.Bytes(a.restored)
	default:
		a.body = spliced(x, edits)
	}
	return nil
}

// shapeForm shapes a form. Its files are sent unchanged.
func (sh *shaper) shapeForm(a *attempt, s dialect.Shaping) error {
	x := a.x
	if err := sh.dialect.CheckForm(x.match.Endpoint, x.form, s); err != nil {
		return err
	}
	if err := fileAllowed(a); err != nil {
		return err
	}
	a.stream = x.stream
	body, err := x.form.Edit(a.formEdits(sh.dialect.ShapeForm(x.match.Endpoint, x.form, s)))
	a.body = body
	return err
}

// shaping returns the changes that the target's config requests. A request that hooks changed has them
// already: the parameters must not put back what a hook removed. So have the lines of a managed batch, and the
// calls for its files and the batch itself get none.
func (a *attempt) shaping() dialect.Shaping {
	if a.withParams || a.x.batch != nil && !Judged(a.x.match.Endpoint) {
		return dialect.Shaping{}
	}
	return dialect.Shaping{Default: params(a.target.Default), Override: params(a.target.Override), Drop: a.target.Drop}
}

// spliced returns the client's body with the edits applied. Without edits it returns the original
// bytes.
func spliced(x *exchange, edits []jsonedit.Edit) wire.Payload {
	if len(edits) == 0 {
		return x.spool.Payload()
	}
	return wire.Bytes(x.doc.Apply(edits))
}

// params converts a target's parameters for the dialect; most targets have none.
func params(list []routing.Param) []dialect.Param {
	if len(list) == 0 {
		return nil
	}
	out := make([]dialect.Param, len(list))
	for i, p := range list {
		out[i] = dialect.Param{Key: p.Key, Raw: p.Raw}
	}
	return out
}

// amazonStream is the content type of Amazon's streams, whose events are binary frames.
const amazonStream = stream.AmazonContentType

// eventStream reports whether an upstream response is an event stream.
func eventStream(h wire.Header) bool {
	t := h.Get("content-type")
	return strings.HasPrefix(t, "text/event-stream") || strings.HasPrefix(t, "application/x-ndjson") || strings.HasPrefix(t, amazonStream)
}

var errEmptyStream = fault.New(fault.UpstreamFailed, "the provider ended the stream before the first event")
