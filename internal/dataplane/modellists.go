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
	"sluice/internal/dialect/modellists"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/llm"
	"sluice/internal/modellist"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// ModelLists configures how the gateway reads the model lists of saved providers whose models are
// not in the catalog.
type ModelLists struct {
	Period  time.Duration // age at which a list is read again; 0 reads no lists
	Wait    time.Duration // how long GET /models waits for a list that has not been read yet
	Timeout time.Duration // of one call to a provider
}

// maxModelListBytes is the maximum size of a provider's model list.
const maxModelListBytes = 4 << 20

// providerModels stores the lists of providers, and the snapshot of their last cleanup.
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

// ReadModelLists reads the lists that GET /models needs, until ctx ends.
func (g *Gateway) ReadModelLists(ctx context.Context) error { return g.modelLists.Run(ctx) }

// listsModels reports whether the gateway reads the models of an account from the provider. The
// provider must serve a list, all its models must be allowed, and the catalog must not contain
// them, because the account has its own host or the provider is not in the catalog. Providers
// with deployments are excluded: their lists contain models that cannot be called.
func (g *Gateway) listsModels(a *credential.Account, now time.Time) bool {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || g.set.ModelLists.Period <= 0 || !a.AllModels || spec.Deploys() || !spec.Serves(llm.ListModels) {
		return false
	}
	return a.Values["custom_host"] != "" || len(g.Prices.Names(spec.ID, now)) == 0
}

// providerModels returns the models that the providers of accounts list, by the slug of the
// account. It waits once for providers whose list was never read; see modellist.Lists.
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

// tidy drops the lists of providers that a new snapshot has changed or removed.
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

// modelSource returns the source of an account's list. Providers of one integration share a list,
// unless secret managers supply their credentials, which may differ by workspace.
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
			_ = binary.Write(h, binary.LittleEndian, u.Source.Revision) // a hash write cannot fail
		}
	}
	h.Sum(s.Version[:0])
	return s
}

func hashText(h hash.Hash, text string) {
	_ = binary.Write(h, binary.LittleEndian, int64(len(text))) // a hash write cannot fail
	_, _ = h.Write([]byte(text))
}

// errOtherProvider is the error of a read whose provider was changed or deleted meanwhile.
var errOtherProvider = fault.New(fault.Conflict, "the provider was changed or deleted")

// readModelList reads the models of a saved provider. It runs the same steps as a caller's
// request, so the credential goes only where a call would send it. The call is not recorded and
// counts against no limit.
func (g *Gateway) readModelList(ctx context.Context, s modellist.Source) ([]string, error) {
	req := &wire.Request{Method: "GET", Path: "/v1/models"}
	x := g.newExchange(req, &collected{})
	g.open.Add(-1) // a draining gateway does not wait for it
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

// callModelList sends the prepared call of an attempt and reads the model names.
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
	return modellists.Names(body, modellist.MaxNames)
}
