package configs

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Limits of a dry run.
const (
	dryRunLongest = 31 * 24 * time.Hour // maximum length of the time range
	dryRunRows    = 1000                // rows that are read by default
	dryRunSamples = 20                  // of each kind
	dryRunExcerpt = 300                 // bytes of a text
	dryRunWorkers = 4                   // bodies that are judged at the same time
)

// Traffic is the part of the request log that dry runs read.
type Traffic interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies. It returns fault.NotFound if the organisation
	// does not have it or, unless workspaceID is empty, if the workspace does not.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
}

// dryRunAction runs a guardrail on recorded traffic. It changes nothing and is ours. Reading what a
// guardrail finds in bodies is reading bodies, so it also requires the scope logs.view.
func (k guardrails) dryRunAction() resource.Action[guardrail.Guardrail] {
	d := guardrailDryRuns{k, make(slots, maxDryRuns)}
	return resource.Action[guardrail.Guardrail]{
		Name: "create", Path: "/dry-run", Method: http.MethodPost, ID: "tryGuardrail", Summary: "Run a guardrail on recorded requests and responses",
		Body: guardrailDryRunIn{}, Response: guardrailDryRunView{}, Read: d.dryRun,
	}
}

// guardrailDryRuns runs guardrails on recorded traffic.
type guardrailDryRuns struct {
	guardrails
	running slots
}

type guardrailDryRunIn struct {
	TrialIn
	From   time.Time `json:"from" doc:"Start of the traffic, inclusive"`
	To     time.Time `json:"to" doc:"End of the traffic, exclusive; at most 31 days after the start"`
	Phase  string    `json:"phase,omitempty" enum:"input,output,both" default:"both"`
	Limit  int       `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of attempts that are read, newest first"`
	Model  string    `json:"model,omitempty" maxLength:"256" doc:"Only attempts that requested this model from a provider"`
	APIKey string    `json:"api_key_id,omitempty" format:"uuid" doc:"Only attempts of this API key"`
}

// guardrailDryRunView shows what a guardrail would have done.
type guardrailDryRunView struct {
	Object    string            `json:"object" enum:"guardrail_dry_run"`
	ID        string            `json:"guardrail_id" format:"uuid"`
	VersionID string            `json:"guardrail_version_id,omitempty" format:"uuid" doc:"Absent if other checks or actions were sent"`
	From      resource.Stamp    `json:"from"`
	To        resource.Stamp    `json:"to"`
	Truncated string            `json:"truncated,omitempty" enum:"limit,time" doc:"Why older attempts of the time range were not read; absent if all were"`
	Read      int               `json:"read" doc:"Attempts that were read"`
	Duration  int64             `json:"duration" doc:"Milliseconds"`
	Phases    []dryRunPhaseView `json:"phases" nullable:"false"`
	Checks    []dryRunCheckView `json:"checks" nullable:"false"`
	Skipped   []string          `json:"skipped_checks" nullable:"false" doc:"Checks that did not run because they cost money"`
	Samples   dryRunSamplesView `json:"samples" doc:"Up to 20 of each kind, newest first"`
}

// dryRunPhaseView counts the attempts on which a phase ran.
type dryRunPhaseView struct {
	Phase       guardrail.Phase `json:"phase" enum:"input,output"`
	Judged      int             `json:"judged"`
	WithoutBody int             `json:"without_body" doc:"Not judged: the body is not recorded, or only its beginning"`
	Unreadable  int             `json:"unreadable" doc:"Not judged: the text of the body cannot be read"`
	WouldDeny   int             `json:"would_deny"`
	WouldFail   int             `json:"would_fail" doc:"Failed without a denial"`
	WouldChange int             `json:"would_change"`
	Errors      int             `json:"errors" doc:"At least one check could not judge"`
}

// dryRunCheckView counts the bodies that a check judged.
type dryRunCheckView struct {
	ID      string          `json:"id"`
	Phase   guardrail.Phase `json:"phase" enum:"input,output"`
	Judged  int             `json:"judged"`
	Failed  int             `json:"failed"`
	Changed int             `json:"changed"`
	Errors  int             `json:"errors"`
}

type dryRunSamplesView struct {
	WouldDeny   []dryRunSampleView `json:"would_deny" nullable:"false"`
	WouldFail   []dryRunSampleView `json:"would_fail" nullable:"false"`
	WouldChange []dryRunSampleView `json:"would_change" nullable:"false"`
	Errors      []dryRunSampleView `json:"errors" nullable:"false"`
}

// dryRunSampleView is an attempt that a guardrail would have denied or changed.
type dryRunSampleView struct {
	LogID     string          `json:"log_id" format:"uuid"`
	CreatedAt resource.Stamp  `json:"created_at"`
	Model     string          `json:"model"`
	Phase     guardrail.Phase `json:"phase" enum:"input,output"`
	Verdict   bool            `json:"verdict"`
	Checks    []string        `json:"checks" nullable:"false" doc:"Checks that failed, changed the body or could not judge"`
	Excerpt   string          `json:"excerpt" doc:"Beginning of the last text of the body, before changes"`
}

// dryRun runs a saved guardrail, or a draft of it, on recorded traffic.
func (k guardrailDryRuns) dryRun(ctx context.Context, c *resource.Call, r resource.Row[guardrail.Guardrail]) (any, error) {
	workspace := cmp.Or(r.WorkspaceID, c.WorkspaceID)
	if err := c.May([]access.Scope{access.LogsView}, resource.TargetOf(c, workspace)); err != nil {
		return nil, err
	}
	t, err := k.tried(c, &r)
	if err != nil {
		return nil, err
	}
	q, limit, err := dryRunQuery(c, workspace)
	if err != nil {
		return nil, err
	}
	run := &guardrailRun{logs: k.Logs, query: q, limit: limit, ownUser: q.UserID}
	if err := run.prepare(k.guardrails, t, c.Sent.Text("phase")); err != nil {
		return nil, err
	}
	if err := k.running.enter(ctx); err != nil {
		return nil, err
	}
	defer k.running.leave()
	if err := run.all(ctx); err != nil {
		return nil, err
	}
	v := run.view()
	v.ID, v.VersionID, v.Skipped = r.ID, t.VersionID, jsonfield.OrEmpty(t.skipped)
	v.Duration = k.Clock.Now().Sub(c.Now).Milliseconds()
	return v, nil
}

// dryRunQuery returns what a body selects, restricted to what the caller may see.
func dryRunQuery(c *resource.Call, workspace string) (q record.Query, limit int, err error) {
	q = record.Query{
		OrgID: c.OrgID, WorkspaceID: workspace, From: jsonfield.ParseTime(c.Sent.Text("from")), To: jsonfield.ParseTime(c.Sent.Text("to")), Newest: true,
	}
	if c.Principal.IsLimitedToUserData(workspace) {
		q.UserID = c.Principal.UserID
	}
	switch {
	case !q.From.Before(q.To):
		return q, 0, fault.New(fault.InvalidParameter, "must be after from").WithParam("to")
	case q.To.Sub(q.From) > dryRunLongest:
		return q, 0, fault.Newf(fault.InvalidParameter, "must be at most %d days after from", dryRunLongest/(24*time.Hour)).WithParam("to")
	}
	if model := c.Sent.Text("model"); model != "" {
		q.Models = []string{model}
	}
	if key := c.Sent.Text("api_key_id"); key != "" {
		if !ident.ValidID(key) {
			return q, 0, fault.New(fault.InvalidParameter, "must be the id of an API key").WithParam("api_key_id")
		}
		q.KeyIDs = []string{key}
	}
	limit = dryRunRows
	if c.Sent.Has("limit") {
		err = c.Sent.Into("limit", &limit)
	}
	return q, limit, err
}

// slots bounds how many dry runs this node executes at the same time; others wait.
type slots chan struct{}

// maxDryRuns is the number of slots.
const maxDryRuns = 2

func (s slots) enter(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) leave() { <-s }
