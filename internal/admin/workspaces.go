package admin

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// workspaces are the places in which everything else lives. A workspace key sees
// its own alone. Source: contract/identity-and-governance.yaml, workspaces.
func (k kinds) workspaces() resource.Resource {
	return &resource.Kind[tenant.Workspace, workspaceView]{
		Name: tenant.WorkspaceKind, Object: "workspace", Title: "workspace", Tag: "Workspaces", Audited: "workspaces",
		Path: "/workspaces", Also: []string{"/admin/workspaces"}, Param: "workspaceId", Slug: "ws", SlugFrom: 6,
		Perm: "workspaces", Verbs: resource.AllVerbs, Home: resource.IsWorkspace,
		Create: workspaceIn{}, Update: workspacePatch{}, Delete: workspaceOut{}, Own: []string{"defaults"},
		Filters: []resource.Filter{
			{Param: resource.Param{Name: "status", Doc: "active, archived, or both with a comma", Default: resource.Active}, Apply: workspaceStatuses},
			{Param: resource.Param{Name: "name", Doc: "part of the name"}, Apply: func(_ *resource.Call, v string, q *resource.Query) error {
				q.Search = v
				return nil
			}},
		},
		Prepare: prepareWorkspace,
		Refs: []resource.Ref[tenant.Workspace]{
			defaultConfig(func(w *tenant.Workspace) string { return w.Defaults.ConfigID }, "defaults.config_id", fault.ReferenceMissing),
			defaultConfig(func(w *tenant.Workspace) string { return w.Defaults.UserAPIKeyConfig }, "defaults.user_api_key_config", fault.ReferenceMissing),
			namedGuardrails(func(r *resource.Row[tenant.Workspace]) (string, map[string][]string) {
				return r.ID, map[string][]string{"defaults.input_guardrails": r.Value.Defaults.InputGuardrails, "defaults.output_guardrails": r.Value.Defaults.OutputGuardrails}
			}),
		},
		Keep:  keepWorkspace,
		After: k.afterWorkspace,
		View:  viewWorkspace,
		Receipt: &resource.Receipt[tenant.Workspace]{Shape: workspaceView{}, Make: func(ctx context.Context, c *resource.Call, ch *resource.Edit[tenant.Workspace]) (any, error) {
			return viewWorkspace(ctx, c, *ch.New, true)
		}},
	}
}

// workspaceIn is the body of a creation.
type workspaceIn struct {
	Name        string               `json:"name" minLength:"1" maxLength:"255"`
	Description *string              `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Slug        string               `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"unique in the organisation; generated when absent"`
	Defaults    *workspaceDefaultsIn `json:"defaults,omitempty"`
}

// workspacePatch is the body of an update.
type workspacePatch struct {
	Name        string               `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Description *string              `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Defaults    *workspaceDefaultsIn `json:"defaults,omitempty" doc:"laid over the present defaults, field by field"`
}

// workspaceOut is the body of a deletion.
type workspaceOut struct {
	Name  string `json:"name" doc:"that of the workspace, to be sure"`
	Force bool   `json:"force_delete,omitempty" doc:"with everything that is in it"`
}

type workspaceDefaultsIn struct {
	Metadata         map[string]string `json:"metadata,omitempty" doc:"added to every request; replaced as a whole"`
	ConfigID         *string           `json:"config_id,omitempty" nullable:"true" maxLength:"255" doc:"config of requests that bring none"`
	UserAPIKeyConfig *string           `json:"user_api_key_config,omitempty" nullable:"true" maxLength:"255" doc:"the same for user keys"`
	InputGuardrails  []string          `json:"input_guardrails,omitempty" nullable:"true" maxItems:"50" doc:"ids or slugs of guardrails for every request; replaced as a whole"`
	OutputGuardrails []string          `json:"output_guardrails,omitempty" nullable:"true" maxItems:"50" doc:"the same for every answer"`
}

// workspaceView is a workspace as clients see it.
type workspaceView struct {
	ID             string                `json:"id" format:"uuid"`
	Slug           string                `json:"slug"`
	Name           string                `json:"name"`
	Description    *string               `json:"description" nullable:"true"`
	Status         string                `json:"status" enum:"active,archived"`
	IsDefault      int                   `json:"is_default" enum:"0,1"`
	OrganisationID string                `json:"organisation_id" format:"uuid"`
	CreatedAt      resource.Stamp        `json:"created_at"`
	LastUpdatedAt  resource.Stamp        `json:"last_updated_at"`
	LastResetAt    *resource.Stamp       `json:"last_reset_at" nullable:"true"`
	Defaults       workspaceDefaultsView `json:"defaults"`
	UsageLimits    []any                 `json:"usage_limits" nullable:"true"`
	RateLimits     []any                 `json:"rate_limits" nullable:"true"`
	Users          []any                 `json:"users,omitempty" nullable:"false"`
	Object         string                `json:"object" enum:"workspace"`
}

type workspaceDefaultsView struct {
	Metadata         map[string]string `json:"metadata"`
	ConfigID         *string           `json:"config_id" nullable:"true"`
	UserAPIKeyConfig *string           `json:"user_api_key_config" nullable:"true"`
	InputGuardrails  []string          `json:"input_guardrails" nullable:"false"`
	OutputGuardrails []string          `json:"output_guardrails" nullable:"false"`
}

func viewWorkspace(_ context.Context, _ *resource.Call, r resource.Row[tenant.Workspace], _ bool) (workspaceView, error) {
	w := r.Value
	v := workspaceView{
		ID: r.ID, Slug: r.Slug, Name: w.Name, Description: orNull(w.Description), Status: r.Status, IsDefault: bit(w.IsDefault),
		OrganisationID: r.OrgID, CreatedAt: stamp(r.Created), LastUpdatedAt: stamp(r.Updated),
		Defaults: workspaceDefaultsView{w.Defaults.Metadata, orNull(w.Defaults.ConfigID), orNull(w.Defaults.UserAPIKeyConfig), listed(w.Defaults.InputGuardrails), listed(w.Defaults.OutputGuardrails)}, Object: "workspace",
	}
	if v.Defaults.Metadata == nil {
		v.Defaults.Metadata = map[string]string{}
	}
	return v, nil
}

// workspaceStatuses reads the status filter. What is archived only Admin keys see.
func workspaceStatuses(c *resource.Call, v string, q *resource.Query) error {
	for s := range strings.SplitSeq(v, ",") {
		switch s = strings.TrimSpace(s); {
		case s != resource.Active && s != resource.Archived:
			return fault.New(fault.InvalidParameter, "the value is active, archived, or both with a comma").At("status")
		case s == resource.Archived && c.Principal.Kind == access.ByKey && !c.Principal.IsAdminKey():
			return fault.New(fault.Forbidden, "only an Admin key lists archived workspaces").At("status")
		case !slices.Contains(q.Statuses, s):
			q.Statuses = append(q.Statuses, s)
		}
	}
	return nil
}

// prepareWorkspace lays the defaults that were sent over the present ones.
func prepareWorkspace(_ context.Context, _ *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	w := &ch.New.Value
	if ch.Sent.Cleared("defaults") {
		w.Defaults = tenant.Defaults{}
	}
	var fields resource.Sent
	if err := ch.Sent.Into("defaults", &fields); err != nil {
		return err
	}
	defaults, err := resource.Overlay(w.Defaults, fields)
	if err != nil {
		return err
	}
	w.Defaults = defaults
	return checkMetadata(w.Defaults.Metadata, "defaults.metadata")
}

// listed is a list as answers show it: never null.
func listed(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
