package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
)

// maxModels is the maximum length of an integration's list.
const maxModels = 2000

// modelActions read and change the list of models that calls may use of an integration.
// Source: contract/identity-and-governance.yaml, /integrations/{slug}/models.
func (k models) modelActions() []resource.Action[credential.Integration] {
	return []resource.Action[credential.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/models", ID: "listIntegrationModels", Summary: "List the models of an integration: its own list, and the rest of the catalogue",
			Query: []resource.Param{
				{Name: "search", Doc: "part of the slug", MaxLength: 255}, {Name: "name", Doc: "Alias of search", MaxLength: 255},
				{Name: "listed", Type: "boolean", Default: "false", Doc: "true returns only the integration's own list"},
			},
			Response: modelsView{}, Read: k.viewModels,
		},
		{
			Name: "update", Method: http.MethodPut, Path: "/models", ID: "updateIntegrationModels", Summary: "Enable or disable models of an integration, and add custom ones",
			Body: modelsIn{}, Run: k.putModels,
		},
		{
			Name: "update", Method: http.MethodDelete, Path: "/models", ID: "deleteIntegrationModels", Summary: "Delete custom models of an integration",
			Query: []resource.Param{{Name: "slugs", Doc: "Slugs separated by commas; alternatively send them in the body"}}, Body: modelsOut{}, Optional: true, Run: deleteModels,
		},
	}
}

type modelsIn struct {
	Models         []modelIn `json:"models" nullable:"false" maxItems:"2000" doc:"Models to add, or to replace by slug; may be empty when allow_all_models is sent"`
	AllowAllModels *bool     `json:"allow_all_models,omitempty" doc:"Whether models outside the list may be used"`
	WorkspaceID    string    `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// modelsOut is the body of a deletion; the parameter slugs may replace it.
type modelsOut struct {
	Models []string `json:"models,omitempty" nullable:"false" maxItems:"2000" doc:"Slugs of custom models"`
	Slugs  []string `json:"slugs,omitempty" nullable:"false" maxItems:"2000" doc:"Alias of models"`

	WorkspaceID string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

type modelIn struct {
	Slug     string `json:"slug" minLength:"1" maxLength:"255" doc:"Slug as requests send it, for example gpt-4o"`
	Enabled  bool   `json:"enabled"`
	Name     string `json:"name,omitempty" maxLength:"255"`
	IsCustom *bool  `json:"is_custom,omitempty" nullable:"true"`

	IsFineTune *bool   `json:"is_finetune,omitempty" nullable:"true"`
	Base       *string `json:"base_model_slug,omitempty" nullable:"true" maxLength:"255" doc:"Base model of a fine-tuned model; required for one"`

	Pricing jsonfield.Raw[modelPricesIn] `json:"pricing_config,omitempty" nullable:"true" doc:"Prices of the model; null removes them"`

	Configurations *jsonfield.Nullable[modelConfigurationsIn] `json:"configurations,omitempty" nullable:"true" doc:"Configurations for calls of this model, instead of those of the integration; null removes them"`
}

type modelsView struct {
	Object         string      `json:"object" enum:"list"`
	Total          int         `json:"total"`
	AllowAllModels bool        `json:"allow_all_models"`
	Models         []modelView `json:"models" nullable:"false"`
}

type modelView struct {
	Slug     string `json:"slug"`
	Enabled  bool   `json:"enabled"`
	Name     string `json:"name,omitempty"`
	IsCustom bool   `json:"is_custom"`

	IsFineTune bool    `json:"is_finetune"`
	Base       *string `json:"base_model_slug" nullable:"true"`

	Pricing jsonfield.Raw[modelPricesIn] `json:"pricing_config" nullable:"true"`

	Configurations map[string]any `json:"configurations,omitempty" doc:"custom_host, and custom_headers in masked form as masked_custom_headers"`
}

// viewModels lists the models of the integration's own list, then the other models of the
// catalog: they may be used unless only listed models are allowed.
func (k models) viewModels(ctx context.Context, c *resource.Call, r resource.Row[credential.Integration]) (any, error) {
	integration := r.Value
	out := modelsView{Object: "list", AllowAllModels: allModels(integration), Models: []modelView{}}
	text := strings.ToLower(cmp.Or(c.Query("search"), c.Query("name")))
	add := func(m modelView) {
		if strings.Contains(strings.ToLower(m.Slug), text) {
			out.Models = append(out.Models, m)
		}
	}
	listed := make(map[string]bool, len(integration.Models))
	for _, m := range integration.Models {
		listed[m.Slug] = true
		configurations, err := k.viewModelConfigurations(r.ID, &m)
		if err != nil {
			return nil, err
		}
		add(modelView{m.Slug, m.Enabled, m.Name, m.IsCustom, m.IsFineTune, jsonfield.OrNull(m.Base), jsonfield.Raw[modelPricesIn]{RawMessage: m.Pricing}, configurations})
	}
	names, err := k.Models.Names(ctx, integration.AIProviderID, c.Now)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return nil, err
	}
	for _, name := range names {
		if !listed[name] && c.Query("listed") != "true" {
			add(modelView{Slug: name, Enabled: out.AllowAllModels})
		}
	}
	out.Total = len(out.Models)
	return out, nil
}

func (k models) putModels(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	var sent []modelIn
	if err := c.Sent.Into("models", &sent); err != nil {
		return nil, err
	}
	configurations, err := k.readModelConfigurations(c, ch)
	if err != nil {
		return nil, err
	}
	integration := &ch.New.Value
	if err := c.Sent.Into("allow_all_models", &integration.AllowAllModels); err != nil {
		return nil, err
	}
	if len(sent) == 0 && !c.Sent.Has("allow_all_models") {
		return nil, fault.New(fault.InvalidParameter, "must list at least one model").WithParam("models")
	}
	for n, m := range sent {
		path := fmt.Sprintf("models[%d].", n)
		if m.IsFineTune != nil && *m.IsFineTune && (m.Base == nil || *m.Base == "") {
			return nil, fault.New(fault.InvalidParameter, "is required for a fine-tuned model").WithParam(path + "base_model_slug")
		}
		prices, err := m.readPrices(path)
		if err != nil {
			return nil, err
		}
		line := m.line(prices)
		line.Sealed = configurations[n].sealed
		if i := slices.IndexFunc(integration.Models, func(o credential.Model) bool { return o.Slug == m.Slug }); i >= 0 {
			if m.IsCustom == nil {
				line.IsCustom = integration.Models[i].IsCustom
			}
			if m.IsFineTune == nil {
				line.IsFineTune, line.Base = integration.Models[i].IsFineTune, integration.Models[i].Base
			}
			if m.Pricing.RawMessage == nil {
				line.Pricing = integration.Models[i].Pricing
			}
			if !configurations[n].sent {
				line.Sealed = integration.Models[i].Sealed
			}
			integration.Models[i] = line
			continue
		}
		integration.Models = append(integration.Models, line)
	}
	if len(integration.Models) > maxModels {
		return nil, fault.Newf(fault.InvalidParameter, "an integration must not list more than %d models", maxModels).WithParam("models")
	}
	return nil, nil
}

func (m *modelIn) line(prices json.RawMessage) credential.Model {
	line := credential.Model{Slug: m.Slug, Enabled: m.Enabled, Name: m.Name, IsCustom: m.IsCustom != nil && *m.IsCustom, Pricing: prices}
	if m.IsFineTune != nil && *m.IsFineTune {
		line.IsFineTune, line.Base = true, *m.Base
	}
	return line
}

func deleteModels(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	var slugs []string
	path := "slugs"
	if list := c.Query("slugs"); list != "" {
		slugs = strings.Split(list, ",")
	}
	for _, field := range []string{"models", "slugs"} {
		var more []string
		if err := c.Sent.Into(field, &more); err != nil {
			return nil, err
		}
		if len(more) > 0 {
			slugs, path = append(slugs, more...), field
		}
	}
	if len(slugs) == 0 {
		return nil, fault.New(fault.InvalidParameter, "send the models to delete in the parameter slugs or in the body field models").WithParam(path)
	}
	integration := &ch.New.Value
	for _, slug := range slugs {
		i := slices.IndexFunc(integration.Models, func(m credential.Model) bool { return m.Slug == strings.TrimSpace(slug) && m.IsCustom })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "one of the models is not a custom model of the integration").WithParam(path)
		}
		integration.Models = slices.Delete(integration.Models, i, i+1)
	}
	return nil, nil
}
