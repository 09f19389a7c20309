package provider

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// maxDeployments is the maximum number of listed deployments of one provider.
const maxDeployments = 200

// Deployments returns the model names of the deployments in the credential fields of a
// provider: the alias of each, then its model, then its name. A single deployment has the name
// of its model or its own name. The result is nil for providers without deployments. The
// provider's own list contains the models that could be deployed instead.
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
