package dataplane

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"sync"
	"time"

	"sluice/internal/access"
	"sluice/internal/credential"
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/llm"
	"sluice/internal/modellist"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// ModelLists says how the model lists of saved providers are read whose models the catalog
// does not know.
type ModelLists struct {
	Period  time.Duration // age at which a list is read again; 0 reads none
	Wait    time.Duration // how long GET /models waits for a list that was never read
	Timeout time.Duration // of one call to a provider
}

// maxModelListBytes is the largest list of a provider that is read.
const maxModelListBytes = 4 << 20

// providerModels are the lists of providers, and the snapshot for which they were last tidied.
type providerModels struct {
	*modellist.Lists

	mu  sync.Mutex // guards dir
	dir Directory
}

func newProviderModels(g *Gateway) *providerModels {
	return &providerModels{Lists: modellist.New(modellist.Options{
		Read: g.readModelList, Period: g.set.ModelLists.Period, Wait: g.set.ModelLists.Wait, Timeout: g.set.ModelLists.Timeout, Clock: g.Clock, Log: g.Log,
	})}
}

// ReadModelLists reads the lists that GET /models needs until ctx ends.
func (g *Gateway) ReadModelLists(ctx context.Context) error { return g.modelLists.Run(ctx) }

// listsModels reports whether the provider itself is asked for the models of an account:
// when it serves a list, all of its models may be called, and the catalog does not know them,
// because the account has a host of its own or the provider is not in the catalog. Lists of
// providers with deployments have models that cannot be called.
func (g *Gateway) listsModels(a *credential.Account, now time.Time) bool {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || g.set.ModelLists.Period <= 0 || !a.AllModels || spec.Deploys() || !spec.Serves(llm.ListModels) {
		return false
	}
	return a.Values["custom_host"] != "" || len(g.Prices.Names(spec.ID, now)) == 0
}

// providerModels returns the models that the providers of accounts list themselves, by the slug of
// the account. It waits once for providers that were never asked; see modellist.Lists.
func (g *Gateway) providerModels(ctx context.Context, x *exchange, accounts []*credential.Account) map[string][]string {
	workspace := x.key.Principal.WorkspaceID
	var sources []modellist.Source
	for _, a := range accounts {
		if g.listsModels(a, x.started) {
			sources = append(sources, modelSource(workspace, a))
		}
	}
	if len(sources) == 0 {
		return nil
	}
	g.modelLists.tidy(x.dir)
	found := make(map[string][]string, len(sources))
	for i, names := range g.modelLists.Names(ctx, sources) {
		found[sources[i].Provider] = names
	}
	return found
}

// tidy forgets the lists of providers that are not in a new snapshot as they were.
func (m *providerModels) tidy(dir Directory) {
	m.mu.Lock()
	same := m.dir == dir
	m.dir = dir
	m.mu.Unlock()
	if same {
		return
	}
	m.Retain(func(s modellist.Source) bool {
		a := dir.FindAccount(s.Workspace, s.Provider)
		return a != nil && modelSource(s.Workspace, a) == s
	})
}

// modelSource is where the list of an account comes from. Providers of one integration share
// a list, unless secret managers fill in their credentials: those may differ by workspace.
func modelSource(workspace string, a *credential.Account) modellist.Source {
	s := modellist.Source{ID: cmp.Or(a.RecordID, workspace+"/"+a.Slug), Workspace: workspace, Provider: a.Slug}
	if a.IntegrationID != "" && len(a.Secrets) == 0 {
		s.ID = a.IntegrationID
	}
	h := sha256.New()
	hashText(h, a.Spec)
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		hashText(h, name)
		hashText(h, a.Values[name])
	}
	for i := range a.Secrets {
		u := &a.Secrets[i]
		hashText(h, u.Field)
		hashText(h, u.Key)
		if u.Source != nil {
			hashText(h, u.Source.RecordID)
			_ = binary.Write(h, binary.LittleEndian, u.Source.Revision) // a hash takes everything
		}
	}
	h.Sum(s.Version[:0])
	return s
}

func hashText(h hash.Hash, text string) {
	_ = binary.Write(h, binary.LittleEndian, int64(len(text))) // a hash takes everything
	_, _ = h.Write([]byte(text))
}

// errOtherProvider is the end of a read whose provider was changed meanwhile.
var errOtherProvider = fault.New(fault.Conflict, "the provider was changed or deleted")

// readModelList asks a saved provider for its models, along the steps that a caller's request
// takes, so that the credential goes where a call would take it and nowhere else. The call is
// on no record and counts on no limit.
func (g *Gateway) readModelList(ctx context.Context, s modellist.Source) ([]string, error) {
	req := &wire.Request{Method: "GET", Path: "/v1/models"}
	x := g.newExchange(req, &collected{})
	g.open.Add(-1) // nobody waits for it when the gateway drains
	defer func() {
		x.close()
		x.scratch.release()
	}()
	saved := x.dir.FindAccount(s.Workspace, s.Provider)
	if saved == nil || modelSource(s.Workspace, saved) != s {
		return nil, errOtherProvider
	}
	x.key = &keys.Entry{Principal: access.Principal{WorkspaceID: s.Workspace}}
	x.scope, x.config = x.dir.FindWorkspace(s.Workspace), fromHeaders
	a := &x.scratch.attempt
	a.reset()
	a.x, a.started, x.last, x.attempts = x, x.started, a, 1
	a.target = &routing.Target{Provider: "@" + s.Provider, Path: "model list"}
	for _, step := range [...]func(context.Context, *attempt) error{g.resolve, g.shape} {
		if err := step(ctx, a); err != nil {
			return nil, err
		}
	}
	return g.callModelList(ctx, a)
}

// callModelList makes the call that an attempt was shaped for, and reads the names.
func (g *Gateway) callModelList(ctx context.Context, a *attempt) ([]string, error) {
	resp, err := g.call(ctx, a, nil)
	if err != nil {
		return nil, err
	}
	body, err := readAll(resp, maxModelListBytes)
	switch {
	case err != nil:
		return nil, err
	case resp.Status != 200:
		return nil, fault.Newf(fault.UpstreamFailed, "the provider responded with status %d", resp.Status)
	case a.speech.unified != nil:
		out, err := a.speech.unified.TranslateResponse(&dialect.Incoming{Status: resp.Status, Header: resp.Header, Body: body, Created: g.Clock.Now().Unix(), Sent: a.sent, To: a.to})
		if err != nil {
			return nil, err
		}
		body = out.Body
	}
	return dialect.ModelNames(body, modellist.MaxNames)
}
