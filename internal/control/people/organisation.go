package people

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/defaults"
	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// organisation returns the routes of the caller's organisation and its settings. They are not a
// resource.Kind, because the only record is named "self", updates merge it object by object,
// and responses contain it in an envelope.
// Source: contract/identity-and-governance.yaml, GET and PUT /organisations/self.
func (k organisation) organisation() resource.Resource {
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/organisations/self", ID: "getOrganisation", Summary: "Get the organisation with its settings", Tag: "Organisation",
			Scopes: []access.Scope{settingsRead, "workspaces.list"}, Anywhere: true, Response: enveloped[organisationView]{}, Run: k.getOrganisation,
		},
		{
			Method: http.MethodPut, Path: "/organisations/self", ID: "updateOrganisation", Summary: "Change the organisation; objects are merged field by field", Tag: "Organisation",
			Scopes: []access.Scope{settingsUpdate}, Body: organisationPatch{}, Audited: "organisations", Action: "update", Run: k.putOrganisation,
		},
		{
			Method: http.MethodGet, Path: "/admin/organisation/defaults", ID: "getOrganisationDefaults", Summary: "Get the guardrails that apply to every workspace", Tag: "Organisation",
			Scopes: []access.Scope{settingsRead}, Response: orgGuardrailsView{}, Run: getOrgGuardrails,
		},
		{
			Method: http.MethodPut, Path: "/admin/organisation/defaults", ID: "updateOrganisationDefaults", Summary: "Set the guardrails that apply to every workspace", Tag: "Organisation",
			Scopes: []access.Scope{settingsUpdate}, Body: orgGuardrailsIn{}, Audited: "organisations", Action: "update", Run: k.putOrgGuardrails,
		},
	}
}

const (
	settingsRead   access.Scope = "organisation_settings.read"
	settingsUpdate access.Scope = "organisation_settings.update"
)

// enveloped is the envelope of responses about the organisation.
type enveloped[T any] struct {
	Success bool `json:"success"`
	Data    T    `json:"data"`
}

// organisationPatch is the body of an update. Every field is optional.
type organisationPatch struct {
	Name           string         `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Settings       *settingsIn    `json:"settings,omitempty"`
	Security       *securityIn    `json:"security_settings,omitempty" doc:"Permissions of roles; owners and admins are not restricted"`
	Open           *overridesIn   `json:"workspace_overrides,omitempty" doc:"Sections that workspaces may override"`
	DataPlane      *dataPlaneIn   `json:"data_plane_security_settings,omitempty"`
	Exports        *exportsIn     `json:"export_settings,omitempty"`
	Defaults       *orgDefaultsIn `json:"defaults,omitempty"`
	Properties     *schemasIn     `json:"properties,omitempty"`
	OrganisationID string         `json:"organisation_id,omitempty" format:"uuid"`
}

// settingsIn contains the settings that organisations and workspaces share, and those that only
// organisations have. null resets a value.
type settingsIn struct {
	WorkspaceSettingsIn
	GatewayURL           *string `json:"dashboard_gateway_url,omitempty" nullable:"true" maxLength:"2048" format:"uri"`
	MCPGatewayURL        *string `json:"dashboard_mcp_gateway_url,omitempty" nullable:"true" maxLength:"2048" format:"uri"`
	DefaultKeyAutoCreate *bool   `json:"default_workspace_user_api_key_auto_create,omitempty" nullable:"true"`
	CacheTTL             *int    `json:"default_cache_ttl,omitempty" nullable:"true" minimum:"0" maximum:"25923000" doc:"Default and maximum lifetime of cached responses in seconds: 60 to 25923000, or 0 for no limit"`
	DebugLogEnforced     *int    `json:"debug_log_enforced,omitempty" nullable:"true" enum:"0,1" doc:"Extension: with 1, x-gateway-debug of requests cannot override debug_log"`
}

// WorkspaceSettingsIn contains the settings of a workspace.
type WorkspaceSettingsIn struct {
	DebugLog            *int         `json:"debug_log,omitempty" nullable:"true" enum:"0,1" doc:"1 records complete requests, 0 only metrics"`
	LogRetention        *retentionIn `json:"log_retention,omitempty" doc:"Extension: days for which logs are stored; replaced as an object, {} resets it"`
	KeyCount            *int         `json:"user_api_key_count,omitempty" nullable:"true" minimum:"-1" maximum:"100000" doc:"Maximum number of user keys per user in a workspace; -1 for no limit"`
	KeyTTL              *int         `json:"user_api_key_ttl,omitempty" nullable:"true" minimum:"0" maximum:"3153600000" doc:"Default lifetime of a new user key in seconds; 0 for no expiry"`
	KeyMaxTTL           *int         `json:"user_api_key_max_ttl,omitempty" nullable:"true" minimum:"0" maximum:"3153600000" doc:"Maximum lifetime of a user key in seconds; 0 for no maximum"`
	KeyRotation         *rotationP   `json:"user_api_key_rotation_period,omitempty" doc:"Days between rotations of user keys, 1 to 365, or weekly or monthly; null for none"`
	KeyAutoCreate       *bool        `json:"user_api_key_auto_create,omitempty" nullable:"true"`
	KeyMetadata         *int         `json:"user_key_metadata,omitempty" nullable:"true" enum:"0,1" doc:"Attributes requests of a user key to its user"`
	KeyMetadataOverride *int         `json:"user_key_metadata_override,omitempty" nullable:"true" enum:"0,1" doc:"Whether a request may set another user"`
}

// retentionIn sets how long logged data is retained. A value that is null or absent falls back
// to that of the organisation, then to that of the deployment. No value may exceed that of the
// deployment.
type retentionIn struct {
	Bodies  *int `json:"bodies_days,omitempty" nullable:"true" minimum:"1" maximum:"3650" doc:"Days for requests and responses"`
	Rows    *int `json:"rows_days,omitempty" nullable:"true" minimum:"1" maximum:"3650" doc:"Days for log entries; metrics are retained"`
	Metrics *int `json:"metrics_days,omitempty" nullable:"true" minimum:"1" maximum:"3650" doc:"Days for all data"`
}

// rotationP is a rotation period: a number of days, "weekly" or "monthly".
type rotationP struct{}

// Schema returns the schema of a rotation period; null is valid.
func (rotationP) Schema(huma.Registry) *huma.Schema {
	low, high := 1.0, 365.0
	days := &huma.Schema{Type: huma.TypeInteger, Minimum: &low, Maximum: &high, Nullable: true}
	days.PrecomputeMessages()
	period := &huma.Schema{Type: huma.TypeString, Enum: []any{"weekly", "monthly"}}
	period.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{days, period}}
}

// securityIn is an object that sets toggles by name.
type securityIn struct{}

// Schema returns the schema of an object with all toggles.
func (securityIn) Schema(huma.Registry) *huma.Schema { return switches(toggleNames()) }

// securityView contains the state of every toggle by name.
type securityView access.Switches

// MarshalJSON encodes the toggles as an object with the names in order.
func (v securityView) MarshalJSON() ([]byte, error) { return access.Switches(v).JSON(), nil }

// Schema returns the schema of an object with all toggles.
func (securityView) Schema(huma.Registry) *huma.Schema { return switches(toggleNames()) }

// overridesIn is an object that sets, by section, whether workspaces may override it.
type overridesIn struct{}

// Schema returns the schema of an object with all sections.
func (overridesIn) Schema(huma.Registry) *huma.Schema { return switches(tenant.Sections()) }

// overridesView states for every section whether workspaces may override it.
type overridesView map[string]bool

// Schema returns the schema of an object with all sections.
func (overridesView) Schema(huma.Registry) *huma.Schema { return switches(tenant.Sections()) }

func toggleNames() []string {
	var names []string
	for _, t := range access.Toggles() {
		names = append(names, t.Name)
	}
	return names
}

// switches returns the schema of an object of booleans with these names and no others.
func switches(names []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: make(map[string]*huma.Schema, len(names))}
	for _, n := range names {
		s.Properties[n] = &huma.Schema{Type: huma.TypeBoolean}
	}
	s.PrecomputeMessages()
	return s
}

type dataPlaneIn struct {
	BlockInlineConfig      bool `json:"block_inline_config,omitempty" doc:"Rejects requests with their own config, provider or host"`
	AllowUnreadableContent bool `json:"allow_unreadable_content,omitempty" doc:"Lets calls pass whose text a default guardrail with deny: true cannot read, such as audio"`
}

type exportsIn struct {
	DeniedFields []string `json:"deniedFields,omitempty" nullable:"false" maxItems:"100" doc:"Fields that log exports omit"`
}

type orgDefaultsIn struct {
	InputGuardrails  []string `json:"input_guardrails,omitempty" nullable:"false" maxItems:"100" doc:"Slugs or ids of guardrails"`
	OutputGuardrails []string `json:"output_guardrails,omitempty" nullable:"false" maxItems:"100" doc:"Slugs or ids of guardrails"`
	DefaultWorkspace string   `json:"default_workspace,omitempty" maxLength:"255" doc:"Slug of the default workspace"`
}

type schemasIn struct {
	APIKey    *jsonfield.Nullable[object] `json:"api_key_metadata_schema,omitempty" nullable:"true" doc:"JSON Schema, draft 7, of an object of strings"`
	Workspace *jsonfield.Nullable[object] `json:"workspace_metadata_schema,omitempty" nullable:"true" doc:"JSON Schema, draft 7, of an object of strings"`
}

// putOrganisation merges the sent fields into the record, object by object.
func (k organisation) putOrganisation(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, directory.ChangeOrganisation(ctx, c, func(o *tenant.Organisation) error {
		if c.Sent.Has("name") {
			o.Name = c.Sent.Text("name")
		}
		parts := []struct {
			name        string
			mergeFields func(fields resource.Sent) error
		}{
			{"settings", func(f resource.Sent) error { return mergeSettings(f, &o.Settings) }},
			{"security_settings", func(f resource.Sent) error { return resource.MergeFields(f, &o.Security) }},
			{"workspace_overrides", func(f resource.Sent) error { return resource.MergeFields(f, &o.Open) }},
			{"data_plane_security_settings", func(f resource.Sent) error { return resource.MergeFields(f, &o.DataPlane) }},
			{"export_settings", func(f resource.Sent) error { return resource.MergeFields(f, &o.Exports) }},
			{"defaults", func(f resource.Sent) error { return resource.MergeFields(f, &o.Defaults) }},
			{"properties", func(f resource.Sent) error { return resource.MergeFields(f, &o.Schemas) }},
		}
		for _, p := range parts {
			var fields resource.Sent
			if err := c.Sent.Into(p.name, &fields); err != nil {
				return err
			}
			if err := p.mergeFields(fields); err != nil {
				return err
			}
		}
		return k.checkOrganisation(ctx, c, o)
	})
}

// mergeSettings merges fields into settings. It converts the rotation periods "weekly" and
// "monthly" to days in fields.
func mergeSettings(fields resource.Sent, to *tenant.Settings) error {
	if days, ok := map[string]string{"weekly": "7", "monthly": "30"}[fields.Text("user_api_key_rotation_period")]; ok {
		fields["user_api_key_rotation_period"] = []byte(days)
	}
	if err := checkCacheTTL(fields); err != nil {
		return err
	}
	return resource.MergeFields(fields, to)
}

// checkCacheTTL rejects a lifetime of cached responses that is sent and out of range. A stored one of an
// earlier version stays in force.
func checkCacheTTL(fields resource.Sent) error {
	var ttl int
	if err := fields.Into("default_cache_ttl", &ttl); err != nil {
		return err
	}
	return tenant.CheckCacheTTL(ttl)
}

// checkSettings validates settings of the organisation or of a workspace. Their log retention
// must not exceed that of the deployment.
func (k organisation) checkSettings(s *tenant.Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	return s.LogRetention.CheckLimit(k.LogRetention)
}

// checkOrganisation makes the checks that the schema of the body cannot express. It removes a
// trailing "/v1" from the gateway URLs.
func (k organisation) checkOrganisation(ctx context.Context, c *resource.Call, o *tenant.Organisation) error {
	if err := k.checkSettings(&o.Settings); err != nil {
		return err
	}
	if err := o.Schemas.Validate(); err != nil {
		return err
	}
	for _, u := range []struct {
		url  *string
		path string
	}{{&o.Settings.GatewayURL, "settings.dashboard_gateway_url"}, {&o.Settings.MCPGatewayURL, "settings.dashboard_mcp_gateway_url"}} {
		if err := plainURL(u.url, u.path); err != nil {
			return err
		}
	}
	if slug := o.Defaults.DefaultWorkspace; slug != "" {
		if _, err := directory.FindWorkspace(ctx, c.Reader, c.OrgID, slug); err != nil {
			return fault.New(fault.ReferenceMissing, "the workspace does not exist").WithParam("defaults.default_workspace").WithCause(err)
		}
	}
	return defaults.CheckGuardrails(ctx, c, []defaults.GuardrailList{{Field: "defaults.input_guardrails", Names: o.Defaults.InputGuardrails}, {Field: "defaults.output_guardrails", Names: o.Defaults.OutputGuardrails}})
}

// plainURL checks a URL that is shown to people, and removes a trailing "/v1" from it. An empty
// URL is valid.
func plainURL(u *string, path string) error {
	if *u == "" {
		return nil
	}
	p, err := url.Parse(*u)
	if err != nil || p.Scheme != "https" && p.Scheme != "http" || p.Host == "" || p.User != nil || p.Fragment != "" {
		return fault.New(fault.InvalidParameter, "must be an http or https URL without user and fragment").WithParam(path)
	}
	*u = strings.TrimSuffix(strings.TrimSuffix(*u, "/"), "/v1")
	return nil
}
