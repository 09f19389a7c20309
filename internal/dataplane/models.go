package dataplane

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/routing"
)

// modelRow is one entry of the model list, in OpenAI's format.
type modelRow struct {
	ID       string `json:"id"` // "@slug/model", usable as the model of a call
	Object   string `json:"object"`
	Created  int64  `json:"created"`
	OwnedBy  string `json:"owned_by"` // "openai"
	Provider string `json:"provider"` // "@slug"
}

// asksModels reports whether a call requests the list of models or one of its entries.
func (x *exchange) asksModels() bool {
	return x.match.Endpoint == llm.ListModels || x.match.Endpoint == llm.RetrieveModel
}

// wantsCatalogue reports whether the gateway lists the models itself: the call has no config, or
// the request or its config requests the integrated models.
func wantsCatalogue(x *exchange) bool {
	if x.config == nil || x.ctl.fetchIntegrated == "true" {
		return true
	}
	return slices.ContainsFunc(x.config.Leaves(), func(t *routing.Target) bool { return t.FetchIntegratedModels })
}

// respondModelList responds to GET /models and GET /models/{id} without calling the routed
// provider.
// Source: contract/dataplane.md 6.1.
func (g *Gateway) respondModelList(ctx context.Context, x *exchange) error {
	body, err := g.modelList(ctx, x)
	if err != nil {
		return err
	}
	return g.respondLocally(x, body)
}

// modelList returns the body of that response, in the caller's format. The error is
// fault.NotFound for a model that is not in the list.
func (g *Gateway) modelList(ctx context.Context, x *exchange) ([]byte, error) {
	rows := g.modelRows(ctx, x)
	if x.match.Endpoint == llm.RetrieveModel {
		row, err := x.rowNamed(rows)
		if err != nil {
			return nil, err
		}
		if x.nativeClient {
			return json.Marshal(row.toAnthropic())
		}
		return json.Marshal(row)
	}
	if x.nativeClient {
		return anthropicModelList(rows)
	}
	return json.Marshal(map[string]any{"object": "list", "data": rows})
}

// rowNamed returns the row of the id in the path. It also returns a row for an unlisted model
// that a chat could call, because the list is not complete for custom hosts and new models.
func (x *exchange) rowNamed(rows []modelRow) (*modelRow, error) {
	id, err := url.PathUnescape(x.match.ID)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the path is not valid URL encoding")
	}
	if index := slices.IndexFunc(rows, func(r modelRow) bool { return r.ID == id }); index >= 0 {
		return &rows[index], nil
	}
	if row := x.unlistedRow(id); row != nil {
		return row, nil
	}
	return nil, fault.Newf(fault.NotFound, "no saved provider lists the model %q; GET /models lists all models, and x-gateway-provider selects a provider for other models", id).WithParam("model")
}

// unlistedRow returns the row of a model that is in no list but that its saved provider may be
// called with. It returns nil when a call with that name is refused.
func (x *exchange) unlistedRow(id string) *modelRow {
	slug, model := x.splitModel(id)
	if slug == "" || model == "" {
		return nil
	}
	a := x.dir.FindAccount(x.key.Principal.WorkspaceID, slug)
	if a == nil || !x.canUse(a) || !a.Allows(model) {
		return nil
	}
	return newModelRow(a, "@"+slug, model)
}

// canUse reports whether a saved provider is active at the time of the request. If the request or
// its config names saved providers, it must also be one of them.
func (x *exchange) canUse(a *credential.Account) bool {
	if a.Status != "active" || a.ExpiresAt != nil && !x.started.Before(*a.ExpiresAt) {
		return false
	}
	named := x.namedAccounts()
	return len(named) == 0 || slices.Contains(named, a.Slug) || slices.Contains(named, a.RecordID)
}

func newModelRow(a *credential.Account, name, model string) *modelRow {
	return &modelRow{ID: name + "/" + model, Object: "model", OwnedBy: a.Spec, Provider: "@" + a.Slug}
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
		if slug, _ := splitModel(model); slug != "" {
			named = append(named, slug)
		}
	}
	add(x.ctl.provider, x.ctl.virtualKey, "")
	if x.config == nil {
		return named
	}
	for _, t := range x.config.Leaves() {
		model, _ := modelOf(t.Override)
		add(t.Provider, t.VirtualKey, model)
	}
	return named
}

// modelRows returns the known models of the workspace's saved providers. It lists the enabled
// models that are saved with a provider, then those of the catalog, of its deployments and, for
// GET /models, of the provider's own list, without models that are switched off. For a single
// model it calls no provider; unlistedRow finds unlisted ones.
func (g *Gateway) modelRows(ctx context.Context, x *exchange) []modelRow {
	rows := []modelRow{}
	accounts := slices.DeleteFunc(slices.Clone(x.dir.Accounts(x.key.Principal.WorkspaceID)), func(a *credential.Account) bool { return !x.canUse(a) })
	var provided map[string][]string
	if x.match.Endpoint == llm.ListModels {
		provided = g.providerModels(ctx, x, accounts)
	}
	for _, a := range accounts {
		add := func(model string) { rows = append(rows, *newModelRow(a, "@"+a.Slug, model)) }
		for _, m := range a.Models {
			if m.Enabled {
				add(m.Slug)
			}
		}
		for _, list := range [...][]string{g.pricedModels(a, x.started), g.deployed(a), provided[a.Slug]} {
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
func (g *Gateway) deployed(a *credential.Account) []string {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || !a.AllModels {
		return nil
	}
	return spec.Deployments(a.Values)
}

// pricedModels returns the models in the current price list of a saved provider, if all models
// are allowed. It returns none for a provider with a custom host or with deployments; see
// providerModels and deployed.
// Source: contract/identity-and-governance.md section 12.
func (g *Gateway) pricedModels(a *credential.Account, now time.Time) []string {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || !a.AllModels || a.Values["custom_host"] != "" || spec.Deploys() {
		return nil
	}
	return g.Prices.Names(spec.ID, now)
}
