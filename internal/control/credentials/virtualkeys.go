package credentials

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/expiry"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/secretmapping"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
)

// virtualKeys returns the resource of virtual keys, the older form of stored credentials. A
// virtual key is one record in one workspace, and requests use it as @slug like a provider.
// Source: contract/identity-and-governance.yaml, virtual keys.
func (k virtualKeys) virtualKeys() resource.Resource {
	return &resource.Kind[credential.VirtualKey, virtualKeyView]{
		Name: credential.VirtualKeyKind, Object: "virtual-key", Title: "virtual key", Tag: "Virtual keys", Audited: "virtual_keys",
		Path: "/virtual-keys", Also: []string{"/virtual_keys"}, Param: "slug", SlugPerWorkspace: true, Perm: "virtual_keys",
		Verbs: resource.AllVerbs, Scope: resource.InWorkspace,
		Create: virtualKeyIn{}, Update: virtualKeyPatch{}, PreparedFields: preparedFields(),
		Prepare: k.prepareVirtualKey,
		Refs:    []resource.Ref[credential.VirtualKey]{secretmapping.Ref(func(vk *credential.VirtualKey) []sealed.Mapping { return vk.Mappings })},
		After: func(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.VirtualKey]) error {
			return budgets.UpdateMeters(ctx, k.Budgets, tx, c, ch, budgets.VirtualKeyLimits)
		},
		View: k.viewVirtualKey,
		Receipt: &resource.WriteResponse[credential.VirtualKey]{Shape: virtualKeyReceipt{}, Make: func(_ context.Context, _ *resource.Call, ch *resource.Edit[credential.VirtualKey]) (any, error) {
			return virtualKeyReceipt{true, slugOnly{ch.New.Slug}, ch.New.ID, ch.New.Slug, "virtual-key"}, nil
		}},
	}
}

// providerFields maps the field names in the body of a virtual key to the field names of
// providers.
var providerFields = map[string]string{
	"apiVersion":                   "azure_api_version",
	"resourceName":                 "azure_resource_name",
	"deploymentName":               "azure_deployment_id",
	"deploymentConfig":             "azure_deployment_config",
	"awsAccessKeyId":               "aws_access_key_id",
	"awsSecretAccessKey":           "aws_secret_access_key",
	"awsRegion":                    "aws_region",
	"awsAuthType":                  "aws_auth_type",
	"awsRoleArn":                   "aws_role_arn",
	"awsExternalId":                "aws_external_id",
	"vertexProjectId":              "vertex_project_id",
	"vertexRegion":                 "vertex_region",
	"vertexServiceAccountJson":     "vertex_service_account_json",
	"vertexSkipPtuCostAttribution": "vertex_skip_ptu_cost_attribution",
	"workersAiAccountId":           "workers_ai_account_id",
}

func preparedFields() []string {
	fields := append([]string{"key", "secret_mappings"}, budgets.Fields...)
	for name := range providerFields {
		fields = append(fields, name)
	}
	return fields
}

// virtualKeyIn is the request body that creates a virtual key.
type virtualKeyIn struct {
	VirtualKeyFields
	Name        string                                `json:"name" minLength:"1" maxLength:"255"`
	Provider    string                                `json:"provider" doc:"Id of the provider, for example openai"`
	Key         string                                `json:"key,omitempty" maxLength:"16384" writeOnly:"true"`
	Note        *string                               `json:"note,omitempty" nullable:"true" maxLength:"1024"`
	WorkspaceID string                                `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Slug        string                                `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the workspace; generated when absent"`
	ExpiresAt   *time.Time                            `json:"expires_at,omitempty" nullable:"true" doc:"Time in the future; null for never"`
	Pricing     *string                               `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices from the price list"`
	UsageLimits *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true"`
	RateLimits  []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8"`
	Mappings    []secretmapping.SecretMappingIn       `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Fields that are read from secret managers at call time"`
}

// VirtualKeyFields contains the fields of particular providers.
type VirtualKeyFields struct {
	APIVersion         *string        `json:"apiVersion,omitempty" nullable:"true" doc:"azure-openai"`
	ResourceName       *string        `json:"resourceName,omitempty" nullable:"true" doc:"azure-openai"`
	DeploymentName     *string        `json:"deploymentName,omitempty" nullable:"true" doc:"azure-openai"`
	Deployments        []deploymentIn `json:"deploymentConfig,omitempty" nullable:"true" maxItems:"100" doc:"azure-openai"`
	AWSAccessKeyID     *string        `json:"awsAccessKeyId,omitempty" nullable:"true" doc:"bedrock"`
	AWSSecretAccessKey *string        `json:"awsSecretAccessKey,omitempty" nullable:"true" writeOnly:"true" doc:"bedrock"`
	AWSRegion          *string        `json:"awsRegion,omitempty" nullable:"true" doc:"bedrock"`
	AWSAuthType        *string        `json:"awsAuthType,omitempty" nullable:"true" doc:"bedrock"`
	AWSRoleARN         *string        `json:"awsRoleArn,omitempty" nullable:"true" doc:"bedrock"`
	AWSExternalID      *string        `json:"awsExternalId,omitempty" nullable:"true" doc:"bedrock"`
	VertexProjectID    *string        `json:"vertexProjectId,omitempty" nullable:"true" doc:"vertex-ai"`
	VertexRegion       *string        `json:"vertexRegion,omitempty" nullable:"true" doc:"vertex-ai"`
	VertexAccount      map[string]any `json:"vertexServiceAccountJson,omitempty" writeOnly:"true" doc:"vertex-ai"`
	VertexSkipPTU      *bool          `json:"vertexSkipPtuCostAttribution,omitempty" nullable:"true" doc:"vertex-ai"`
	WorkersAIAccountID *string        `json:"workersAiAccountId,omitempty" nullable:"true" doc:"workers-ai"`
}

type deploymentIn struct {
	APIVersion     string         `json:"apiVersion" maxLength:"30"`
	DeploymentName string         `json:"deploymentName" maxLength:"255"`
	Alias          string         `json:"alias,omitempty" maxLength:"255" doc:"Model name that selects it"`
	IsDefault      jsonfield.Flag `json:"is_default,omitempty"`
}

// virtualKeyPatch is the request body that updates a virtual key.
type virtualKeyPatch struct {
	VirtualKeyFields
	Name        string                                `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Key         string                                `json:"key,omitempty" maxLength:"16384" writeOnly:"true" doc:"empty, as reads show it, changes nothing"`
	Note        *string                               `json:"note,omitempty" nullable:"true" maxLength:"1024"`
	ExpiresAt   *time.Time                            `json:"expires_at,omitempty" nullable:"true"`
	Pricing     *string                               `json:"pricing,omitempty" nullable:"true" enum:"free" doc:"free: calls through it do not cost anything; null: prices from the price list"`
	UsageLimits *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true" doc:"Replaces the limit; null removes it"`
	RateLimits  []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8" doc:"Replaces the whole list"`
	ResetUsage  bool                                  `json:"reset_usage,omitempty" writeOnly:"true" doc:"Sets the usage of all limits to zero"`
	WorkspaceID string                                `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Mappings    []secretmapping.SecretMappingIn       `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Replaces all; an empty list removes them"`
}

type virtualKeyReceipt struct {
	Success bool     `json:"success"`
	Data    slugOnly `json:"data"`
	ID      string   `json:"id" format:"uuid"`
	Slug    string   `json:"slug" doc:"Same as in data, for clients that read it here"`
	Object  string   `json:"object" enum:"virtual-key"`
}

type slugOnly struct {
	Slug string `json:"slug"`
}

// virtualKeyView is a virtual key in responses. Only the response for a single key has its
// credentials, masked.
type virtualKeyView struct {
	ID             string                                 `json:"id" format:"uuid"`
	Slug           string                                 `json:"slug"`
	Name           string                                 `json:"name"`
	Provider       string                                 `json:"provider"`
	AIProviderName string                                 `json:"ai_provider_name,omitempty"`
	OrganisationID string                                 `json:"organisation_id" format:"uuid"`
	WorkspaceID    string                                 `json:"workspace_id" format:"uuid"`
	WorkspaceName  string                                 `json:"workspace_name"`
	IntegrationID  *string                                `json:"integration_id" nullable:"true" doc:"Always null: virtual keys have their own credentials"`
	Tags           map[string]string                      `json:"tags" nullable:"true" doc:"Always null"`
	Key            *string                                `json:"key,omitempty" doc:"Always empty"`
	MaskedKey      *string                                `json:"masked_api_key,omitempty"`
	ModelConfig    map[string]any                         `json:"model_config,omitempty" doc:"Fields of the provider; a secret member x is returned masked, as masked_x"`
	Note           *string                                `json:"note" nullable:"true"`
	Pricing        string                                 `json:"pricing,omitempty" enum:"free" doc:"Price as set: free, or absent"`
	Status         string                                 `json:"status" enum:"active,exhausted,expired"`
	UsageLimits    jsonfield.Nullable[budgets.BudgetView] `json:"usage_limits"`
	RateLimits     []quota.Rate                           `json:"rate_limits" nullable:"true"`
	ResetUsage     *float64                               `json:"reset_usage" nullable:"true"`
	LastResetAt    *resource.Stamp                        `json:"last_reset_at" nullable:"true"`
	CreatedAt      resource.Stamp                         `json:"created_at"`
	ExpiresAt      *resource.Stamp                        `json:"expires_at" nullable:"true"`
	Mappings       *[]secretmapping.SecretMappingView     `json:"secret_mappings,omitempty"`
	Object         string                                 `json:"object" enum:"virtual-key"`
}

func (k virtualKeys) viewVirtualKey(ctx context.Context, c *resource.Call, r resource.Row[credential.VirtualKey], detail bool) (virtualKeyView, error) {
	vk := r.Value
	v := virtualKeyView{
		ID: r.ID, Slug: r.Slug, Name: vk.Name, Provider: vk.Provider, OrganisationID: r.OrgID, WorkspaceID: r.WorkspaceID, Note: jsonfield.OrNull(vk.Note), Pricing: vk.Pricing,
		Status: expiry.StatusAt(r.Status, vk.ExpiresAt, c.Now), CreatedAt: resource.Stamp(r.Created), ExpiresAt: resource.StampOf(vk.ExpiresAt), Object: "virtual-key",
	}
	workspace, err := c.Reader.Find(ctx, tenant.WorkspaceKind, r.WorkspaceID)
	if err != nil {
		return v, err
	}
	limits, err := k.Budgets.Show(ctx, c, quota.Subject{ID: r.ID}, vk.UsageLimits, vk.RateLimits)
	if err != nil {
		return v, err
	}
	v.Status = limits.Status(v.Status)
	v.UsageLimits, v.RateLimits, v.LastResetAt = limits.One(vk.ExpiresAt, r.Status), limits.Rates, limits.LastReset
	if v.WorkspaceName = workspace.Name; !detail {
		return v, nil
	}
	s, values, err := k.openVirtualKey(&r)
	if err != nil {
		return v, err
	}
	empty, mappings := "", secretmapping.View(vk.Mappings)
	v.Mappings = &mappings
	v.AIProviderName, v.Key, v.MaskedKey, v.ModelConfig = vk.Provider, &empty, &vk.MaskedKey, s.shown(values)
	return v, nil
}

func (k virtualKeys) openVirtualKey(r *resource.Row[credential.VirtualKey]) (secrets, values, error) {
	spec, err := specs(k).findSpec(r.Value.Provider, "provider")
	if err != nil {
		return secrets{}, nil, err
	}
	s := secrets{k: k.Deps, spec: spec, context: credential.VirtualKeyKind + "/" + r.ID}
	v, err := s.open(r.Value.Key, r.Value.Sealed)
	return s, v, err
}

// prepareVirtualKey checks that the credentials meet the requirements of the provider, and seals
// them.
func (k virtualKeys) prepareVirtualKey(ctx context.Context, c *resource.Call, ch *resource.Edit[credential.VirtualKey]) error {
	vk := &ch.New.Value
	if err := expiry.Check(c, ch.Sent, vk.ExpiresAt); err != nil {
		return err
	}
	if err := budgets.Apply(k.Budgets, c, ch, budgets.VirtualKeyLimits); err != nil {
		return err
	}
	if ch.Old == nil {
		if err := free(ctx, c.Reader, credential.ProviderKind, ch.New.Record); err != nil {
			return err
		}
	} else {
		expiry.Reactivate(ch, vk.ExpiresAt, c.Now)
	}
	s, v, err := k.openVirtualKey(ch.New)
	if err != nil {
		return err
	}
	vk.Provider = s.spec.ID
	fields, err := virtualKeyFields(ch.Sent)
	if err != nil {
		return err
	}
	before := maps.Clone(v)
	if !ch.Sent.Secret("key").Empty() { // responses show an empty key; sending it back changes nothing
		s.takeKey(v, ch.Sent)
	}
	if err := s.add(v, fields, vk.Mappings); err != nil {
		return err
	}
	if ch.Old != nil {
		if err := s.checkHostUnchanged(ch.Sent, fields, before, v, vk.Mappings); err != nil {
			return err
		}
	}
	return s.sealSent(ctx, c, ch.Sent, ch.New.WorkspaceID, "model_config.", before, v, storedSecret{&vk.Key, &vk.Sealed, &vk.MaskedKey, &vk.Mappings})
}

// virtualKeyFields returns the provider fields of a body under the field names of providers.
func virtualKeyFields(sent resource.Sent) (map[string]json.RawMessage, error) {
	fields := make(map[string]json.RawMessage)
	for name, to := range providerFields {
		if raw, ok := sent[name]; ok {
			fields[to] = raw
		}
	}
	if !sent.Has("deploymentConfig") {
		return fields, nil
	}
	var list []struct {
		deploymentIn
		IsDefault json.RawMessage `json:"is_default"`
	}
	if err := sent.Into("deploymentConfig", &list); err != nil {
		return nil, err
	}
	type deployment struct {
		APIVersion string `json:"azure_api_version"`
		Name       string `json:"azure_deployment_name"`
		Alias      string `json:"alias,omitempty"`
		IsDefault  bool   `json:"is_default"`
	}
	out := make([]deployment, len(list))
	for i, d := range list {
		out[i] = deployment{d.APIVersion, d.DeploymentName, d.Alias, slices.Contains([]string{"1", "true"}, string(d.IsDefault))}
	}
	fields["azure_deployment_config"] = jsonfield.Encode(out)
	return fields, nil
}
