package gateway

import (
	"bytes"
	"context"
	"sync/atomic"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/providerjobs"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/quota"
)

// newProviderJobs returns the part that accounts for jobs at providers.
func newProviderJobs(g *Gateway) *providerjobs.Jobs {
	return providerjobs.New(providerjobs.Deps{
		Snapshot: func() providerjobs.Snapshot { return g.Directory() }, Prices: g.Prices, Limiter: g.Limiter, Upstream: &g.jobUpstream, Recorder: &g.recorder,
		Tracker: g.Jobs, Counter: g.counter, Clock: g.Clock, Log: g.Log,
		MaxUploadBytes: g.set.MaxUploadBytes, MaxBodyBytes: g.set.BodyLogBytes, AllowUnpriced: g.set.AllowUnpriced,
	})
}

// ProviderJobs returns the part that accounts for jobs at providers. It implements providerjob.Checker.
func (g *Gateway) ProviderJobs() *providerjobs.Jobs { return g.jobs }

// jobUpstream makes calls for jobs. It implements providerjobs.Upstream.
type jobUpstream struct {
	exchanges   *exchanges
	open        *atomic.Int64
	clock       ident.Clock
	credentials *credentialResolver
	shaper      *shaper
	sender      *sender
	receiver    *receiver
}

// Get implements providerjobs.Upstream.
func (j *jobUpstream) Get(ctx context.Context, key *keys.Entry, by *providerjobs.Access, path string) (*providerjobs.Response, error) {
	req := &wire.Request{Method: "GET", Path: "/v1" + path, Header: by.Header.Clone(1)}
	x := j.exchanges.newExchange(req, &collected{})
	j.open.Add(-1) // a draining gateway does not wait for it
	c := &providerjobs.Response{Close: func() {
		x.close()
		x.scratch.release()
	}}
	x.ctl.Timeout = 0 // the timeout was for the caller's own request
	x.key, x.account, x.config = key, by.AccountSlug, fromHeaders
	x.scope = x.dir.FindWorkspace(key.Principal.WorkspaceID)
	a := &x.scratch.attempt
	a.reset()
	a.x, a.target, a.started, x.last, x.attempts = x, by.Target, j.clock.Now(), a, 1
	for _, step := range [...]func(context.Context, *attempt) error{j.credentials.resolve, j.shaper.shape, j.sender.send, j.receiver.receive} {
		if err := step(ctx, a); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.Status = a.status
	if c.Body = bytes.NewReader(a.response.body); a.response.live {
		c.Body = a.resp.Body
	}
	return c, nil
}

// RecordJob stores the record of a finished job. It implements providerjobs.Recorder.
func (re *recorder) RecordJob(r *record.Attempt) {
	if err := re.journal.Append(r); err != nil {
		re.droppedRecords(r, err)
	}
	re.metrics.spent(r.Provider, &r.Spend)
	re.metrics.attempt(r, false)
}

// beginsJob returns the kind of job that a metered call creates, or "" when it creates none.
func beginsJob(a *attempt) providerjob.Kind {
	if a.x.match.Endpoint == llm.ChatComplete { // by far the most frequent endpoint
		return ""
	}
	return providerjob.KindOf(a.x.match.Endpoint, a.x.req.Method, a.x.path)
}

// estimateJob computes the maximum cost of a call that creates a job, for its reservation.
func (ac *accountant) estimateJob(ctx context.Context, a *attempt, kind providerjob.Kind) error {
	m, c := a.money, newJobCall(a)
	c.Document = ac.translator.requestedCall(a, a.shaping())
	p := &providerjobs.Plan{Kind: kind, Model: a.model, PriceName: c.PriceName, RateCard: m.Card(), MaxUsage: *m.MaxUsage(), MaxCostNano: m.MaxCostNano()}
	a.job = p
	m.CountTokensLater()
	err := ac.jobs.Estimate(ctx, c, p)
	a.model = p.Model
	m.SetCard(p.RateCard)
	m.SetMax(p.MaxUsage, p.MaxCostNano)
	if err != nil {
		return err
	}
	ac.collectHolds(a)
	return nil
}

// openJob starts to poll the job that a call created, and releases the holds of the call itself. A
// job that cannot be polled is charged its maximum cost.
func (ac *accountant) openJob(a *attempt, o record.Outcome) {
	if a.job == nil || !a.money.IsOpen() {
		return
	}
	switch ac.outcomeFor(a, o) {
	case metering.Abandoned, metering.Broken: // the provider may run the job, under an unknown id
		a.money.SetOutcome(metering.AbandonedBackground)
	case metering.Answered:
		a.money.SetOutcome(metering.AbandonedBackground)
		if ac.jobs.Open(newJobCall(a), a.job, clientResponse(a), jobCharges(a.money.Budgets())) {
			a.money.SetOutcome(metering.Parked)
		}
	default:
	}
}

// observeJob reports a successful call that may concern a job: it has read one, or uploaded a file
// for one.
func (ac *accountant) observeJob(a *attempt, o record.Outcome) {
	if o != record.OK || a.fault != nil || !ac.jobs.Concerns(a.x.match.Endpoint) {
		return
	}
	ac.jobs.Observe(newJobCall(a), clientResponse(a))
}

// newJobCall returns the facts of an attempt that provider jobs use.
func newJobCall(a *attempt) *providerjobs.Call {
	x := a.x
	return &providerjobs.Call{
		RequestID: x.id, TraceID: x.trace.ID, ConfigID: x.configID, Key: x.key, Header: x.req.Header, Metadata: x.metadata, Started: a.started,
		Endpoint: x.match.Endpoint, Method: x.req.Method, Path: x.path, LoggedPath: x.shown, ID: x.match.ID, Form: x.form,
		Target: a.target, AccountSlug: x.account, Account: a.account, Private: isPrivate(a),
		Provider: a.spec.ID, Region: a.bounds().Region(), Model: a.model, PriceName: a.priceName(), Overrides: x.dir.Agreement(a.account), Budgeted: a.money.HasCostBudget(),
	}
}

// isPrivate reports whether the caller sent a part of the provider's credentials or address. The
// gateway does not store such values after the request.
func isPrivate(a *attempt) bool {
	if a.account == nil || a.customHost() != a.account.Values["custom_host"] {
		return true
	}
	for name, v := range a.values {
		if a.account.Values[name] != v {
			return true
		}
	}
	return false
}

// clientResponse returns the response as the caller receives it, or the recorded part of it.
func clientResponse(a *attempt) []byte {
	if len(a.response.body) > 0 {
		return a.response.body
	}
	return bytes.TrimSpace(a.log().Response.Plain(maxUsageBodyBytes))
}

// jobCharges returns what a job charges to budgets: the amounts that the call holds of them.
func jobCharges(budgets []quota.Hold) (list []providerjob.Charge) {
	for i := range budgets {
		h := &budgets[i]
		list = append(list, providerjob.Charge{Subject: h.Counter.Subject, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Measure: measures[h.Measure], Units: max(h.Amount, 0)})
	}
	return list
}

var measures = map[quota.Measure]providerjob.Measure{quota.Cost: providerjob.Cost, quota.TokenCount: providerjob.Tokens, quota.Calls: providerjob.Calls}
