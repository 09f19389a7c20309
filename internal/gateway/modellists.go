package gateway

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/modellists"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/modellist"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
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

// newLister returns the lister of models. It reads the lists of providers through the gateway.
func newLister(g *Gateway) (*modellist.Lister, *modellist.Lists) {
	set := g.set.ModelLists
	if set.Period <= 0 {
		return modellist.NewLister(g.Specs, g.Prices, nil), nil
	}
	lists := modellist.New(modellist.Options{Read: g.catalogue.readModelList, Period: set.Period, Wait: set.Wait, Timeout: set.Timeout, Clock: g.Clock, Log: g.Log})
	return modellist.NewLister(g.Specs, g.Prices, lists), lists
}

// ReadModelLists reads the lists that GET /models needs, until ctx ends.
func (g *Gateway) ReadModelLists(ctx context.Context) error {
	if g.modelLists == nil {
		<-ctx.Done()
		return nil
	}
	return g.modelLists.Run(ctx)
}

// asksModels reports whether a call requests the list of models or one of its entries.
func (r *route) asksModels() bool {
	return r.match.Endpoint == llm.ListModels || r.match.Endpoint == llm.RetrieveModel
}

// wantsCatalogue reports whether the gateway lists the models itself: the call has no config, or
// the request or its config requests the integrated models.
func wantsCatalogue(x *exchange) bool {
	if x.config == nil || x.ctl.FetchIntegrated == "true" {
		return true
	}
	return slices.ContainsFunc(x.config.Leaves(), func(t *routing.Target) bool { return t.FetchIntegratedModels })
}

// modelCatalogue responds to requests for models, and reads the model lists of saved providers.
type modelCatalogue struct {
	responder   *responder
	models      *modellist.Lister
	exchanges   *exchanges
	open        *atomic.Int64
	credentials *credentialResolver
	shaper      *shaper
	caller      *upstreamCaller
	clock       ident.Clock
}

// respondModelList responds to GET /models and GET /models/{id} without calling the routed
// provider.
// Source: contract/dataplane.md 6.1.
func (m *modelCatalogue) respondModelList(ctx context.Context, x *exchange) error {
	body, err := m.modelList(ctx, x)
	if err != nil {
		return err
	}
	return m.responder.respondLocally(x, body)
}

func (m *modelCatalogue) modelList(ctx context.Context, x *exchange) ([]byte, error) {
	r := &modellist.Request{Directory: x.dir, Workspace: x.key.Principal.WorkspaceID, Time: x.started, Named: x.namedAccounts(), Anthropic: x.nativeClient}
	if x.match.Endpoint == llm.RetrieveModel {
		return m.models.Find(r, x.match.ID)
	}
	return m.models.List(ctx, r)
}

// namedAccounts returns the saved providers that the request or its config names, by slug or id.
// An empty list permits all.
// Source: contract/dataplane.md 6.1.
func (x *exchange) namedAccounts() (named []string) {
	add := func(provider, virtualKey, model string) {
		if slug, ok := strings.CutPrefix(provider, "@"); ok {
			named = append(named, slug)
		}
		if virtualKey != "" {
			named = append(named, virtualKey)
		}
		if slug, _ := credential.SplitModel(model); slug != "" {
			named = append(named, slug)
		}
	}
	add(x.ctl.Provider, x.ctl.VirtualKey, "")
	if x.config == nil {
		return named
	}
	for _, t := range x.config.Leaves() {
		model, _ := modelOf(t.Override)
		add(t.Provider, t.VirtualKey, model)
	}
	return named
}

// errOtherProvider is the error of a read whose provider was changed or deleted meanwhile.
var errOtherProvider = fault.New(fault.Conflict, "the provider was changed or deleted")

// readModelList reads the models of a saved provider. It runs the same steps as a caller's
// request, so the credential goes only where a call would send it. The call is not recorded and
// counts against no limit.
func (m *modelCatalogue) readModelList(ctx context.Context, s modellist.Source) ([]string, error) {
	req := &wire.Request{Method: "GET", Path: "/v1/models"}
	x := m.exchanges.newExchange(req, &collected{})
	m.open.Add(-1) // a draining gateway does not wait for it
	defer func() {
		x.close()
		x.scratch.release()
	}()
	saved := x.dir.FindAccount(s.Workspace, s.Provider)
	if saved == nil || modellist.SourceOf(s.Workspace, saved) != s {
		return nil, errOtherProvider
	}
	x.key = &keys.Entry{Principal: access.Principal{WorkspaceID: s.Workspace}}
	x.scope, x.config = x.dir.FindWorkspace(s.Workspace), fromHeaders
	a := &x.scratch.attempt
	a.reset()
	a.x, a.started, x.last, x.attempts = x, x.started, a, 1
	a.target = &routing.Target{Provider: "@" + s.Provider, Path: "model list"}
	for _, step := range [...]func(context.Context, *attempt) error{m.credentials.resolve, m.shaper.shape} {
		if err := step(ctx, a); err != nil {
			return nil, err
		}
	}
	return m.callModelList(ctx, a)
}

// callModelList sends the prepared call of an attempt and reads the model names.
func (m *modelCatalogue) callModelList(ctx context.Context, a *attempt) ([]string, error) {
	resp, err := m.caller.call(ctx, a, nil)
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
		out, err := a.speech.unified.TranslateResponse(&dialect.Incoming{Status: resp.Status, Header: resp.Header, Body: body, Created: m.clock.Now().Unix(), Sent: a.sent, To: a.to})
		if err != nil {
			return nil, err
		}
		body = out.Body
	}
	return modellists.Names(body, modellist.MaxNames)
}
