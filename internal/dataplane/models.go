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

// modelRow is one line of the catalogue list, in OpenAI's shape.
type modelRow struct {
	ID       string `json:"id"` // "@slug/model": usable as it stands
	Object   string `json:"object"`
	Created  int64  `json:"created"`
	OwnedBy  string `json:"owned_by"` // "openai"
	Provider string `json:"provider"` // "@slug"
}

// asksModels reports whether a call asks for the list of models or for one of it.
func (x *exchange) asksModels() bool {
	return x.match.Endpoint == llm.ListModels || x.match.Endpoint == llm.RetrieveModel
}

// wantsCatalogue reports whether models are ours to name: nobody named a
// provider, or the request or its config asks for the catalogue all the same.
func wantsCatalogue(x *exchange) bool {
	if x.config == nil || x.ctl.fetchIntegrated == "true" {
		return true
	}
	return slices.ContainsFunc(x.config.Leaves(), func(t *routing.Target) bool { return t.FetchIntegratedModels })
}

// respondModelList answers GET /models and GET /models/{id} without a provider.
// Source: contract/dataplane.md 6.1.
func (g *Gateway) respondModelList(ctx context.Context, x *exchange) error {
	body, err := g.modelList(ctx, x)
	if err != nil {
		return err
	}
	return g.respondLocally(x, body)
}

// modelList is the body of that answer, in the shape that the caller reads;
// fault.NotFound for a model that is not in it.
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

// rowNamed finds the row of the id in the path. A name that the list does not have is found,
// too, where a chat with it is sent: at hosts of their own and for new models the list is not
// complete.
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

// unlistedRow is the row of a model that its saved provider may be asked for, though no list
// has it; nil where a call with that name is refused.
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

// canUse reports whether a saved provider is active at the time of the request, and one of
// those that the request or its config names, if they name any.
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

// namedAccounts are the saved providers that the request or its config names, by slug or id;
// none stands for all.
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

// modelRows are the models that the saved providers of the workspace may be asked for, as far
// as they are known: those saved with the provider, then those of the catalog or, in a list of
// all, of the provider's own list that are not switched off. For a single model no provider is
// asked: unlistedRow finds it.
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

// deployed are the models of the deployments that are saved with a provider, where all may be
// asked for.
func (g *Gateway) deployed(a *credential.Account) []string {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || !a.AllModels {
		return nil
	}
	return spec.Deployments(a.Values)
}

// pricedModels are the models that the price list of a saved provider has now, where all may be asked
// for.
// What stands at a host of its own, or was deployed for it, the list does not tell; see
// providerModels and deployed.
// Source: contract/identity-and-governance.md section 12.
func (g *Gateway) pricedModels(a *credential.Account, now time.Time) []string {
	spec, ok := g.Specs.Find(a.Spec)
	if !ok || !a.AllModels || a.Values["custom_host"] != "" || spec.Deploys() {
		return nil
	}
	return g.Prices.Names(spec.ID, now)
}
