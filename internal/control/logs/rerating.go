package logs

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/rerate"
)

// rerateLongest is the longest time range of one re-rating.
const rerateLongest = 31 * 24 * time.Hour

// rerateScopes let an organisation's admin re-rate: they permit changing prices and reading
// costs.
var rerateScopes = []access.Scope{"organisation_integrations.update"}

// routes returns the route that bills recorded attempts again. It is next to the routes of the
// prices that it uses, and is ours.
func (k rerating) routes() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/model-configs/pricing/re-rate", ID: "reRate", Summary: "Bill recorded requests again at current prices, and correct budgets", Tag: "Models",
		Scopes: rerateScopes, Body: rerateIn{}, Response: rerateView{}, Audited: "integrations", Action: "manage", Run: k.reRate,
	}}
}

type rerateIn struct {
	From        time.Time `json:"time_of_generation_min" doc:"Start of the range, inclusive"`
	To          time.Time `json:"time_of_generation_max" doc:"End of the range, exclusive; at most 31 days after the start"`
	DryRun      bool      `json:"dry_run" doc:"Whether the costs are only computed, not changed"`
	WorkspaceID string    `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; absent: all workspaces"`
	Provider    string    `json:"ai_org,omitempty" maxLength:"256" doc:"Id of a provider, for example openai"`
	Model       string    `json:"ai_model,omitempty" maxLength:"256" doc:"Model requested from the provider"`
	Integration string    `json:"integration_id,omitempty" maxLength:"256" doc:"Id or slug of an integration: requests with saved providers that currently belong to it"`
}

// rerateView is the result of a re-rating. Amounts are exact.
type rerateView struct {
	Object     string             `json:"object" enum:"re_rating"`
	ID         string             `json:"id" format:"uuid" doc:"Id of the re-rating; corrections in the log refer to it as operation_id"`
	DryRun     bool               `json:"dry_run"`
	From       resource.Stamp     `json:"time_of_generation_min"`
	To         resource.Stamp     `json:"time_of_generation_max"`
	Currency   string             `json:"currency" enum:"USD" doc:"Currency of all amounts: dollars"`
	Attempts   int                `json:"attempts" doc:"Number of attempts that were billed again"`
	Changed    int                `json:"changed" doc:"Number of attempts whose cost changed"`
	Unpriced   int                `json:"unpriced" doc:"Number of attempts left unchanged because their price is unknown or incomplete"`
	Left       int                `json:"left" doc:"Number of attempts left unchanged because their usage, budgets or provider prices are unknown: attempts cut off by a crash, of older versions, or of removed providers"`
	CostBefore jsonfield.Number   `json:"cost_before" doc:"Total cost of the attempts"`
	CostAfter  jsonfield.Number   `json:"cost_after"`
	Difference jsonfield.Number   `json:"difference"`
	Changes    []rerateChangeView `json:"changes" nullable:"false" doc:"First 100 changes"`
}

// rerateChangeView is an attempt whose cost changes.
type rerateChangeView struct {
	LogID         string           `json:"log_id" format:"uuid"`
	CreatedAt     resource.Stamp   `json:"created_at"`
	CostBefore    jsonfield.Number `json:"cost_before" doc:"Amount charged to budgets"`
	CostAfter     jsonfield.Number `json:"cost_after"`
	VersionBefore string           `json:"price_version_before"`
	VersionAfter  string           `json:"price_version_after"`
}

// dollars converts nano-dollars to dollars exactly.
func dollars(nano int64) jsonfield.Number { return jsonfield.Number(quota.Cost.Text(nano)) }

func (k rerating) reRate(ctx context.Context, c *resource.Call) (any, error) {
	for _, s := range append(rerateScopes[:1:1], access.LogsList) {
		if err := c.May([]access.Scope{s}, access.Target{OrgID: c.OrgID}); err != nil {
			return nil, err
		}
	}
	o, err := k.rerateOrder(ctx, c)
	if err != nil {
		return nil, err
	}
	var dry bool
	if err := c.Sent.Into("dry_run", &dry); err != nil {
		return nil, err
	}
	if dry {
		out, err := k.Rerate.Try(ctx, o)
		return viewRerating(&o, &out, true), err
	}
	out, err := k.Rerate.Run(ctx, o, func(plan rerate.Outcome) error {
		// The audit trail contains the re-rating before anything is changed.
		return c.Change(ctx, func(resource.Tx) error { noteRerating(c, &plan); return nil })
	})
	return viewRerating(&o, &out, false), err
}

// rerateOrder reads the order of a body.
func (k rerating) rerateOrder(ctx context.Context, c *resource.Call) (o rerate.Order, err error) {
	o = rerate.Order{
		OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, Model: c.Sent.Text("ai_model"), By: c.Principal.Actor(),
		From: jsonfield.ParseTime(c.Sent.Text("time_of_generation_min")), To: jsonfield.ParseTime(c.Sent.Text("time_of_generation_max")),
	}
	if name := c.Sent.Text("ai_org"); name != "" {
		o.Provider = name
		if spec, ok := k.Providers.Find(name); ok {
			o.Provider = spec.ID
		}
	}
	if err := listing.CheckTimeRange(o.From, o.To, rerateLongest); err != nil {
		return o, err
	}
	if name := c.Sent.Text("integration_id"); name != "" {
		integration, err := resource.FindByName(ctx, c.Reader, credential.IntegrationKind, access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID}, name)
		if fault.Has(err, fault.NotFound) {
			return o, fault.New(fault.ReferenceMissing, "the integration does not exist").WithParam("integration_id")
		}
		if err != nil {
			return o, err
		}
		o.IntegrationID = integration.ID
	}
	return o, nil
}

// noteRerating adds the planned re-rating to the audit trail.
func noteRerating(c *resource.Call, plan *rerate.Outcome) {
	c.Note("operation_id", plan.Operation)
	c.Note("attempts", plan.Attempts)
	c.Note("changed", plan.Changed)
	c.Note("currency", "USD")
	c.Note("cost_before", dollars(plan.Before))
	c.Note("cost_after", dollars(plan.After))
	c.Note("difference", dollars(plan.After-plan.Before))
}

func viewRerating(o *rerate.Order, out *rerate.Outcome, dry bool) rerateView {
	v := rerateView{
		Object: "re_rating", ID: out.Operation, DryRun: dry, From: resource.Stamp(o.From), To: resource.Stamp(o.To), Currency: "USD",
		Attempts: out.Attempts, Changed: out.Changed, Unpriced: out.Unpriced, Left: out.Left,
		CostBefore: dollars(out.Before), CostAfter: dollars(out.After), Difference: dollars(out.After - out.Before), Changes: make([]rerateChangeView, len(out.Changes)),
	}
	for i := range out.Changes {
		ch := &out.Changes[i]
		v.Changes[i] = rerateChangeView{
			LogID: ch.ID, CreatedAt: resource.Stamp(ch.Started), CostBefore: dollars(ch.Before.Cost), CostAfter: dollars(ch.After.Cost),
			VersionBefore: ch.Before.Version, VersionAfter: ch.After.Version,
		}
	}
	return v
}

// logCorrection shows what a re-rating changed in an attempt.
type logCorrection struct {
	Operation      string           `json:"operation_id" format:"uuid" doc:"Id of the re-rating"`
	CorrectedAt    resource.Stamp   `json:"corrected_at"`
	By             string           `json:"corrected_by" doc:"Id of the user or API key"`
	CostBefore     jsonfield.Number `json:"cost_before" doc:"Amount charged to budgets, in exact US dollars"`
	UnpricedBefore string           `json:"cost_unpriced_before,omitempty" doc:"Reason for the missing or partial cost"`
	TermsBefore    string           `json:"cost_terms_before,omitempty"`
	VersionBefore  string           `json:"price_version_before,omitempty"`
	CostAfter      jsonfield.Number `json:"cost_after"`
	TermsAfter     string           `json:"cost_terms_after,omitempty"`
	VersionAfter   string           `json:"price_version_after,omitempty"`
}

func viewCorrections(list []record.Correction) []logCorrection {
	var out []logCorrection
	for i := range list {
		c := &list[i]
		out = append(out, logCorrection{
			Operation: c.Operation, CorrectedAt: resource.Stamp(c.RatedAt), By: c.By, CostBefore: dollars(c.Before.Cost), UnpricedBefore: c.Before.Unpriced, TermsBefore: c.Before.Terms,
			VersionBefore: c.Before.Version, CostAfter: dollars(c.After.Cost), TermsAfter: c.After.Terms, VersionAfter: c.After.Version,
		})
	}
	return out
}
