package dataplane

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/internal/ident"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
)

// parkJob makes a job of a call that began one, and leaves what the call holds of budgets
// to it. Nil where none began. A job whose id is not known, or that cannot be followed,
// counts with its maximum.
func (g *Gateway) parkJob(a *attempt, o record.Outcome) *jobs.Job {
	if a.job == nil || !a.stake.reserved() {
		return nil
	}
	switch a.ending(o) {
	case abandoned, broken: // the provider may work on it, and nobody knows under which name
		a.fate = unheard
	case answered:
		if j := g.newJob(a); j != nil {
			a.fate = parked
			return j
		}
		a.fate = unheard
		g.Log.Warn("a job at a provider cannot be followed; it counts with its maximum cost", "request_id", a.x.id, "trace_id", a.x.trace.id, "kind", string(a.job.kind), "open_jobs", g.Jobs.Len())
	default:
	}
	return nil
}

// newJob is the job that the response describes; nil where it cannot be followed.
func (g *Gateway) newJob(a *attempt) *jobs.Job {
	id, x, p := jobs.ID(a.clientReply()), a.x, &a.x.key.Principal
	if id == "" || a.job.kind == jobs.Unknown || a.job.kind == jobs.Eval || g.Jobs.Full() {
		return nil
	}
	j := &jobs.Job{
		ID: ident.NewIDAt(g.Clock.Now()), Kind: a.job.kind, UpstreamID: plainID(id), Path: readPath(x, id), Proxied: x.match.Endpoint == llm.Proxy, Private: isPrivate(a),
		OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID, KeyName: p.Name, UserID: p.UserID,
		RequestID: x.id, TraceID: x.trace.id, ConfigID: x.configID, TargetPath: a.target.Path, Metadata: maps.Clone(x.metadata),
		Provider: a.spec.ID, Model: strings.Clone(a.priceName()), Endpoint: x.match.Endpoint, Method: x.in.Method, Shown: strings.Clone(x.shown), Region: a.region(),
		Created: a.started, Bound: a.stake.bound, Tokens: a.stake.most.Input + a.stake.most.Output, Input: a.job.input, Units: a.job.units,
	}
	if a.account != nil {
		j.ProviderID = a.account.Slug
	}
	return j
}

// readPath is the path below /v1 by which a job is read.
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

// charged notes what budgets were charged with for a job.
func (s *stake) charged(j *jobs.Job) {
	j.Charged = s.line.At
	for i := range s.holds[:s.rates] {
		h := &s.holds[i]
		j.Charges = append(j.Charges, jobs.Charge{Carrier: h.Counter.Carrier, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Measure: measures[h.Measure], Units: s.owed.amount(h.Measure)})
	}
}

var measures = map[quota.Measure]jobs.Measure{quota.Cost: jobs.Cost, quota.TokenCount: jobs.Tokens, quota.Calls: jobs.Calls}

// openJob has a job followed.
func (g *Gateway) openJob(a *attempt, j *jobs.Job) {
	if j == nil {
		return
	}
	a.stake.charged(j)
	if j.Private {
		g.jobAccess.put(j.Key(), accessOf(a))
	}
	g.Jobs.Open(context.Background(), j)
}

// followsJobs are the endpoints by which callers read what became of a job.
var followsJobs = []llm.Endpoint{llm.RetrieveBatch, llm.CancelBatch, llm.GetBatchOutput, llm.RetrieveFinetune, llm.CancelFinetune}

// noteJob has a job checked soon that a caller saw end, and counts files of jobs that are
// uploaded.
func (g *Gateway) noteJob(a *attempt, o record.Outcome) {
	ep := a.x.match.Endpoint
	if g.Jobs == nil || o != record.OK || a.fault != nil {
		return
	}
	if ep == llm.UploadFile {
		g.noteFile(a)
		return
	}
	if !slices.Contains(followsJobs, ep) || ep != llm.GetBatchOutput && !jobs.ReadState(a.clientReply()).Ended {
		return
	}
	key := jobs.Key(a.x.key.Principal.WorkspaceID, plainID(a.x.match.ID))
	if isPrivate(a) {
		g.jobAccess.put(key, accessOf(a))
	}
	g.Jobs.Hurry(key)
}

// underCost reports whether a budget of cost binds the attempt.
func (a *attempt) underCost() bool {
	return a.stake != nil && slices.ContainsFunc(a.stake.holds[:a.stake.rates], func(h quota.Hold) bool { return h.Measure == quota.Cost })
}
