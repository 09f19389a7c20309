package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

func TestValuesHideSecrets(t *testing.T) {
	t.Parallel()
	v := provider.Values{"key": "sk-hidden", "azure_resource_name": "contoso-hidden"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "values", v, "in", struct{ V provider.Values }{v})
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s", v, struct{ V provider.Values }{v}, v, v) + string(j) + log.String()
	if strings.Contains(all, "hidden") || !strings.Contains(all, "azure_resource_name") {
		t.Errorf("printed: %s", all)
	}
}

func TestReadHeaders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, id string
		header   wire.Header
		before   provider.Values
		want     provider.Values
	}{
		{"own prefix", "openai", wire.Header{{Name: "x-gateway-openai-organization", Value: "org-1"}}, nil, provider.Values{"openai_organization": "org-1"}},
		{"plain", "openai", wire.Header{{Name: "openai-beta", Value: "assistants=v2"}}, nil, provider.Values{"openai_beta": "assistants=v2"}},
		{"prefix before plain", "openai", wire.Header{{Name: "openai-beta", Value: "a"}, {Name: "x-gateway-openai-beta", Value: "b"}}, nil, provider.Values{"openai_beta": "b"}},
		{"x-api-key as the key of Anthropic", "anthropic", wire.Header{{Name: "x-api-key", Value: "sk-ant"}}, nil, provider.Values{"key": "sk-ant"}},
		{"x-api-key means nothing to OpenAI", "openai", wire.Header{{Name: "x-api-key", Value: "sk-ant"}}, nil, provider.Values{}},
		{"another provider's fields", "openai", wire.Header{{Name: "x-gateway-azure-resource-name", Value: "contoso"}}, nil, provider.Values{}},
		{"a stored value stays", "azure-openai", wire.Header{{Name: "x-gateway-azure-resource-name", Value: "evil"}}, provider.Values{"azure_resource_name": "contoso", "key": "k"}, provider.Values{"azure_resource_name": "contoso", "key": "k"}},
		{"the deployment's settings", "sagemaker", wire.Header{{Name: "x-gateway-aws-endpoint-domain", Value: "evil.com"}}, nil, provider.Values{}},
		{"odd names", "azure-ai", wire.Header{{Name: "x-gateway-azure-extra-params", Value: "error"}}, nil, provider.Values{"azure_extra_parameters": "error"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := provider.Values{}
			maps.Copy(got, c.before)
			find(t, c.id).ReadHeaders(c.header, got)
			if !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", map[string]string(got), map[string]string(c.want))
			}
		})
	}
}

func TestFromTarget(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, id     string
		fields       map[string]string
		before, want provider.Values
	}{
		{"names", "azure-openai", map[string]string{"azure_resource_name": "contoso", "azure_api_version": "v1"}, nil, provider.Values{"azure_resource_name": "contoso", "azure_api_version": "v1"}},
		{"short forms", "azure-openai", map[string]string{"resource_name": "contoso", "deployment_id": "d", "api_version": "v1"}, nil, provider.Values{"azure_resource_name": "contoso", "azure_deployment_id": "d", "azure_api_version": "v1"}},
		{"key", "groq", map[string]string{"api_key": "gsk"}, nil, provider.Values{"key": "gsk"}},
		{"host and headers", "modal", map[string]string{"custom_host": "https://x", "custom_headers": "{}"}, nil, provider.Values{"custom_host": "https://x", "custom_headers": "{}"}},
		{"another provider's fields and empty ones", "groq", map[string]string{"aws_region": "eu-west-1", "key": ""}, nil, provider.Values{}},
		{"the deployment's settings", "bedrock", map[string]string{"aws_endpoint_domain": "evil.com"}, nil, provider.Values{}},
		{"a value that is there stays", "groq", map[string]string{"key": "other"}, provider.Values{"key": "gsk"}, provider.Values{"key": "gsk"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := provider.Values{}
			maps.Copy(got, c.before)
			find(t, c.id).FromTarget(c.fields, got)
			if !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", map[string]string(got), map[string]string(c.want))
			}
		})
	}
}
