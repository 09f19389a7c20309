package people

import (
	"context"

	"sluice/internal/control/budgets"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/limits/quota"
)

// workspaceIn is the body of a creation.
type workspaceIn struct {
	Name        string               `json:"name" minLength:"1" maxLength:"255"`
	Description *string              `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Icon        *string              `json:"icon,omitempty" nullable:"true" maxLength:"64" doc:"Emoji"`
	Slug        string               `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Defaults    *workspaceDefaultsIn `json:"defaults,omitempty"`
	Users       []string             `json:"users,omitempty" nullable:"false" format:"uuid" maxItems:"1000" doc:"Users of the organisation who become members"`
	UsageLimits []budgets.BudgetIn   `json:"usage_limits,omitempty" nullable:"true" maxItems:"20" doc:"One limit for each measure and period"`
	RateLimits  []budgets.RateIn     `json:"rate_limits,omitempty" nullable:"true" maxItems:"8"`
}

// workspacePatch is the body of an update.
type workspacePatch struct {
	Name        string               `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Description *string              `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Icon        *string              `json:"icon,omitempty" nullable:"true" maxLength:"64" doc:"Emoji; an empty value removes it"`
	Defaults    *workspaceDefaultsIn `json:"defaults,omitempty" doc:"Merged into the present defaults, field by field"`
	Status      string               `json:"status,omitempty" enum:"active" doc:"brings an archived workspace back, named by its id, its slug or its name, with its members and its default collection; keys and what was deleted with it stay deleted"`
	Security    *securityIn          `json:"security_settings,omitempty" doc:"Settings in sections that the organisation opened"`
	Settings    *WorkspaceSettingsIn `json:"settings,omitempty"`
	UsageLimits []budgets.BudgetIn   `json:"usage_limits,omitempty" nullable:"true" maxItems:"20" doc:"Replaces all; usage is retained where measure and period are unchanged"`
	RateLimits  []budgets.RateIn     `json:"rate_limits,omitempty" nullable:"true" maxItems:"8" doc:"Replaces the whole list"`
	ResetUsage  bool                 `json:"reset_usage,omitempty" writeOnly:"true" doc:"Sets the usage of all limits to zero"`
}

// workspaceOut is the body of a deletion.
type workspaceOut struct {
	Name  string `json:"name" doc:"Name of the workspace, as a confirmation"`
	Force bool   `json:"force_delete,omitempty" doc:"Deletes the workspace with its contents"`
}

type workspaceDefaultsIn struct {
	Metadata         map[string]string `json:"metadata,omitempty" doc:"Metadata added to every request; replaced as an object"`
	ConfigID         *string           `json:"config_id,omitempty" nullable:"true" maxLength:"255" doc:"Config for requests that do not send one"`
	UserAPIKeyConfig *string           `json:"user_api_key_config,omitempty" nullable:"true" maxLength:"255" doc:"Config for requests of user keys that do not send one"`
	InputGuardrails  []string          `json:"input_guardrails,omitempty" nullable:"true" maxItems:"100" doc:"Slugs or ids of guardrails"`
	OutputGuardrails []string          `json:"output_guardrails,omitempty" nullable:"true" maxItems:"100" doc:"Slugs or ids of guardrails"`
}

// workspaceView is a workspace as clients see it. The fields from created_by on are shown only
// when one is read.
type workspaceView struct {
	ID             string                `json:"id" format:"uuid"`
	Slug           string                `json:"slug"`
	Name           string                `json:"name"`
	Icon           *string               `json:"icon" nullable:"true"`
	Description    *string               `json:"description" nullable:"true"`
	Status         string                `json:"status" enum:"active,archived"`
	IsDefault      int                   `json:"is_default" enum:"0,1"`
	OrganisationID string                `json:"organisation_id" format:"uuid"`
	CreatedAt      resource.Stamp        `json:"created_at"`
	LastUpdatedAt  resource.Stamp        `json:"last_updated_at"`
	LastResetAt    *resource.Stamp       `json:"last_reset_at" nullable:"true"`
	ScimSourceID   *string               `json:"scim_source_id" nullable:"true"`
	Defaults       workspaceDefaultsView `json:"defaults"`
	UsageLimits    []budgets.BudgetView  `json:"usage_limits" nullable:"true"`
	RateLimits     []quota.Rate          `json:"rate_limits" nullable:"true"`
	Security       securityView          `json:"security_settings"`
	CreatedBy      *string               `json:"created_by,omitempty"`
	Source         string                `json:"creation_source,omitempty" enum:"default,api,ui,scim"`
	Settings       *SettingsView         `json:"settings,omitempty"`
	Users          []memberView          `json:"users,omitempty" nullable:"false"`
	Object         string                `json:"object" enum:"workspace"`
}

type workspaceDefaultsView struct {
	Metadata         map[string]string `json:"metadata"`
	ConfigID         *string           `json:"config_id" nullable:"true"`
	UserAPIKeyConfig *string           `json:"user_api_key_config" nullable:"true"`
	InputGuardrails  []string          `json:"input_guardrails" nullable:"false"`
	OutputGuardrails []string          `json:"output_guardrails" nullable:"false"`
}

func (k workspaces) viewWorkspace(ctx context.Context, c *resource.Call, r resource.Row[tenant.Workspace], detail bool) (workspaceView, error) {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return workspaceView{}, err
	}
	w := r.Value
	v := workspaceView{
		ID: r.ID, Slug: r.Slug, Name: shownName(c, &w), Icon: jsonfield.OrNull(w.Icon), Description: jsonfield.OrNull(w.Description), Status: r.Status, IsDefault: jsonfield.Bit(w.IsDefault),
		OrganisationID: r.OrgID, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), ScimSourceID: jsonfield.OrNull(w.ScimSource),
		Defaults: workspaceDefaultsView{
			w.Defaults.Metadata, jsonfield.OrNull(w.Defaults.ConfigID), jsonfield.OrNull(w.Defaults.UserAPIKeyConfig), jsonfield.OrEmpty(w.Defaults.InputGuardrails), jsonfield.OrEmpty(w.Defaults.OutputGuardrails),
		},
		Security: securityView(org.Value.SecurityOf(&w)), Object: "workspace",
	}
	if v.Defaults.Metadata == nil {
		v.Defaults.Metadata = map[string]string{}
	}
	limits, err := k.Budgets.Show(ctx, c, quota.Subject{ID: r.ID}, w.UsageLimits, w.RateLimits)
	if err != nil {
		return v, err
	}
	v.UsageLimits, v.RateLimits, v.LastResetAt = limits.Budgets, limits.Rates, limits.LastReset
	if !detail {
		return v, nil
	}
	settings := viewSettings(org.Value.SettingsOf(&w))
	v.CreatedBy, v.Source, v.Settings = jsonfield.OrNull(w.CreatedBy), w.Source, &settings
	if access.Can(c.Principal, "workspace_users.list", access.Target{OrgID: r.OrgID, WorkspaceID: r.ID}) == nil {
		v.Users, err = members(k).membersOf(ctx, c, &r)
	}
	return v, err
}

// shownName returns the name of a workspace, after its icon unless the call requests the plain
// name.
func shownName(c *resource.Call, w *tenant.Workspace) string {
	if c.Query("name_format") == "plain" {
		return w.Name
	}
	return displayName(w)
}

// displayName returns the name of a workspace with its icon before it, if it has one.
func displayName(w *tenant.Workspace) string {
	if w.Icon == "" {
		return w.Name
	}
	return w.Icon + " " + w.Name
}
