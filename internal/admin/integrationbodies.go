package admin

import (
	"context"

	"sluice/internal/credential"
	"sluice/internal/resource"
)

// integrationIn is the body of a creation.
type integrationIn struct {
	Name           string            `json:"name" minLength:"1" maxLength:"255"`
	AIProviderID   string            `json:"ai_provider_id" doc:"id of the provider, for example openai"`
	Slug           string            `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"unique in the organisation; generated when absent"`
	Key            string            `json:"key,omitempty" maxLength:"16384" writeOnly:"true"`
	Description    *string           `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	WorkspaceID    string            `json:"workspace_id,omitempty" doc:"id or slug; makes it an integration of that workspace"`
	Configurations map[string]any    `json:"configurations,omitempty" doc:"fields of the provider, for example openai_project; custom_host and custom_headers for any"`
	Tags           map[string]string `json:"tags,omitempty" nullable:"true"`
	Pricing        *string           `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it cost nothing; null: what the price list says"`
	MakeProvider   bool              `json:"create_default_provider,omitempty" default:"true" doc:"of an integration of a workspace"`
	ProviderSlug   string            `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"of an integration of a workspace; by default its own slug"`
	Mappings       []secretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"fields that are read from secret managers at call time"`

	KeyRequired *flag `json:"is_key_required,omitempty" doc:"kept and shown; whether a key is needed is the provider's business"`

	Adjustments rawField[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true" doc:"of the costs of calls through it"`
}

// integrationPatch is the body of an update.
type integrationPatch struct {
	Name           string            `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Key            string            `json:"key,omitempty" maxLength:"16384" writeOnly:"true" doc:"empty takes it away"`
	Description    *string           `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Configurations map[string]any    `json:"configurations,omitempty" doc:"replaces the fields; secret ones that are left out stay"`
	Tags           map[string]string `json:"tags,omitempty" nullable:"true"`
	Pricing        *string           `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it cost nothing; null: what the price list says"`
	WorkspaceID    string            `json:"workspace_id,omitempty" doc:"id or slug; for Admin keys"`
	Mappings       []secretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"replaces all; an empty list takes them away"`

	KeyRequired *flag `json:"is_key_required,omitempty"`

	Adjustments rawField[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true" doc:"replaces them; null takes them away"`
}

type integrationReceipt struct {
	ID   string `json:"id" format:"uuid"`
	Slug string `json:"slug"`
}

func receiveIntegration(_ context.Context, _ *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	return integrationReceipt{ch.New.ID, ch.New.Slug}, nil
}

// integrationView is an integration as clients see it; its credentials, masked,
// only when one is read.
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
	Pricing         string            `json:"pricing,omitempty" enum:"free" doc:"as it was set"`
	Status          string            `json:"status" enum:"active,archived"`
	WorkspacesCount int               `json:"workspaces_count" doc:"workspaces that may use it"`
	CreatedAt       resource.Stamp    `json:"created_at"`
	LastUpdatedAt   resource.Stamp    `json:"last_updated_at"`
	Object          string            `json:"object" enum:"integration"`

	MaskedKey      *string              `json:"masked_key,omitempty"`
	Configurations map[string]any       `json:"configurations,omitempty" doc:"a secret member x is shown masked, as masked_x"`
	AllowAllModels *bool                `json:"allow_all_models,omitempty" doc:"whether models that are not listed may be used"`
	WorkspaceCount *int                 `json:"workspace_count,omitempty"`
	Global         *globalAccessView    `json:"global_workspace_access_settings,omitempty"`
	Mappings       *[]secretMappingView `json:"secret_mappings,omitempty"`

	KeyRequired *bool `json:"is_key_required,omitempty" doc:"absent where it was not sent"`

	Adjustments *rawField[adjustmentsIn] `json:"pricing_adjustments,omitempty" nullable:"true"`
}

func (k deps) viewIntegration(_ context.Context, _ *resource.Call, r resource.Row[credential.Integration], detail bool) (integrationView, error) {
	integration := r.Value
	v := integrationView{
		ID: r.ID, Slug: r.Slug, Name: integration.Name, OrganisationID: r.OrgID, WorkspaceID: orNull(r.WorkspaceID), Type: scopeLevel(r.WorkspaceID),
		AIProviderID: integration.AIProviderID, OwnerID: integration.OwnerID, Description: orNull(integration.Description), Tags: integration.Tags, Pricing: integration.Pricing, Status: r.Status,
		CreatedAt: stamp(r.Created), LastUpdatedAt: stamp(r.Updated), Object: "integration", WorkspacesCount: len(grantedTo(r.Index)),
	}
	if v.Tags == nil {
		v.Tags = map[string]string{}
	}
	if !detail {
		return v, nil
	}
	spec, err := k.findSpec(integration.AIProviderID, "ai_provider_id")
	if err != nil {
		return v, err
	}
	s := secrets{k: k, spec: spec, context: credential.IntegrationKind + "/" + r.ID, field: "configurations"}
	values, err := s.open(integration.Key, integration.Configurations)
	if err != nil {
		return v, err
	}
	all, mappings := allModels(integration), viewMappings(integration.Mappings)
	v.Mappings, v.Adjustments = &mappings, &rawField[adjustmentsIn]{integration.Adjustments}
	v.KeyRequired = integration.KeyRequired
	v.MaskedKey, v.Configurations, v.AllowAllModels, v.WorkspaceCount = orNull(integration.MaskedKey), s.shown(values), &all, &v.WorkspacesCount
	global, err := viewGlobal(&r)
	v.Global = &global
	return v, err
}

// allModels says whether models that are not listed may be used.
func allModels(integration credential.Integration) bool {
	return integration.AllowAllModels == nil || *integration.AllowAllModels
}
