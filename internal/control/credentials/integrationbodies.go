package credentials

import (
	"context"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/secretmapping"
	"sluice/internal/domain/credential"
)

// integrationIn is the body of a creation.
type integrationIn struct {
	Name           string                          `json:"name" minLength:"1" maxLength:"255"`
	AIProviderID   string                          `json:"ai_provider_id" doc:"Id of the provider, for example openai"`
	Slug           string                          `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Key            string                          `json:"key,omitempty" maxLength:"16384" writeOnly:"true"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	WorkspaceID    string                          `json:"workspace_id,omitempty" doc:"Id or slug of the workspace that the integration belongs to"`
	Configurations map[string]any                  `json:"configurations,omitempty" doc:"Fields of the provider, for example openai_project; every provider accepts custom_host and custom_headers"`
	Tags           map[string]string               `json:"tags,omitempty" nullable:"true"`
	Pricing        *string                         `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices from the price list"`
	MakeProvider   bool                            `json:"create_default_provider,omitempty" default:"true" doc:"Only for an integration of a workspace"`
	ProviderSlug   string                          `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Only for an integration of a workspace; defaults to the slug of the integration"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Fields that are read from secret managers at call time"`

	KeyRequired *jsonfield.Flag `json:"is_key_required,omitempty" doc:"Stored and returned; has no effect, because the provider determines whether a key is required"`

	Adjustments jsonfield.Raw[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true" doc:"Adjustments to the costs of calls through the integration"`
}

// integrationPatch is the body of an update.
type integrationPatch struct {
	Name           string                          `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Key            string                          `json:"key,omitempty" maxLength:"16384" writeOnly:"true" doc:"Credential of the provider; an empty value removes it"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Configurations map[string]any                  `json:"configurations,omitempty" doc:"Replaces the fields; omitted secret fields are retained"`
	Tags           map[string]string               `json:"tags,omitempty" nullable:"true"`
	Pricing        *string                         `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices from the price list"`
	WorkspaceID    string                          `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Replaces all; an empty list removes them"`

	KeyRequired *jsonfield.Flag `json:"is_key_required,omitempty"`

	Adjustments jsonfield.Raw[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true" doc:"Replaces the adjustments; null removes them"`
}

func receiveIntegration(_ context.Context, _ *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	return grants.IntegrationReceipt{ID: ch.New.ID, Slug: ch.New.Slug}, nil
}

// integrationView is an integration as clients see it; its masked credentials are shown only
// when one is read.
type integrationView struct {
	ID              string            `json:"id" format:"uuid"`
	Slug            string            `json:"slug"`
	Name            string            `json:"name"`
	OrganisationID  string            `json:"organisation_id" format:"uuid"`
	WorkspaceID     *string           `json:"workspace_id" nullable:"true"`
	Type            string            `json:"type" enum:"organisation,workspace"`
	AIProviderID    string            `json:"ai_provider_id"`
	OwnerID         string            `json:"owner_id"`
	Description     *string           `json:"description" nullable:"true"`
	Tags            map[string]string `json:"tags"`
	Pricing         string            `json:"pricing,omitempty" enum:"free" doc:"Price as set: free, or absent"`
	Status          string            `json:"status" enum:"active,archived"`
	WorkspacesCount int               `json:"workspaces_count" doc:"Number of workspaces that may use it"`
	CreatedAt       resource.Stamp    `json:"created_at"`
	LastUpdatedAt   resource.Stamp    `json:"last_updated_at"`
	Object          string            `json:"object" enum:"integration"`

	MaskedKey      *string                            `json:"masked_key,omitempty"`
	Configurations map[string]any                     `json:"configurations,omitempty" doc:"Fields; a secret member x is returned masked, as masked_x"`
	AllowAllModels *bool                              `json:"allow_all_models,omitempty" doc:"Whether models outside the list may be used"`
	WorkspaceCount *int                               `json:"workspace_count,omitempty"`
	Global         *globalAccessView                  `json:"global_workspace_access_settings,omitempty"`
	Mappings       *[]secretmapping.SecretMappingView `json:"secret_mappings,omitempty"`

	KeyRequired *bool `json:"is_key_required,omitempty" doc:"Absent when it was not sent"`

	Adjustments *jsonfield.Raw[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true"`
}

func (k integrations) viewIntegration(_ context.Context, _ *resource.Call, r resource.Row[credential.Integration], detail bool) (integrationView, error) {
	integration := r.Value
	v := integrationView{
		ID: r.ID, Slug: r.Slug, Name: integration.Name, OrganisationID: r.OrgID, WorkspaceID: jsonfield.OrNull(r.WorkspaceID), Type: grants.LevelOf(r.WorkspaceID),
		AIProviderID: integration.AIProviderID, OwnerID: integration.OwnerID, Description: jsonfield.OrNull(integration.Description), Tags: integration.Tags, Pricing: integration.Pricing, Status: r.Status,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "integration", WorkspacesCount: len(grants.GrantedTo(r.Index)),
	}
	if v.Tags == nil {
		v.Tags = map[string]string{}
	}
	if !detail {
		return v, nil
	}
	spec, err := specs(k).findSpec(integration.AIProviderID, "ai_provider_id")
	if err != nil {
		return v, err
	}
	s := secrets{k: k.Deps, spec: spec, context: credential.IntegrationKind + "/" + r.ID, field: "configurations"}
	values, err := s.open(integration.Key, integration.Configurations)
	if err != nil {
		return v, err
	}
	all, mappings := allModels(integration), secretmapping.View(integration.Mappings)
	v.Mappings, v.Adjustments = &mappings, &jsonfield.Raw[adjustmentsIn]{RawMessage: integration.Adjustments}
	v.KeyRequired = integration.KeyRequired
	v.MaskedKey, v.Configurations, v.AllowAllModels, v.WorkspaceCount = jsonfield.OrNull(integration.MaskedKey), s.shown(values), &all, &v.WorkspacesCount
	global, err := viewGlobal(&r)
	v.Global = &global
	return v, err
}

// allModels reports whether models that are not listed may be used.
func allModels(integration credential.Integration) bool {
	return integration.AllowAllModels == nil || *integration.AllowAllModels
}
