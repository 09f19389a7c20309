package tenant

import "time"

// Scope is a workspace in the form that requests use: its fields, and the values computed from
// its settings and those of its organisation. It is shared and never changes.
type Scope struct {
	Workspace
	OrgID       string
	Slug        string // "ws-search-4f2c1a"
	MetricsOnly bool   // bodies are recorded only for requests that request it
	Enforced    bool   // requests may not override MetricsOnly
	Attributed  bool   // a request of a user key is attributed to its user
	Attributes  bool   // a request may attribute itself to another user
	SavedOnly   bool   // requests may not contain an inline config, provider or host

	// InputGuardrails and OutputGuardrails are the guardrails, by slug or id, that run on every
	// call of the workspace. No request can remove them.
	InputGuardrails, OutputGuardrails []string
	// CacheTTL is the time to live of cached responses if a call requests none, and the longest that it
	// may request. Zero means no limit of the organisation.
	CacheTTL time.Duration
	// PassUnreadable lets calls pass whose text a mandatory guardrail cannot read.
	PassUnreadable bool
}

// ScopeOf builds the Scope of a workspace of the organisation.
func (o *Organisation) ScopeOf(orgID string, w *Workspace) *Scope {
	s := o.SettingsOf(w)
	return &Scope{
		Workspace: *w, OrgID: orgID, MetricsOnly: *s.DebugLog == 0, Enforced: *s.DebugLogEnforced == 1, Attributed: *s.KeyMetadata == 1, Attributes: *s.KeyMetadataOverride == 1,
		SavedOnly: o.DataPlane.BlockInlineConfig, PassUnreadable: o.DataPlane.AllowUnreadableContent, CacheTTL: time.Duration(*s.CacheTTL) * time.Second,
	}
}
