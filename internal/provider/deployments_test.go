package provider_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/provider"
)

func TestDeployments_AreNamedAsCallsNameThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id     string
		values provider.Values
		want   []string
	}{
		"a list":                      {"azure-openai", azureValues(provider.Values{"azure_deployment_config": deployments}), []string{"fast", "gpt-4o"}},
		"a list that is not JSON":     {"azure-openai", azureValues(provider.Values{"azure_deployment_config": "x"}), nil},
		"one deployment":              {"azure-openai", azureValues(nil), []string{"gpt"}},
		"one deployment with a model": {"azure-openai", azureValues(provider.Values{"azure_model_name": "gpt-4o"}), []string{"gpt-4o"}},
		"a deployment of Foundry":     {"azure-ai", provider.Values{"azure_deployment_name": "phi"}, []string{"phi"}},
		"Foundry without one":         {"azure-ai", provider.Values{"key": "k"}, nil},
		"a provider without them":     {"openai", provider.Values{"azure_deployment_id": "gpt"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			specs, err := provider.Load()
			if err != nil {
				t.Fatal(err)
			}
			spec, ok := specs.Find(c.id)
			if got := spec.Deployments(c.values); !ok || !slices.Equal(got, c.want) {
				t.Errorf("Deployments = %q, want %q", got, c.want)
			}
		})
	}
	specs, _ := provider.Load()
	azure, _ := specs.Find("azure-openai")
	if n := len(azure.Deployments(provider.Values{"azure_deployment_config": "[" + strings.Repeat(`{"alias":"a"},`, 500) + "{}]"})); n != 200 {
		t.Errorf("%d of 500 deployments are listed", n)
	}
}
