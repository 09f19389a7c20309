package provider_test

import (
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// The identity of the machine goes where the specification leads, where its cloud serves
// models, and where the operator says; a host of anybody else's gets no token of it.
func TestKeepIdentity(t *testing.T) {
	t.Parallel()
	const evil = "https://collector.example/v1"
	trusts := func(url string) bool { return url == "https://llm.corp" }
	managed := func(more provider.Values) provider.Values {
		more["azure_auth_mode"] = "managed"
		return more
	}
	for name, c := range map[string]struct {
		id     string
		values provider.Values
		field  string // of the refusal; empty for none
	}{
		"its own host":                   {"bedrock", provider.Values{"aws_auth_type": "serviceRole"}, ""},
		"another one of AWS":             {"bedrock", provider.Values{"aws_auth_type": "serviceRole", "aws_service": "secretsmanager", "custom_host": "https://secretsmanager.us-east-1.amazonaws.com"}, "custom_host"},
		"a role":                         {"sagemaker", provider.Values{"aws_auth_type": "assumedRole", "aws_role_arn": "arn:aws:iam::1:role/r", "custom_host": evil}, "custom_host"},
		"keys of the caller":             {"sagemaker", provider.Values{"aws_access_key_id": "A", "aws_secret_access_key": "s", "custom_host": evil}, ""},
		"Google's token":                 {"vertex-ai", provider.Values{"vertex_auth_type": "workload", "vertex_region": "us-east1", "vertex_project_id": "p", "custom_host": evil}, "custom_host"},
		"Google's token by another name": {"vertex-ai", provider.Values{"vertex_auth_type": "workload identity federation", "vertex_region": "us-east1", "vertex_project_id": "p", "custom_host": evil}, "custom_host"},
		"Google's token at Google":       {"vertex-ai", provider.Values{"vertex_auth_type": "workload", "vertex_region": "us-east1", "vertex_project_id": "p"}, ""},
		"Azure's token":                  {"azure-openai", managed(azureValues(provider.Values{"custom_host": evil, "azure_entra_scope": "https://management.azure.com/.default"})), "custom_host"},
		"Azure's token at a resource":    {"azure-openai", managed(azureValues(nil)), ""},
		"at one of a government":         {"azure-openai", managed(azureValues(provider.Values{"custom_host": "https://contoso.openai.azure.us/openai"})), ""},
		"at a host like one":             {"azure-openai", managed(azureValues(provider.Values{"custom_host": "https://contoso.openai.azure.com.evil.example"})), "custom_host"},
		"at one of no TLS":               {"azure-openai", managed(azureValues(provider.Values{"custom_host": "http://contoso.openai.azure.com"})), "custom_host"},
		"at a program of a customer":     {"azure-ai", managed(provider.Values{"azure_foundry_url": "https://x.eastus.inference.ml.azure.com/v1"}), "azure_foundry_url"},
		"at Foundry":                     {"azure-ai", managed(provider.Values{"azure_foundry_url": "https://c.services.ai.azure.com/models"}), ""},
		"at a trusted host":              {"azure-ai", managed(provider.Values{"azure_foundry_url": "https://llm.corp/models"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := find(t, c.id).Plan(provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/x", Model: "m"}, c.values)
			if err != nil {
				t.Fatal(err)
			}
			err = p.CheckIdentityHost(c.values, trusts)
			if (err != nil) != (c.field != "") || err != nil && (!fault.Has(err, fault.AddressRefused) || fault.From(err).Param != c.field) {
				t.Errorf("%v, want a refusal at %q", err, c.field)
			}
		})
	}
}
