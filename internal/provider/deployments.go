package provider

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// maxDeployments is how many deployments of one provider are listed.
const maxDeployments = 200

// Deployments returns the models by which calls name the deployments that are saved in the
// credential fields of a provider: the alias of each, else its model, else its own name. A
// single deployment is named by its model or itself. Nil for providers without deployments.
// The provider's own list has the models that may be deployed instead.
// Source: contract/provider-transforms.md 5.1;
// https://learn.microsoft.com/azure/ai-services/openai/reference, read 2026-11.
func (s *Spec) Deployments(v Values) []string {
	if !s.Deploys() {
		return nil
	}
	if list := v[fieldDeployments]; list != "" {
		var names []string
		gjson.Parse(list).ForEach(func(_, d gjson.Result) bool {
			if name := cmp.Or(d.Get("alias").Str, d.Get("azure_model_slug").Str, d.Get("azure_deployment_name").Str); name != "" {
				names = append(names, name)
			}
			return len(names) < maxDeployments
		})
		return names
	}
	if name := cmp.Or(v["azure_model_name"], v["azure_deployment_id"], v["azure_deployment_name"]); name != "" {
		return []string{name}
	}
	return nil
}
