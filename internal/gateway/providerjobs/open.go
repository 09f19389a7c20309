package providerjobs

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// Open stores the job that a call created, with what the call charges to budgets, and starts to
// poll it. response is the response as the caller receives it. Open returns false for a job that
// cannot be polled and is to be charged its maximum cost: its id is unknown, too many jobs are
// open, or the database is unreachable. The job is stored even if the caller disconnects.
//
//nolint:contextcheck // the job outlives the request
func (t *Jobs) Open(c *Call, p *Plan, response []byte, charges []providerjob.Charge) bool {
	if p.Kind == providerjob.Eval { // its price is the price of one run
		return false
	}
	why := "the response does not contain a job id, or too many jobs are open"
	if j := t.newJob(c, p, response); j != nil {
		j.Charges = charges
		if j.Private {
			t.accesses.Put(j.Key(), c.access())
		}
		err := t.Tracker.Open(context.Background(), j)
		if err == nil {
			return true
		}
		why = err.Error()
	}
	t.Log.Warn("cannot poll provider job; charging its maximum cost", "request_id", c.RequestID, "trace_id", c.TraceID, "kind", string(p.Kind), "open_jobs", t.Tracker.Len(), "reason", why)
	return false
}

// newJob returns the job that the response describes, or nil when it cannot be polled.
func (t *Jobs) newJob(c *Call, plan *Plan, response []byte) *providerjob.Job {
	id, p := providerjob.ID(response), &c.Key.Principal
	if id == "" || plan.Kind == providerjob.Unknown || t.Tracker.Full() {
		return nil
	}
	j := &providerjob.Job{
		ID: ident.NewIDAt(t.Clock.Now()), Kind: plan.Kind, UpstreamID: plainID(id), Path: c.readPath(id), Proxied: c.Endpoint == llm.Proxy, Private: c.Private,
		OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID, KeyName: p.Name, UserID: p.UserID,
		RequestID: c.RequestID, TraceID: c.TraceID, ConfigID: c.ConfigID, TargetPath: c.Target.Path, Metadata: maps.Clone(c.Metadata),
		Provider: c.Provider, Model: strings.Clone(c.PriceName), Endpoint: c.Endpoint, Method: c.Method, Shown: strings.Clone(c.LoggedPath), Region: c.Region,
		Created: c.Started, Charged: t.Clock.Now(), MaxCostNano: plan.MaxCostNano, Tokens: plan.MaxUsage.Input + plan.MaxUsage.Output, Input: plan.Input, Units: plan.Units, Videos: plan.Videos,
		Extends: plan.Kind == providerjob.Video && providerjob.Extends(c.Path),
	}
	if c.Account != nil {
		j.ProviderID = c.Account.Slug
	}
	return j
}

// readPath returns the path below /v1 that reads a job.
func (c *Call) readPath(id string) string {
	switch c.Endpoint {
	case llm.CreateBatch:
		return "/batches/" + inPath(id)
	case llm.CreateFinetune:
		return "/fine_tuning/jobs/" + inPath(id)
	default:
		return providerjob.ReadPath(c.Path, id)
	}
}

// readers are the endpoints through which callers read the outcome of a job.
var readers = []llm.Endpoint{llm.RetrieveBatch, llm.CancelBatch, llm.GetBatchOutput, llm.RetrieveFinetune, llm.CancelFinetune}

// Concerns reports whether successful calls of an endpoint are to be passed to Observe.
func (t *Jobs) Concerns(ep llm.Endpoint) bool {
	return t.Tracker != nil && (ep == llm.UploadFile || slices.Contains(readers, ep))
}

// Observe requests a check of a job whose end a caller has seen, and counts uploaded files for
// jobs. response is the response as the caller receives it.
func (t *Jobs) Observe(c *Call, response []byte) {
	if c.Endpoint == llm.UploadFile {
		t.noteFile(c, response)
		return
	}
	if c.Endpoint != llm.GetBatchOutput && !providerjob.ReadState(response).Ended {
		return
	}
	key := providerjob.Key(c.Key.Principal.WorkspaceID, plainID(c.ID))
	if c.Private {
		t.accesses.Put(key, c.access())
	}
	t.Tracker.RequestCheck(key)
}
