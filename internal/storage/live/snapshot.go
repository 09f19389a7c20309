package live

import (
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// Snapshot is the state of the control plane at one moment. It is immutable.
type Snapshot struct {
	keys        *keyIndex // nil before the first load
	workspaces  map[string]*tenant.Scope
	configs     map[ref]*Config
	accounts    map[ref]*credential.Account
	byWorkspace map[string][]*credential.Account   // accounts by workspace
	kinds       []string                           // of accounts
	agreements  map[string]*catalog.PriceOverrides // by integration id
	prompts     map[ref]*prompt.Saved
	shelves     map[string]prompt.PartialSet // partials by workspace
	plans       *planIndex                   // nil before the first load
	policies    map[string]*quota.Policies   // by workspace
	guardrails  map[ref]*guardrail.Saved
	purges      *Purges // nil before the first load
}

// ref names a record in a workspace by slug or id.
type ref struct{ workspace, name string }

// Config is a saved config, parsed.
type Config struct {
	ID, Slug string
	Doc      *routing.Config
}

// FindKey returns the key with a hash, nil if there is none. The caller must check whether the
// key may be used now.
func (s *Snapshot) FindKey(h keys.Hash) *keys.Entry {
	if s.keys == nil {
		return nil
	}
	return s.keys.find(h)
}

// FindWorkspace returns a workspace by id, nil if there is none.
func (s *Snapshot) FindWorkspace(id string) *tenant.Scope { return s.workspaces[id] }

// FindConfig returns a saved config of a workspace by slug or id.
func (s *Snapshot) FindConfig(workspace, name string) (doc *routing.Config, id, slug string, ok bool) {
	c, ok := s.configs[ref{workspace, name}]
	if !ok {
		return nil, "", "", false
	}
	return c.Doc, c.ID, c.Slug, true
}

// FindAccount returns a provider or virtual key of a workspace by slug or id.
func (s *Snapshot) FindAccount(workspace, slug string) *credential.Account {
	return s.accounts[ref{workspace, slug}]
}

// Kinds returns the kinds of all saved providers and virtual keys, as they name them, each
// once and in no particular order: "openai". The list is shared and must not be changed.
func (s *Snapshot) Kinds() []string { return s.kinds }

// Accounts returns the providers and virtual keys of a workspace.
func (s *Snapshot) Accounts(workspace string) []*credential.Account { return s.byWorkspace[workspace] }
