package people

import (
	"context"
	"encoding/json"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// RetentionShown contains the retentions, in days, that consoles show to people.
// Parts.LogRetention is the one that applies.
type RetentionShown struct{ Bodies, Metrics int }

// organisationView is an organisation as clients see it. A member without access to its settings
// sees its identity and which features are on.
type organisationView struct {
	ID            string             `json:"id" format:"uuid"`
	Name          string             `json:"name"`
	Object        string             `json:"object" enum:"organisation"`
	CreatedAt     resource.Stamp     `json:"created_at"`
	LastUpdatedAt resource.Stamp     `json:"last_updated_at"`
	Used          int                `json:"is_first_generation_done" enum:"0,1"`
	Settings      *orgSettingsView   `json:"settings,omitempty"`
	Security      securityView       `json:"security_settings"`
	Open          overridesView      `json:"workspace_overrides,omitempty"`
	DataPlane     *dataPlaneView     `json:"data_plane_security_settings,omitempty"`
	Exports       *exportsView       `json:"export_settings,omitempty"`
	Defaults      *orgDefaultsView   `json:"defaults,omitempty"`
	Properties    *orgPropertiesView `json:"properties,omitempty"`
	FeatureFlags  map[string]bool    `json:"feature_flags" doc:"Settings of the deployment"`
}

type dataPlaneView struct {
	BlockInlineConfig      bool `json:"block_inline_config"`
	AllowUnreadableContent bool `json:"allow_unreadable_content"`
}

type exportsView struct {
	DeniedFields []string `json:"deniedFields" nullable:"false"`
}

type orgDefaultsView struct {
	InputGuardrails  []string `json:"input_guardrails" nullable:"false"`
	OutputGuardrails []string `json:"output_guardrails" nullable:"false"`
	DefaultWorkspace *string  `json:"default_workspace" nullable:"true"`
}

type orgPropertiesView struct {
	APIKey    jsonfield.Nullable[object] `json:"api_key_metadata_schema"`
	Workspace jsonfield.Nullable[object] `json:"workspace_metadata_schema"`
}

// retentionView shows how long logs are stored.
type retentionView struct {
	Bodies  *int `json:"bodies_days" nullable:"true"`
	Rows    *int `json:"rows_days" nullable:"true"`
	Metrics *int `json:"metrics_days" nullable:"true"`
}

// SettingsView contains the settings in force.
type SettingsView struct {
	DebugLog            int           `json:"debug_log" enum:"0,1"`
	LogRetention        retentionView `json:"log_retention" doc:"Extension: days; null uses the limit of the deployment"`
	KeyCount            int           `json:"user_api_key_count"`
	KeyTTL              int           `json:"user_api_key_ttl"`
	KeyMaxTTL           int           `json:"user_api_key_max_ttl"`
	KeyRotation         *int          `json:"user_api_key_rotation_period" nullable:"true"`
	KeyAutoCreate       bool          `json:"user_api_key_auto_create"`
	KeyMetadata         int           `json:"user_key_metadata" enum:"0,1"`
	KeyMetadataOverride int           `json:"user_key_metadata_override" enum:"0,1"`
}

type orgSettingsView struct {
	SettingsView
	GatewayURL           *string `json:"dashboard_gateway_url" nullable:"true"`
	MCPGatewayURL        *string `json:"dashboard_mcp_gateway_url" nullable:"true"`
	DefaultKeyAutoCreate bool    `json:"default_workspace_user_api_key_auto_create"`
	CacheTTL             int     `json:"default_cache_ttl"`
	DebugLogEnforced     int     `json:"debug_log_enforced" enum:"0,1"`
	LogRetentionShown    int     `json:"log_retention_display" doc:"Retention of bodies in days, for display (LOG_RETENTION_DISPLAY)"`
	MetricsShown         int     `json:"metrics_retention_display" doc:"Retention of records in days, for display (METRICS_RETENTION_DISPLAY)"`
}

// viewSettings shows settings in which nothing is nil.
func viewSettings(s tenant.Settings) SettingsView {
	v := SettingsView{
		DebugLog: *s.DebugLog, LogRetention: retentionView(s.LogRetention), KeyCount: *s.KeyCount, KeyTTL: *s.KeyTTL, KeyMaxTTL: *s.KeyMaxTTL, KeyAutoCreate: *s.KeyAutoCreate,
		KeyMetadata: *s.KeyMetadata, KeyMetadataOverride: *s.KeyMetadataOverride,
	}
	if days := *s.KeyRotationDays; days > 0 {
		v.KeyRotation = &days
	}
	return v
}

func (k organisation) getOrganisation(ctx context.Context, c *resource.Call) (any, error) {
	row, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	o := &row.Value
	v := organisationView{
		ID: row.ID, Name: o.Name, Object: "organisation", CreatedAt: resource.Stamp(row.Created), LastUpdatedAt: resource.Stamp(row.Updated), Used: jsonfield.Bit(o.Used),
		Security: securityView(o.SecurityOf(nil)), FeatureFlags: k.Features,
	}
	reads := c.Holds(settingsRead)
	switch {
	case !reads && c.Principal.Kind != access.BySession:
		return nil, fault.New(fault.Forbidden, "reading the organisation settings requires an Admin key with the scope organisation_settings.read").WithParam("scopes")
	case !reads:
		return enveloped[organisationView]{true, v}, nil
	}
	c.Version(row.Record)
	k.showSettings(o, &v)
	return enveloped[organisationView]{true, v}, nil
}

func (k organisation) showSettings(o *tenant.Organisation, v *organisationView) {
	s := o.InForce()
	v.Settings = &orgSettingsView{viewSettings(s), jsonfield.OrNull(s.GatewayURL), jsonfield.OrNull(s.MCPGatewayURL), *s.DefaultKeyAutoCreate, *s.CacheTTL, *s.DebugLogEnforced, k.RetentionShown.Bodies, k.RetentionShown.Metrics}
	v.Open = make(overridesView)
	for _, name := range tenant.Sections() {
		v.Open[name] = o.Open[name]
	}
	v.DataPlane = &dataPlaneView{o.DataPlane.BlockInlineConfig, o.DataPlane.AllowUnreadableContent}
	v.Exports = &exportsView{jsonfield.OrEmpty(o.Exports.DeniedFields)}
	v.Defaults = &orgDefaultsView{jsonfield.OrEmpty(o.Defaults.InputGuardrails), jsonfield.OrEmpty(o.Defaults.OutputGuardrails), jsonfield.OrNull(o.Defaults.DefaultWorkspace)}
	v.Properties = &orgPropertiesView{jsonObject(o.Schemas.APIKey), jsonObject(o.Schemas.Workspace)}
}

// object is a JSON object of any shape.
type object map[string]any

// jsonObject decodes a stored object; null for none.
func jsonObject(raw json.RawMessage) jsonfield.Nullable[object] {
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return jsonfield.Nullable[object]{}
	}
	return jsonfield.Nullable[object]{Object: &o}
}
