package tenant

// Scope is a workspace as requests see it: its own fields, and what follows from its
// settings and those of its organisation, worked out once. It is shared and never
// changed.
type Scope struct {
	Workspace
	OrgID       string
	Slug        string // "ws-search-4f2c1a"
	MetricsOnly bool   // no bodies are recorded unless a request asks for it
	Enforced    bool   // and no request asks for anything else
	Attributed  bool   // a request of a user key is said to come from its user
	Attributes  bool   // and may say that it comes from somebody else
	SavedOnly   bool   // requests bring no config, provider or host of their own

	// Guardrails are those that configs of the workspace can name: their slugs by slug and id.
	// Denying are the ones among them whose failure stops a call. Nil when there are none.
	Guardrails, Denying map[string]string
	Mandatory           *Binding // one of them that runs on every call of the workspace; nil for none
}

// ScopeOf works out a workspace of the organisation.
func (o *Organisation) ScopeOf(orgID string, w *Workspace) *Scope {
	s := o.SettingsOf(w)
	return &Scope{
		Workspace: *w, OrgID: orgID, MetricsOnly: *s.DebugLog == 0, Enforced: *s.DebugLogEnforced == 1, Attributed: *s.KeyMetadata == 1, Attributes: *s.KeyMetadataOverride == 1,
		SavedOnly: o.DataPlane.BlockInlineConfig,
	}
}
