package credentials

import (
	"context"
	"slices"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/expiry"
	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
)

// providers are the integrations as workspaces use them: requests name one as @slug.
// Source: contract/identity-and-governance.yaml, providers.
func (k providers) providers() *resource.Kind[credential.Provider, providerView] {
	return &resource.Kind[credential.Provider, providerView]{
		Name: credential.ProviderKind, Object: "provider", Title: "provider", Tag: "Providers", Audited: "providers",
		Path: "/providers", Param: "slug", SlugPerWorkspace: true, Verbs: resource.AllVerbs, Scope: resource.InWorkspace,
		Scopes: func(action string, _ *resource.Row[credential.Provider]) []access.Scope {
			return []access.Scope{access.Scope("providers." + action), access.Scope("virtual_keys." + action)}
		},
		Create: providerIn{}, Update: providerPatch{}, PreparedFields: budgets.Fields, Filters: []resource.Filter{listing.TagFilter()},
		Prepare: k.prepareProvider,
		Refs:    []resource.Ref[credential.Provider]{{Kind: credential.IntegrationKind, Find: findIntegration, Cascade: true}},
		Index: func(r *resource.Row[credential.Provider]) []resource.IndexEntry {
			return listing.TagEntries(r.Value.Tags)
		},
		After: func(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.Provider]) error {
			return budgets.UpdateMeters(ctx, k.Budgets, tx, c, ch, budgets.ProviderLimits)
		},
		View: k.viewProvider,
		Done: &resource.WriteResponse[credential.Provider]{Shape: grants.IntegrationReceipt{}, Make: func(_ context.Context, _ *resource.Call, ch *resource.Edit[credential.Provider]) (any, error) {
			return grants.IntegrationReceipt{ID: ch.New.ID, Slug: ch.New.Slug}, nil
		}},
	}
}

// providerIn is the body of a creation.
type providerIn struct {
	Name          string                                `json:"name" minLength:"1" maxLength:"255"`
	IntegrationID string                                `json:"integration_id" doc:"Slug or id of an integration that the workspace may use"`
	WorkspaceID   string                                `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Slug          string                                `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the workspace; generated when absent"`
	Note          *string                               `json:"note,omitempty" nullable:"true" maxLength:"1024"`
	Tags          map[string]string                     `json:"tags,omitempty" nullable:"true"`
	ExpiresAt     *time.Time                            `json:"expires_at,omitempty" nullable:"true" doc:"Time in the future; null for never"`
	Pricing       *string                               `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices of the integration or price list"`
	UsageLimits   *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true"`
	RateLimits    []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8"`
}

// providerPatch is the body of an update.
type providerPatch struct {
	Name        string                                `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Note        *string                               `json:"note,omitempty" nullable:"true" maxLength:"1024"`
	Tags        map[string]string                     `json:"tags,omitempty" nullable:"true"`
	ExpiresAt   *time.Time                            `json:"expires_at,omitempty" nullable:"true"`
	Pricing     *string                               `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices from the price list"`
	UsageLimits *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true" doc:"Replaces the limit; null removes it"`
	RateLimits  []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8" doc:"Replaces the whole list"`
	ResetUsage  bool                                  `json:"reset_usage,omitempty" writeOnly:"true" doc:"Sets the usage of all limits to zero"`
	WorkspaceID string                                `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// providerView is a provider as clients see it.
type providerView struct {
	ID            string                                 `json:"id" format:"uuid"`
	Slug          string                                 `json:"slug"`
	Name          string                                 `json:"name"`
	WorkspaceID   string                                 `json:"workspace_id" format:"uuid"`
	IntegrationID string                                 `json:"integration_id" doc:"Slug of the integration"`
	Note          *string                                `json:"note" nullable:"true"`
	Tags          map[string]string                      `json:"tags"`
	Pricing       string                                 `json:"pricing,omitempty" enum:"free" doc:"Price as set: free, or absent"`
	Status        string                                 `json:"status" enum:"active,exhausted,expired"`
	UsageLimits   jsonfield.Nullable[budgets.BudgetView] `json:"usage_limits"`
	RateLimits    []quota.Rate                           `json:"rate_limits" nullable:"true"`
	ResetUsage    *float64                               `json:"reset_usage" nullable:"true"`
	LastResetAt   *resource.Stamp                        `json:"last_reset_at" nullable:"true"`
	CreatedAt     resource.Stamp                         `json:"created_at"`
	ExpiresAt     *resource.Stamp                        `json:"expires_at" nullable:"true"`
	Object        string                                 `json:"object" enum:"provider"`
}

func (k providers) viewProvider(ctx context.Context, c *resource.Call, r resource.Row[credential.Provider], _ bool) (providerView, error) {
	p := r.Value
	v := providerView{
		ID: r.ID, Slug: r.Slug, Name: p.Name, WorkspaceID: r.WorkspaceID, IntegrationID: p.IntegrationID, Note: jsonfield.OrNull(p.Note), Tags: p.Tags, Pricing: p.Pricing,
		Status: expiry.StatusAt(r.Status, p.ExpiresAt, c.Now), CreatedAt: resource.Stamp(r.Created), ExpiresAt: resource.StampOf(p.ExpiresAt), Object: "provider",
	}
	if v.Tags == nil {
		v.Tags = map[string]string{}
	}
	limits, err := k.Budgets.Show(ctx, c, quota.Subject{ID: r.ID}, p.UsageLimits, p.RateLimits)
	if err != nil {
		return v, err
	}
	v.Status = limits.Status(v.Status)
	v.UsageLimits, v.RateLimits, v.LastResetAt = limits.One(p.ExpiresAt, r.Status), limits.Rates, limits.LastReset
	integration, err := c.Reader.Find(ctx, credential.IntegrationKind, p.IntegrationID)
	if fault.Has(err, fault.NotFound) {
		return v, nil
	}
	v.IntegrationID = integration.ShownSlug()
	return v, err
}

func (k providers) prepareProvider(ctx context.Context, c *resource.Call, ch *resource.Edit[credential.Provider]) error {
	p := &ch.New.Value
	if err := listing.CheckTags(p.Tags); err != nil {
		return err
	}
	if err := expiry.Check(c, ch.Sent, p.ExpiresAt); err != nil {
		return err
	}
	if err := budgets.Apply(k.Budgets, c, ch, budgets.ProviderLimits); err != nil {
		return err
	}
	if ch.Old != nil {
		expiry.Reactivate(ch, p.ExpiresAt, c.Now)
		return nil
	}
	integration, err := findIntegration(ctx, c, ch.New)
	if err != nil {
		return err
	}
	p.IntegrationID = integration.ID
	return free(ctx, c.Reader, credential.VirtualKeyKind, ch.New.Record)
}

// findIntegration finds the integration of a provider: one of the workspace, or one of the
// organisation that was granted to it. Callers of the workspace get the same
// fault.ReferenceMissing for one that was not granted as for one that does not exist.
func findIntegration(ctx context.Context, c *resource.Call, r *resource.Row[credential.Provider]) (*resource.Record, error) {
	integration, err := c.Refer(ctx, credential.IntegrationKind, r.WorkspaceID, r.Value.IntegrationID, "integration_id")
	granted := err == nil && (integration.WorkspaceID != "" || slices.Contains(grants.GrantedTo(integration.Index), r.WorkspaceID))
	switch {
	case granted:
		return integration, nil
	case err == nil && c.Principal.IsOrgWide():
		return nil, fault.New(fault.ReferenceMissing, "the integration is not enabled for the workspace").WithParam("integration_id")
	case err == nil || fault.Has(err, fault.ReferenceMissing):
		return nil, fault.New(fault.ReferenceMissing, "the integration does not exist, or the workspace does not have access to it").WithParam("integration_id")
	}
	return nil, err
}

// free returns an error if a record of another kind has the name @slug in the workspace.
func free(ctx context.Context, from resource.Reader, kind string, r resource.Record) error {
	other, err := resource.FindByName(ctx, from, kind, access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}, r.Slug)
	switch {
	case fault.Has(err, fault.NotFound):
		return nil
	case err == nil && other.WorkspaceID == r.WorkspaceID && other.Status != resource.Archived:
		return fault.New(fault.Conflict, "a provider or virtual key of the workspace already has this slug").WithParam("slug")
	}
	return err
}

// makeProvider creates the default provider of an integration in a workspace. It uses the slug
// of the integration unless slug is set; a set slug must be free.
func (k providers) makeProvider(ctx context.Context, tx resource.Tx, c *resource.Call, integration *resource.Row[credential.Integration], workspaceID, slug string) error {
	r := &resource.Row[credential.Provider]{
		Record: resource.Record{ID: ident.NewID(), OrgID: integration.OrgID, WorkspaceID: workspaceID, Name: integration.Value.Name, Slug: slug, Kind: credential.ProviderKind},
		Value:  credential.Provider{Name: integration.Value.Name, IntegrationID: integration.ID, Note: "made automatically with the access to the integration"},
	}
	if slug == "" {
		r.Slug = integration.Slug
	}
	taken, err := occupied(ctx, tx, r.Record)
	if err != nil {
		return err
	}
	if taken && slug != "" {
		return fault.Newf(fault.InvalidParameter, "a provider or virtual key of the workspace already has the slug %q", slug).WithParam("default_provider_slug")
	}
	if taken {
		r.Slug = ident.NewSlug(integration.Slug[:min(len(integration.Slug), 240)])
	}
	return k.providers().PutLinked(ctx, tx, c, r, integration.Record)
}

func occupied(ctx context.Context, from resource.Reader, r resource.Record) (bool, error) {
	for _, kind := range []string{credential.ProviderKind, credential.VirtualKeyKind} {
		err := free(ctx, from, kind, r)
		if fault.Has(err, fault.Conflict) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// dropProviders archives the providers of an integration, in one workspace or in all.
func dropProviders(ctx context.Context, tx resource.Tx, c *resource.Call, integration resource.Record, workspaceID string) error {
	return resource.ArchiveReferrers(ctx, tx, credential.ProviderKind, integration, workspaceID, func(r resource.Record) error { return resource.ArchiveLinked(ctx, tx, c, r) })
}
