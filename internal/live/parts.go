package live

import (
	"slices"
	"strings"

	"sluice/internal/credential"
	"sluice/internal/keys"
	"sluice/internal/tenant"
)

// parts are the decoded records by kind and id: what a new snapshot is put
// together from without decoding everything again.
type parts map[string]map[string]any

func newParts() parts { return make(parts) }

func (p parts) put(kind, id string, v any) {
	if p[kind] == nil {
		p[kind] = make(map[string]any)
	}
	p[kind][id] = v
}

func (p parts) drop(kind, id string) { delete(p[kind], id) }

// assemble makes the snapshot of the present parts.
func (p parts) assemble() *Snapshot {
	s := &Snapshot{
		keys:       make(map[keys.Hash]*keys.Entry, len(p[keys.Kind])),
		workspaces: make(map[string]*tenant.Workspace, len(p[tenant.WorkspaceKind])),
		configs:    make(map[ref]*Config),
		accounts:   make(map[ref]*credential.Account),
		byPlace:    make(map[string][]*credential.Account),
	}
	roles := p.rolesByUser()
	for _, v := range p[keys.Kind] {
		k := p.standing(v.(*keys.Entry), roles)
		if place := k.Principal.WorkspaceID; place != "" && p[tenant.WorkspaceKind][place] == nil {
			continue // the workspace is gone: its keys open nothing
		}
		s.keys[k.Key.Secret.Hash] = k
		if k.Key.Previous != nil {
			s.keys[k.Key.Previous.Hash] = k
		}
	}
	for id, v := range p[tenant.WorkspaceKind] {
		s.workspaces[id] = v.(*tenant.Workspace)
	}
	p.addConfigs(s)
	p.addAccounts(s)
	p.addPrompts(s)
	return s
}

func (p parts) addConfigs(s *Snapshot) {
	for _, v := range p[configKind] {
		c := v.(*savedConfig)
		s.configs[ref{c.workspace, c.Slug}] = &c.Config
		s.configs[ref{c.workspace, c.ID}] = &c.Config
	}
}

func (p parts) addAccounts(s *Snapshot) {
	for _, v := range p[credential.ProviderKind] {
		pr := v.(*savedProvider)
		in, ok := p[credential.IntegrationKind][pr.integration].(*integration)
		if !ok || in.org != pr.org {
			continue // the integration is gone: the provider cannot be used
		}
		a := pr.account
		a.Spec, a.Values, a.Models, a.AllModels = in.spec, in.values, in.models, in.allModels
		if in.status != active && a.Status == active {
			a.Status = in.status
		}
		a.Secrets = p.secretUses(pr.org, pr.workspace, in.mappings)
		s.addAccount(pr.workspace, &a)
	}
	for _, v := range p[credential.VirtualKeyKind] {
		vk := v.(*virtualKey)
		a := vk.account
		a.Secrets = p.secretUses(vk.org, vk.workspace, vk.mappings)
		s.addAccount(vk.workspace, &a)
	}
	for _, list := range s.byPlace {
		slices.SortFunc(list, func(a, b *credential.Account) int { return strings.Compare(a.Slug, b.Slug) })
	}
}

func (s *Snapshot) addAccount(workspace string, a *credential.Account) {
	s.accounts[ref{workspace, a.Slug}] = a
	s.accounts[ref{workspace, a.RecordID}] = a
	s.byPlace[workspace] = append(s.byPlace[workspace], a)
}
