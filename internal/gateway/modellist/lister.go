package modellist

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// Directory contains the saved providers of a snapshot of the control plane. Snapshots are
// compared by ==.
type Directory interface {
	Accounts(workspace string) []*credential.Account
	FindAccount(workspace, slug string) *credential.Account // nil if not found
}

// Prices are the price lists of providers.
type Prices interface {
	// Names returns the models in the current price list of a provider, by the id of its spec.
	Names(provider string, now time.Time) []string
}

// Lister lists the models that a caller can use: the models saved with its providers, those of
// the catalog, of deployments, and of the providers' own lists. Safe for concurrent use.
type Lister struct {
	specs  *provider.Table
	prices Prices
	lists  *Lists // nil reads no lists of providers

	mu   sync.Mutex // guards seen
	seen Directory  // the snapshot of the last cleanup
}

// NewLister makes a Lister. It reads the lists of providers while lists.Run runs; with nil lists
// it reads none.
func NewLister(specs *provider.Table, prices Prices, lists *Lists) *Lister {
	return &Lister{specs: specs, prices: prices, lists: lists}
}

// Request is a call for the list of models or for one of its entries.
type Request struct {
	Directory Directory
	Workspace string    // id of the caller's workspace
	Time      time.Time // of the call
	Named     []string  // saved providers, by slug or id, to which the call is limited; empty permits all
	Anthropic bool      // the caller expects Anthropic's format
}

// List returns the list of all models in the caller's format. It waits once for providers whose
// list was never read; see Lists.Names.
func (l *Lister) List(ctx context.Context, r *Request) ([]byte, error) {
	rows := l.rows(r, func(accounts []*credential.Account) map[string][]string { return l.provided(ctx, r, accounts) })
	if r.Anthropic {
		return anthropicList(rows)
	}
	return json.Marshal(map[string]any{"object": "list", "data": rows})
}

// Find returns one model, whose id is escaped as in a path: "@local%2Fllama3.2". The error is
// fault.NotFound for a model that is not in the list and cannot be called. It calls no provider.
func (l *Lister) Find(r *Request, escapedID string) ([]byte, error) {
	rows := l.rows(r, func([]*credential.Account) map[string][]string { return nil })
	m, err := r.find(rows, escapedID)
	if err != nil {
		return nil, err
	}
	if r.Anthropic {
		return json.Marshal(m.toAnthropic())
	}
	return json.Marshal(m)
}

// find returns the row with an id. It also returns a row for an unlisted model that a chat could
// call, because the list is not complete for custom hosts and new models.
func (r *Request) find(rows []model, escapedID string) (*model, error) {
	id, err := url.PathUnescape(escapedID)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the path is not valid URL encoding")
	}
	if i := slices.IndexFunc(rows, func(m model) bool { return m.ID == id }); i >= 0 {
		return &rows[i], nil
	}
	if m := r.findUnlisted(id); m != nil {
		return m, nil
	}
	return nil, fault.Newf(fault.NotFound, "no saved provider lists the model %q; GET /models lists all models, and x-gateway-provider selects a provider for other models", id).WithParam("model")
}

// findUnlisted returns the row of a model that is in no list but that its saved provider may be
// called with. It returns nil when a call with that name is refused.
func (r *Request) findUnlisted(id string) *model {
	slug, name := credential.SplitModel(id)
	if slug == "" || name == "" {
		return nil
	}
	a := r.Directory.FindAccount(r.Workspace, slug)
	if a == nil || !r.canUse(a) || !a.Allows(name) {
		return nil
	}
	return newModel(a, "@"+slug, name)
}

// canUse reports whether a saved provider is active at the time of the request. If the request
// names saved providers, it must also be one of them.
func (r *Request) canUse(a *credential.Account) bool {
	if a.Status != "active" || a.ExpiresAt != nil && !r.Time.Before(*a.ExpiresAt) {
		return false
	}
	return len(r.Named) == 0 || slices.Contains(r.Named, a.Slug) || slices.Contains(r.Named, a.RecordID)
}

// rows returns the known models of the workspace's saved providers. It lists the enabled models
// that are saved with a provider, then those of the catalog, of its deployments and those that
// provided returns, by slug, without models that are switched off.
func (l *Lister) rows(r *Request, provided func([]*credential.Account) map[string][]string) []model {
	rows := []model{}
	accounts := slices.DeleteFunc(slices.Clone(r.Directory.Accounts(r.Workspace)), func(a *credential.Account) bool { return !r.canUse(a) })
	lists := provided(accounts)
	for _, a := range accounts {
		add := func(name string) { rows = append(rows, *newModel(a, "@"+a.Slug, name)) }
		for _, m := range a.Models {
			if m.Enabled {
				add(m.Slug)
			}
		}
		for _, list := range [...][]string{l.priced(a, r.Time), l.deployed(a), lists[a.Slug]} {
			for _, name := range list {
				if !slices.ContainsFunc(a.Models, func(m credential.Model) bool { return m.Slug == name }) {
					add(name)
				}
			}
		}
	}
	return rows
}

// deployed returns the models of the deployments that are saved with a provider, if all models
// are allowed.
func (l *Lister) deployed(a *credential.Account) []string {
	spec, ok := l.specs.Find(a.Spec)
	if !ok || !a.AllModels {
		return nil
	}
	return spec.Deployments(a.Values)
}

// priced returns the models in the current price list of a saved provider, if all models are
// allowed. It returns none for a provider with a custom host or with deployments; see provided
// and deployed.
// Source: contract/identity-and-governance.md section 12.
func (l *Lister) priced(a *credential.Account, now time.Time) []string {
	spec, ok := l.specs.Find(a.Spec)
	if !ok || !a.AllModels || a.Values["custom_host"] != "" || spec.Deploys() {
		return nil
	}
	return l.prices.Names(spec.ID, now)
}

// provided returns the models that the providers of accounts list, by the slug of the account.
func (l *Lister) provided(ctx context.Context, r *Request, accounts []*credential.Account) map[string][]string {
	var sources []Source
	for _, a := range accounts {
		if l.readsList(a, r.Time) {
			sources = append(sources, SourceOf(r.Workspace, a))
		}
	}
	if len(sources) == 0 {
		return nil
	}
	l.tidy(r.Directory)
	found := make(map[string][]string, len(sources))
	for i, names := range l.lists.Names(ctx, sources) {
		found[sources[i].Provider] = names
	}
	return found
}

// readsList reports whether the models of an account are read from the provider. The provider
// must serve a list, all its models must be allowed, and the catalog must not contain them,
// because the account has its own host or the provider is not in the catalog. Providers with
// deployments are excluded: their lists contain models that cannot be called.
func (l *Lister) readsList(a *credential.Account, now time.Time) bool {
	spec, ok := l.specs.Find(a.Spec)
	if !ok || l.lists == nil || !a.AllModels || spec.Deploys() || !spec.Serves(llm.ListModels) {
		return false
	}
	return a.Values["custom_host"] != "" || len(l.prices.Names(spec.ID, now)) == 0
}

// tidy drops the lists of providers that a new snapshot has changed or removed.
func (l *Lister) tidy(dir Directory) {
	l.mu.Lock()
	same := l.seen == dir
	l.seen = dir
	l.mu.Unlock()
	if same {
		return
	}
	l.lists.Retain(func(s Source) bool {
		a := dir.FindAccount(s.Workspace, s.Provider)
		return a != nil && SourceOf(s.Workspace, a) == s
	})
}
