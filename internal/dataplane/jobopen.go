package dataplane

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/internal/gateway/metering"
	"sluice/internal/ident"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
)

// parkJob stores a job that a call created, with the maximum that the call holds of its budgets,
// and releases the holds of the call itself. A job that cannot be polled is charged its maximum
// cost: its id is unknown, too many jobs are open, or the database is unreachable.
func (g *Gateway) parkJob(a *attempt, o record.Outcome) {
	if a.job == nil || !a.money.IsOpen() {
		return
	}
	switch a.outcomeFor(o) {
	case metering.Abandoned, metering.Broken: // the provider may run the job, under an unknown id
		a.money.SetOutcome(metering.AbandonedBackground)
	case metering.Answered:
		a.money.SetOutcome(metering.AbandonedBackground)
		if a.job.kind == jobs.Eval { // its price is the price of one run
			return
		}
		why := "the response does not contain a job id, or too many jobs are open"
		if j := g.newJob(a); j != nil {
			err := g.openJob(a, j)
			if err == nil {
				a.money.SetOutcome(metering.Parked)
				return
			}
			why = err.Error()
		}
		g.Log.Warn("cannot poll provider job; charging its maximum cost", "request_id", a.x.id, "trace_id", a.x.trace.ID, "kind", string(a.job.kind), "open_jobs", g.Jobs.Len(), "reason", why)
	default:
	}
}

// newJob returns the job that the response describes, or nil when it cannot be polled.
func (g *Gateway) newJob(a *attempt) *jobs.Job {
	id, x, p := jobs.ID(a.clientResponse()), a.x, &a.x.key.Principal
	if id == "" || a.job.kind == jobs.Unknown || g.Jobs.Full() {
		return nil
	}
	j := &jobs.Job{
		ID: ident.NewIDAt(g.Clock.Now()), Kind: a.job.kind, UpstreamID: plainID(id), Path: readPath(x, id), Proxied: x.match.Endpoint == llm.Proxy, Private: isPrivate(a),
		OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID, KeyName: p.Name, UserID: p.UserID,
		RequestID: x.id, TraceID: x.trace.ID, ConfigID: x.configID, TargetPath: a.target.Path, Metadata: maps.Clone(x.metadata),
		Provider: a.spec.ID, Model: strings.Clone(a.priceName()), Endpoint: x.match.Endpoint, Method: x.req.Method, Shown: strings.Clone(x.shown), Region: a.bounds().Region(),
		Created: a.started, Charged: g.Clock.Now(), MaxCostNano: a.money.MaxCostNano(), Tokens: a.money.MaxUsage().Input + a.money.MaxUsage().Output, Input: a.job.input, Units: a.job.units, Videos: a.job.videos,
		Extends: a.job.kind == jobs.Video && jobs.Extends(x.path),
	}
	if a.account != nil {
		j.ProviderID = a.account.Slug
	}
	return j
}

// readPath returns the path below /v1 that reads a job.
func readPath(x *exchange, id string) string {
	switch x.match.Endpoint {
	case llm.CreateBatch:
		return "/batches/" + inPath(id)
	case llm.CreateFinetune:
		return "/fine_tuning/jobs/" + inPath(id)
	default:
		return jobs.ReadPath(x.path, id)
	}
}

// jobCharges returns what a job charges to budgets: the amounts that the call holds of them.
func jobCharges(budgets []quota.Hold) (list []jobs.Charge) {
	for i := range budgets {
		h := &budgets[i]
		list = append(list, jobs.Charge{Subject: h.Counter.Subject, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Measure: measures[h.Measure], Units: max(h.Amount, 0)})
	}
	return list
}

var measures = map[quota.Measure]jobs.Measure{quota.Cost: jobs.Cost, quota.TokenCount: jobs.Tokens, quota.Calls: jobs.Calls}

// openJob starts polling a job. The job is stored even if the caller disconnects.
//
//nolint:contextcheck // the job outlives the request
func (g *Gateway) openJob(a *attempt, j *jobs.Job) error {
	j.Charges = jobCharges(a.money.Budgets())
	if j.Private {
		g.jobAccess.put(j.Key(), accessOf(a))
	}
	return g.Jobs.Open(context.Background(), j)
}

// followsJobs are the endpoints through which callers read the outcome of a job.
var followsJobs = []llm.Endpoint{llm.RetrieveBatch, llm.CancelBatch, llm.GetBatchOutput, llm.RetrieveFinetune, llm.CancelFinetune}

// noteJob requests a check of a job whose end a caller has seen, and counts uploaded files for
// jobs.
func (g *Gateway) noteJob(a *attempt, o record.Outcome) {
	ep := a.x.match.Endpoint
	if g.Jobs == nil || o != record.OK || a.fault != nil {
		return
	}
	if ep == llm.UploadFile {
		g.noteFile(a)
		return
	}
	if !slices.Contains(followsJobs, ep) || ep != llm.GetBatchOutput && !jobs.ReadState(a.clientResponse()).Ended {
		return
	}
	key := jobs.Key(a.x.key.Principal.WorkspaceID, plainID(a.x.match.ID))
	if isPrivate(a) {
		g.jobAccess.put(key, accessOf(a))
	}
	g.Jobs.RequestCheck(key)
}
