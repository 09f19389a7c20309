package gateway

import (
	"context"
	"strconv"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/gateway/providerjobs"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

// limitCaller takes one request from the limits of the caller, or rejects the request.
func (ad *admission) limitCaller(ctx context.Context, x *exchange) error {
	if !gated || !bound.IsMetered(x.match, x.req.Method, x.path) {
		return nil
	}
	p := &x.key.Principal
	key, workspace := x.dir.Limits(keys.Kind, p.ID), x.dir.Limits(tenant.WorkspaceKind, p.WorkspaceID)
	if x.inner != nil { // its request was counted
		x.limits.Admitted(key, workspace)
		return nil
	}
	return ad.meter.Admit(ctx, x.limits, x.started, p.OrgID, key, workspace, x.match.Endpoint != llm.Realtime) // a Realtime conversation may never have a response
}

// checkDeferred checks the caller's limits if they still wait when the call is over. A rejection
// takes precedence over err, the result of the call.
func (g *Gateway) checkDeferred(ctx context.Context, x *exchange, err error) error {
	refused := g.meter.AdmitWaiting(ctx, x.limits)
	if refused == nil {
		return err
	}
	if x.last != nil {
		g.recorder.discard(x.last)
	}
	return refused
}

// limitDirectory finds the limits that apply to a call.
type limitDirectory interface {
	Limits(kind, id string) *quota.Plan // never nil
	IntegrationLimits(integration, workspace string) *quota.Plan
	Policies(workspace string) *quota.Policies
}

// accountant reserves the maximum cost of calls, closes their ledger entries, and accounts for
// jobs at providers.
type accountant struct {
	prices     prices
	meter      *metering.Meter
	metrics    *Metrics
	counter    *tokens.Counter
	translator *translator
	jobs       *providerjobs.Jobs
}

// reserve takes the maximum usage of the attempt from all limits that apply to it, or rejects the
// attempt. The attempt is either a job at its provider or a call with an immediate response.
func (ac *accountant) reserve(ctx context.Context, a *attempt) error {
	x := a.x
	if !x.limits.IsMetered() {
		return nil
	}
	a.openAccount()
	ac.setModelFromPath(a)
	kind := beginsJob(a)
	if kind == "" {
		return ac.meter.Reserve(ctx, a.money, x.limits, chargedSubject(a), a.bounds(), a.recordID())
	}
	if err := ac.meter.Estimate(a.money, x.limits, chargedSubject(a), a.bounds()); err != nil {
		return err
	}
	if err := ac.estimateJob(ctx, a, kind); err != nil {
		a.money.Drop()
		return err
	}
	return ac.meter.Take(ctx, a.money, x.limits, chargedSubject(a), a.recordID())
}

// probe returns the error that reserve would return after checks were paid, and reserves nothing.
func (ac *accountant) probe(ctx context.Context, a *attempt, checksNano int64) error {
	if !a.x.limits.IsMetered() {
		return nil
	}
	a.openAccount()
	ac.setModelFromPath(a)
	if beginsJob(a) != "" {
		return nil // the maximum of a job depends on its input file
	}
	return ac.meter.Probe(ctx, a.money, a.x.limits, chargedSubject(a), a.bounds(), checksNano)
}

// takeHit takes a response from the cache from the limits of the caller and its policies, or rejects
// it.
// Source: ours; contract/dataplane.md 4.7 has no limit for hits.
func (ac *accountant) takeHit(ctx context.Context, a *attempt) error {
	if !a.x.limits.IsMetered() {
		return nil
	}
	a.openAccount()
	ac.setModelFromPath(a)
	return ac.meter.Hit(ctx, a.money, a.x.limits, chargedSubject(a))
}

// openAccount sets the account of a metered attempt, from the request's scratch space. The next
// response of a conversation uses the same account.
func (a *attempt) openAccount() *metering.Account {
	if a.money == nil {
		a.money = &a.x.scratch.account
		a.money.Begin()
	}
	return a.money
}

// collectHolds lists the holds of a job again, after its maximum cost was set.
func (ac *accountant) collectHolds(a *attempt) {
	ac.meter.Collect(a.money, a.x.limits, chargedSubject(a), a.bounds())
}

// reserveRetry closes the entry of a call that is abandoned for a retry, and reserves the retry.
func (ac *accountant) reserveRetry(ctx context.Context, a *attempt, err error) error {
	if !a.money.IsOpen() {
		return nil
	}
	r := chargedResponse(a)
	return ac.meter.Retry(ctx, a.money, a.bounds(), ac.retryOutcome(a, err), &r)
}

// closeReservation adds what the attempt used and cost to its record, together with the closing
// ledger entry.
func (ac *accountant) closeReservation(a *attempt, rec *record.Attempt) {
	if !a.money.IsOpen() {
		return
	}
	r := chargedResponse(a)
	if ac.meter.Close(a.money, a.bounds(), ac.outcomeFor(a, rec.Outcome), &r, rec) {
		ac.metrics.spent(a.spec.ID, &rec.Spend)
	}
}

// chargedSubject returns whom the attempt is charged to. The result is valid until the next call.
func chargedSubject(a *attempt) *metering.Subject {
	a.x.scratch.subject = subjectOf(a)
	return &a.x.scratch.subject
}

func subjectOf(a *attempt) metering.Subject {
	x, p := a.x, &a.x.key.Principal
	s := metering.Subject{RequestID: x.id, ReplayOf: x.replay.logID(), Terms: x.dir.Agreement(a.account), Policies: x.dir.Policies(p.WorkspaceID), Integration: quota.NoPlan(), Provider: quota.NoPlan()}
	if x.trace.ID != x.id {
		s.TraceID = x.trace.ID
	}
	k := &s.Call
	k.OrgID, k.Workspace.ID, k.KeyID, k.Provider, k.Config = p.OrgID, p.WorkspaceID, p.ID, a.spec.ID, x.savedAs
	k.Model, k.Endpoint, k.Metadata = a.model, x.match.Endpoint, x.metadata
	if x.prompt != nil && x.prompt.saved != nil {
		k.Prompt = quota.Named{Slug: x.prompt.saved.Slug, ID: x.prompt.saved.ID}
	}
	if x.scope != nil {
		k.Workspace.Slug = x.scope.Slug
	}
	if a.account != nil {
		k.Account = quota.Named{Slug: a.account.Slug, ID: a.account.RecordID}
		s.Integration = x.dir.IntegrationLimits(a.account.IntegrationID, p.WorkspaceID)
		s.Provider = x.dir.Limits(a.account.Kind, a.account.RecordID)
	}
	return s
}

// bounds describes the call of the attempt, for its maximum usage and its charge. The result is
// valid until the next call.
func (a *attempt) bounds() *bound.Call {
	x, c := a.x, &a.x.scratch.bounds
	*c = bound.Call{}
	c.Params, c.Endpoint, c.Path, c.Request = a.params(), x.match.Endpoint, x.path, x.req
	c.Spec, c.Plan, c.Values, c.CustomHost, c.Header = a.spec, a.plan, a.values, x.ctl.CustomHost, a.header
	c.Model, c.ModelInPath = a.model, a.modelInPath
	c.Form, c.Unread, c.Nitro, c.BodyBytes, c.Restored = x.form, x.bodyNotParsed, x.ctl.Nitro == "true", a.body.Len(), a.restored
	if x.key != nil {
		c.WorkspaceID = x.key.Principal.WorkspaceID
	}
	if a.conversation != nil {
		c.Conversation = a.conversation.Body()
	}
	c.Continued = x.partial.MaxAdded()
	if a.segment != nil {
		c.Segment, c.SegmentMilli = true, a.segment.milli
	}
	return c
}

// noParams is a target without parameters.
var noParams routing.Target

// params returns the parameters of the call as the provider gets them. A request that hooks changed has those
// of the target.
func (a *attempt) params() call.Params {
	if a.withParams {
		return call.Params{Doc: a.x.doc, Target: &noParams}
	}
	return call.Params{Doc: a.x.doc, Target: a.target}
}

// priceName returns the name of the model in price lists.
func (a *attempt) priceName() string { return a.bounds().PriceName() }

// chargedResponse returns the response of the attempt as far as its charge depends on it.
func chargedResponse(a *attempt) metering.Response {
	rec := a.log()
	r := metering.Response{
		Usage: rec.Usage, Model: rec.ResponseModel, Status: a.status, Started: a.started, Body: a.response.body, BodyEvents: eventStream(a.response.header),
		Stored: &rec.Response, Uploaded: a.x.sent(),
	}
	r.Events = a.stream && a.x.match.Endpoint != llm.Proxy || r.BodyEvents // providers request streams in different ways, and the body may not be parsed
	if a.raw.Max > 0 {                                                     // the caller's format, which the counter reads
		r.Stored = &rec.ClientResponse
	}
	if a.segment != nil {
		r.Transcript = a.segment.text
	}
	return r
}

// sdkPatience is the maximum Retry-After that official clients wait for.
const sdkPatience = time.Minute

// limitHeader adds the state of the call's tightest rate limit, and whether retrying a refused
// call can help.
// Source: contract/identity-and-governance.md section 7.
func (c *clientHeaders) limitHeader(h wire.Header, x *exchange) wire.Header {
	switch f := x.refusal; {
	case f == nil:
	case f.Retryable != fault.AgainUnsaid:
		again := f.Retryable == fault.AgainHelps && f.Retry <= sdkPatience
		h = append(h, wire.Field{Name: "x-should-retry", Value: strconv.FormatBool(again)})
	case f.HTTPStatus() >= 500 && (f.Code == fault.NotSupported || f.Code == fault.InvalidRequest): // clients would treat it as an outage
		h = append(h, wire.Field{Name: "x-should-retry", Value: "false"})
	}
	rate, ok := c.meter.TightestRate(x.limits, &x.scratch.account)
	if !ok {
		return h
	}
	return append(h,
		wire.Field{Name: prefix + "ratelimit-limit", Value: strconv.FormatInt(rate.Limit, 10)},
		wire.Field{Name: prefix + "ratelimit-remaining", Value: strconv.FormatInt(rate.Remaining, 10)},
		wire.Field{Name: prefix + "ratelimit-reset", Value: strconv.FormatInt(int64((rate.Reset+time.Second-1)/time.Second), 10)})
}
