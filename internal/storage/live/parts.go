package live

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/respcache"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// parts contains the decoded records by kind and id. A new snapshot is built from them without
// decoding everything again.
type parts map[string]map[string]any

func newParts() parts { return make(parts) }

func (p parts) put(kind, id string, v any) {
	if p[kind] == nil {
		p[kind] = make(map[string]any)
	}
	p[kind][id] = v
}

func (p parts) drop(kind, id string) { delete(p[kind], id) }

// changedParts contains the parts that a poll replaced, by kind and id: the previous value,
// nil if the part is new.
type changedParts map[string]map[string]any

// note records the previous value of a part when it changes for the first time.
func (t changedParts) note(kind, id string, was any) {
	if t[kind] == nil {
		t[kind] = make(map[string]any)
	}
	if _, known := t[kind][id]; !known {
		t[kind][id] = was
	}
}

// any reports whether a part of one of the kinds changed.
func (t changedParts) any(kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return len(t[k]) > 0 })
}

// section is a part of the snapshot. It is rebuilt if one of its kinds changed, and otherwise
// copied from the previous snapshot.
type section struct {
	kinds []string
	build func(p parts, s *Snapshot, t changedParts)
}

// sections cover the complete snapshot. Every followed kind belongs to one.
var sections = []section{
	{[]string{keys.Kind, tenant.OrganisationKind, tenant.WorkspaceKind, tenant.UserKind, tenant.MemberKind}, parts.addKeys},
	{[]string{tenant.WorkspaceKind, tenant.OrganisationKind}, parts.addWorkspaces},
	{[]string{tenant.WorkspaceKind, guardrail.Kind}, parts.addGuardrails},
	{[]string{configKind}, parts.addConfigs},
	{[]string{credential.IntegrationKind, credential.ProviderKind, credential.VirtualKeyKind, credential.SecretReferenceKind}, parts.addAccounts},
	{limitKinds(), parts.addLimits},
	{[]string{quota.UsageLimitKind, quota.RateLimitKind}, parts.addPolicies},
	{[]string{prompt.Kind, prompt.VersionKind, prompt.PartialKind, prompt.PartialVersionKind, prompt.LabelKind}, parts.addPrompts},
	{[]string{respcache.PurgeKind}, parts.addPurges},
}

// assemble builds a snapshot from the current parts.
func (p parts) assemble() *Snapshot {
	s := new(Snapshot)
	for _, part := range sections {
		part.build(p, s, nil)
	}
	return s
}

// renew builds a snapshot from the current parts and the previous snapshot.
func (p parts) renew(old *Snapshot, t changedParts) *Snapshot {
	s := *old
	for _, part := range sections {
		if t.any(part.kinds) {
			part.build(p, &s, t)
		}
	}
	return &s
}

func (p parts) addKeys(s *Snapshot, t changedParts) { s.keys = p.ring(s.keys, t) }

func (p parts) addWorkspaces(s *Snapshot, _ changedParts) {
	s.workspaces = make(map[string]*tenant.Scope, len(p[tenant.WorkspaceKind]))
	for id, v := range p[tenant.WorkspaceKind] {
		s.workspaces[id] = p.scope(id, v.(*workspace))
	}
}

func (p parts) addConfigs(s *Snapshot, _ changedParts) {
	s.configs = make(map[ref]*Config, 2*len(p[configKind]))
	for _, v := range p[configKind] {
		c := v.(*savedConfig)
		s.configs[ref{c.workspace, c.Slug}] = &c.Config
		s.configs[ref{c.workspace, c.ID}] = &c.Config
	}
}

func (p parts) addAccounts(s *Snapshot, _ changedParts) {
	s.accounts, s.byWorkspace = make(map[ref]*credential.Account), make(map[string][]*credential.Account)
	s.agreements = make(map[string]*catalog.PriceOverrides)
	for id, v := range p[credential.IntegrationKind] {
		if a := v.(*integration).agreement; a != nil {
			s.agreements[id] = a
		}
	}
	for _, v := range p[credential.ProviderKind] {
		pr := v.(*savedProvider)
		integ, ok := p[credential.IntegrationKind][pr.integration].(*integration)
		if !ok || integ.org != pr.org {
			continue // the integration was deleted: the provider cannot be used
		}
		a := pr.account
		a.Spec, a.Values, a.Models, a.AllModels = integ.spec, integ.values, integ.models, integ.allModels
		a.Overrides = integ.overrides
		if integ.status != active && a.Status == active {
			a.Status = integ.status
		}
		a.Secrets = p.secretUses(pr.org, pr.workspace, integ.mappings)
		s.addAccount(pr.workspace, &a)
	}
	for _, v := range p[credential.VirtualKeyKind] {
		vk := v.(*virtualKey)
		a := vk.account
		a.Secrets = p.secretUses(vk.org, vk.workspace, vk.mappings)
		s.addAccount(vk.workspace, &a)
	}
	s.kinds = kindsOf(s.accounts)
	for _, list := range s.byWorkspace {
		slices.SortFunc(list, func(a, b *credential.Account) int { return strings.Compare(a.Slug, b.Slug) })
	}
}

// kindsOf returns the kinds of accounts, each once.
func kindsOf(accounts map[ref]*credential.Account) []string {
	found := map[string]bool{}
	for _, a := range accounts {
		found[a.Spec] = true
	}
	return slices.Collect(maps.Keys(found))
}

func (s *Snapshot) addAccount(workspace string, a *credential.Account) {
	s.accounts[ref{workspace, a.Slug}] = a
	s.accounts[ref{workspace, a.RecordID}] = a
	s.byWorkspace[workspace] = append(s.byWorkspace[workspace], a)
}
