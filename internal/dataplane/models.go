package dataplane

import (
	"encoding/json"

	"sluice/internal/fault"
)

// modelRow is one line of the catalogue list, in OpenAI's shape.
type modelRow struct {
	ID       string `json:"id"` // "@slug/model": usable as it stands
	Object   string `json:"object"`
	Created  int64  `json:"created"`
	OwnedBy  string `json:"owned_by"` // "openai"
	Provider string `json:"provider"` // "@slug"
}

// wantsCatalogue reports whether a list of models is ours to give: nobody named a
// provider, or the request or its config asks for the catalogue all the same.
func wantsCatalogue(x *exchange) bool {
	if x.config == nil || x.ctl.fetchIntegrated == "true" {
		return true
	}
	t := x.config.Root.Target
	return t != nil && t.FetchIntegratedModels
}

// listCatalogue answers GET /models without a provider: the models that the saved
// providers of the workspace list, and may be asked for.
// Source: contract/dataplane.md 6.1.
func (g *Gateway) listCatalogue(x *exchange) error {
	rows := []modelRow{}
	for _, a := range x.dir.Accounts(x.key.Principal.WorkspaceID) {
		if a.Status != "active" || a.ExpiresAt != nil && !x.started.Before(*a.ExpiresAt) {
			continue
		}
		for _, m := range a.Models {
			if m.Enabled {
				rows = append(rows, modelRow{ID: "@" + a.Slug + "/" + m.Slug, Object: "model", OwnedBy: a.Spec, Provider: "@" + a.Slug})
			}
		}
	}
	body, err := json.Marshal(map[string]any{"object": "list", "data": rows})
	if x.own {
		body, err = ownCatalogue(rows)
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	return g.answerOwn(x, body)
}
