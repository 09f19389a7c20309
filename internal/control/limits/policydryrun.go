package limits

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// Limits of a dry run.
const (
	dryRunDefault = 24 * time.Hour      // length of the default time range
	dryRunLongest = 31 * 24 * time.Hour // maximum length of the time range
	dryRunRows    = 100_000             // attempts that are read
	dryRunShown   = 100                 // rejected calls and value keys in the response
)

// policyDryRuns test a policy on recorded traffic before it is created. They change nothing and
// are ours.
func (k dryRuns) policyDryRuns() resource.Resource {
	run := func(path, id, title string, body any, rehearse func(json.RawMessage, time.Time) (*quota.DryRun, error)) resource.Operation {
		return resource.Operation{
			Method: http.MethodPost, Path: path + "/dry-run", ID: id, Summary: "List the recorded requests that a " + title + " would have refused", Tag: "Policies",
			Feature: "POLICY_ENABLED", Scopes: []access.Scope{"policies.create"}, Query: []resource.Param{resource.WorkspaceParam}, Body: body, Response: dryRunView{},
			Run: func(ctx context.Context, c *resource.Call) (any, error) { return k.dryRun(ctx, c, rehearse) },
		}
	}
	return resource.Operations{
		run("/policies/usage-limits", "tryUsageLimitPolicy", "usage-limit policy", usageDryRunIn{}, k.rehearseBudget),
		run("/policies/rate-limits", "tryRateLimitPolicy", "rate-limit policy", rateDryRunIn{}, k.rehearseRate),
	}
}

// DryRunIn contains the common fields of the bodies of dry runs.
type DryRunIn struct {
	WorkspaceID string     `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	From        *time.Time `json:"time_of_generation_min,omitempty" doc:"Start of the traffic, inclusive; one day before the end when absent"`
	To          *time.Time `json:"time_of_generation_max,omitempty" doc:"End of the traffic, exclusive; now when absent. At most 31 days after the start"`
}

type usageDryRunIn struct {
	DryRunIn
	Policy usageLimitIn `json:"policy" doc:"Policy in the form used to create it"`
}

type rateDryRunIn struct {
	DryRunIn
	Policy rateLimitIn `json:"policy" doc:"Policy in the form used to create it"`
}

// dryRunView shows what a policy would have done.
type dryRunView struct {
	Object    string           `json:"object" enum:"policy_dry_run"`
	From      resource.Stamp   `json:"time_of_generation_min"`
	To        resource.Stamp   `json:"time_of_generation_max" doc:"End of the evaluated traffic"`
	Truncated bool             `json:"truncated" doc:"Whether there were more than 100000 attempts"`
	Attempts  int              `json:"attempts" doc:"Evaluated attempts; excludes those that the gateway rejected and custom logs"`
	Applied   int              `json:"applied" doc:"Attempts that match the policy"`
	Refused   int              `json:"refused" doc:"Matching attempts that the policy would have rejected"`
	Unpriced  int              `json:"unpriced" doc:"Matching attempts of unknown cost, which count as zero"`
	ValueKeys []dryRunKeyView  `json:"value_keys" nullable:"false" doc:"The 100 value keys with the most rejections"`
	Refusals  []dryRunCallView `json:"refusals" nullable:"false" doc:"First 100 rejections"`
}

// dryRunKeyView is a counter of the policy.
type dryRunKeyView struct {
	ValueKey string `json:"value_key"`
	Applied  int    `json:"applied"`
	Refused  int    `json:"refused"`
}

// dryRunCallView is a request that would have been rejected.
type dryRunCallView struct {
	LogID     string           `json:"log_id" format:"uuid"`
	RequestID string           `json:"request_id"`
	CreatedAt resource.Stamp   `json:"created_at"`
	KeyID     string           `json:"api_key_id"`
	Provider  string           `json:"ai_org"`
	Model     string           `json:"ai_model"`
	ValueKey  string           `json:"value_key"`
	Used      jsonfield.Number `json:"current_usage" doc:"Usage before the request, in the unit of the limit"`
	Units     jsonfield.Number `json:"request_usage" doc:"Usage of the request"`
	Limit     jsonfield.Number `json:"limit"`
	RetryAt   *resource.Stamp  `json:"retry_at" nullable:"true" doc:"Time when the counter resets"`
	Reason    string           `json:"reason"`
}

func (k dryRuns) rehearseBudget(raw json.RawMessage, from time.Time) (*quota.DryRun, error) {
	p, err := readPolicy[quota.UsageLimit](raw)
	if err != nil {
		return nil, err
	}
	if err := k.checkPolicy(p, p.Conditions); err != nil {
		return nil, err
	}
	return p.Rehearse(from), nil
}

func (k dryRuns) rehearseRate(raw json.RawMessage, _ time.Time) (*quota.DryRun, error) {
	p, err := readPolicy[quota.RateLimit](raw)
	if err != nil {
		return nil, err
	}
	if p.Target == quota.Tools {
		return nil, fault.New(fault.InvalidParameter, "only policies on model calls support a dry run").WithParam("policy.target")
	}
	if err := k.checkPolicy(p, p.Conditions); err != nil {
		return nil, err
	}
	return p.Rehearse(), nil
}

// readPolicy decodes the policy of a body.
func readPolicy[P any](raw json.RawMessage) (*P, error) {
	p := new(P)
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fault.New(fault.InvalidParameter, "invalid policy").WithParam("policy").WithCause(err)
	}
	return p, nil
}

// checkPolicy rejects an invalid policy of a body, and names the field by its path in the body.
func (k dryRuns) checkPolicy(p interface{ Validate() error }, conditions []quota.Condition) error {
	err := p.Validate()
	if err == nil {
		err = quota.CheckKinds(conditions, policies(k).specID)
	}
	if err == nil {
		return nil
	}
	f := fault.From(err)
	return f.WithParam("policy." + f.Param)
}

func (k dryRuns) dryRun(ctx context.Context, c *resource.Call, rehearse func(json.RawMessage, time.Time) (*quota.DryRun, error)) (any, error) {
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	if err := c.May([]access.Scope{access.LogsList}, access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID}); err != nil {
		return nil, err
	}
	from, to, err := dryRunRange(c)
	if err != nil {
		return nil, err
	}
	r, err := rehearse(c.Sent["policy"], from)
	if err != nil {
		return nil, err
	}
	slugs := directory.WorkspaceSlugs{From: c.Reader, Known: make(map[string]string)}
	slug, err := slugs.Find(ctx, c.WorkspaceID)
	if err != nil {
		return nil, err
	}
	run := dryRun{rehearsal: r, workspace: quota.Named{Slug: slug, ID: c.WorkspaceID}, keys: make(map[string]*dryRunKeyView)}
	if err := run.replay(ctx, k.Logs, c, from, to); err != nil {
		return nil, err
	}
	return run.view(from, to), nil
}

// dryRunRange returns the time range of a body.
func dryRunRange(c *resource.Call) (from, to time.Time, err error) {
	from, to = jsonfield.ParseTime(c.Sent.Text("time_of_generation_min")), jsonfield.ParseTime(c.Sent.Text("time_of_generation_max"))
	if to.IsZero() {
		to = c.Now
	}
	if from.IsZero() {
		from = to.Add(-dryRunDefault)
	}
	return from, to, listing.CheckTimeRange(from, to, dryRunLongest)
}
