package credentials

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
)

// Models is the catalog of models: *catalog.Catalog. Its methods return fault.NotFound for
// unknown models and providers.
type Models interface {
	Prices(ctx context.Context, provider string) (catalog.Prices, error)
	Pricing(ctx context.Context, provider, model string) (catalog.Pricing, error)
	ModelInfo(ctx context.Context, provider string) (catalog.ModelInfo, error)
	General(ctx context.Context, provider, model string) (catalog.General, error)
	// Names returns the available models of a provider. It returns fault.NotFound for a provider
	// without a list.
	Names(ctx context.Context, provider string, now time.Time) ([]string, error)
}

// modelConfigs are the public routes with the prices and capabilities of models, with and
// without a version in the path. They serve complete files so that one gateway can be the
// MODEL_CONFIGS_PROXY_URL of others.
// Source: contract/content-and-observability.md section 12; the form of refusals is theirs.
func (k models) modelConfigs() resource.Resource {
	op := func(path, id, summary string, response any, run func(context.Context, *resource.Call) (any, error)) resource.Operation {
		o := resource.Operation{
			Method: http.MethodGet, Path: "/model-configs" + path, ID: id, Summary: summary, Tag: "Models", Response: response, Run: run,
			Public: true, Unversioned: true, Refusal: modelUnknown{}, Refuse: func(f *fault.Error) any { return modelUnknown{f.Text()} },
			Params: []resource.Param{{Name: "file", Doc: "Id of a provider, with or without .json, for example openai.json"}},
		}
		if strings.Contains(path, "{model") {
			o.Params = []resource.Param{
				{Name: "provider", Doc: "Id of a provider, for example openai"},
				{Name: "model", Doc: "Exact name of the model; takes the rest of the path, including slashes"},
			}
		}
		return o
	}
	return resource.Operations{
		op("/pricing/{provider}/{model...}", "getModelPricing", "Get the prices of a model", catalog.Pricing{}, func(ctx context.Context, c *resource.Call) (any, error) {
			return k.Models.Pricing(ctx, k.providerID(c.Path("provider")), c.Path("model"))
		}),
		op("/general/{provider}/{model...}", "getModelCapabilities", "Get the capabilities of a model", catalog.General{}, func(ctx context.Context, c *resource.Call) (any, error) {
			return k.Models.General(ctx, k.providerID(c.Path("provider")), c.Path("model"))
		}),
		op("/pricing/{file}", "getProviderPricing", "Get the prices of a provider's models", map[string]catalog.Entry{}, func(ctx context.Context, c *resource.Call) (any, error) {
			p, err := k.Models.Prices(ctx, k.providerID(strings.TrimSuffix(c.Path("file"), ".json")))
			return map[string]catalog.Entry(p), err
		}),
		op("/general/{file}", "getProviderCapabilities", "Get the capabilities of a provider's models", map[string]map[string]any{}, func(ctx context.Context, c *resource.Call) (any, error) {
			return k.Models.ModelInfo(ctx, k.providerID(strings.TrimSuffix(c.Path("file"), ".json")))
		}),
	}
}

// modelUnknown is the body of an error.
type modelUnknown struct {
	Error string `json:"error"`
}

// providerID returns the id of a provider that was named by an alias: mistral is mistral-ai. An
// unknown name is returned unchanged, because files may have any name.
func (k models) providerID(name string) string {
	if spec, ok := k.Specs.Find(name); ok {
		return spec.ID
	}
	return name
}
