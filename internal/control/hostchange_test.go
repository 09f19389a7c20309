package control_test

import (
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// Whatever field a provider's host is made of: who changes it sends the secret again, since
// it would go to somebody else. Other fields, regions and the same host in other words ask
// for nothing.
func TestSecretsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	const azure = `"azure_auth_mode":"default","azure_deployment_config":[{"azure_deployment_name":"d","azure_api_version":"2024-10-21","is_default":true,"alias":"gpt-4o","azure_model_slug":"gpt-4o"}]`
	const aws = `"aws_auth_type":"accessKey","aws_access_key_id":"AKIAIOSFODNN7EXAMPLE"`
	for _, c := range []struct {
		provider, saved, changed string
		field                    string // that is to be sent again; empty: none
	}{
		{"azure-openai", `"azure_resource_name":"ours",` + azure, `"azure_resource_name":"theirs",` + azure, "key"},
		{"azure-openai", `"azure_resource_name":"ours",` + azure, `"azure_resource_name":"ours",` + strings.Replace(azure, `"d"`, `"e"`, 1), ""},
		{"azure-openai", `"azure_resource_name":"ours",` + azure, `"azure_resource_name":"ours","custom_host":"https://OURS.openai.azure.com/openai",` + azure, ""},
		{"azure-ai", `"azure_foundry_url":"https://ours.services.ai.azure.com"`, `"azure_foundry_url":"https://collector.example.com"`, "key"},
		{"azure-ai", `"azure_foundry_url":"https://ours.services.ai.azure.com"`, `"azure_foundry_url":"https://ours.services.ai.azure.com/models"`, ""},
		{"huggingface", `"huggingface_base_url":"https://ours.example.com"`, `"huggingface_base_url":"https://collector.example.com"`, "key"},
		{"huggingface", `"huggingface_base_url":"https://ours.example.com"`, ``, ""},
		{"databricks", `"databricks_workspace":"ours"`, `"databricks_workspace":"theirs"`, "key"},
		{"workers-ai", `"workers_ai_account_id":"ours"`, `"workers_ai_account_id":"theirs"`, ""},
		{"bedrock", aws + `,"aws_region":"us-east-1","aws_secret_access_key":"s3cr3t"`, aws + `,"aws_region":"eu-west-1"`, ""},
		{"bedrock", aws + `,"aws_region":"us-east-1","aws_secret_access_key":"s3cr3t"`, aws + `,"aws_region":"us-east-1","custom_host":"https://collector.example.com"`, "configurations.aws_secret_access_key"},
		{"openai", `"custom_host":"https://ours.example.com/v1"`, `"custom_host":"http://ours.example.com/v1"`, "key"},
		{"openai", `"custom_host":"https://ours.example.com/v1"`, `"custom_host":"https://ours.example.com/v2"`, ""},
		{"openai", `"custom_host":"https://ours.example.com/v1"`, ``, ""},
	} {
		key := `"key":"s3cr3t-of-ours",`
		rec := w.raw(t, "admin", "POST", "/v1/integrations", `{"name":"I","ai_provider_id":"`+c.provider+`",`+key+`"configurations":{`+c.saved+`}}`)
		_, rest, _ := strings.Cut(rec.Body.String(), `"slug":"`)
		slug, _, ok := strings.Cut(rest, `"`)
		if !ok {
			t.Fatalf("%s: %d %s", c.provider, rec.Code, rec.Body)
		}
		changed := `"configurations":{` + c.changed + `}}`
		rec = w.raw(t, "admin", "PUT", "/v1/integrations/"+slug, "{"+changed)
		if refused := rec.Code == 400 && strings.Contains(rec.Body.String(), "another host"); refused != (c.field != "") || !refused && rec.Code != 200 ||
			refused && !strings.Contains(rec.Body.String(), `"path":"`+c.field+`"`) {
			t.Errorf("%s: from %s to %s: %d %s", c.provider, c.saved, c.changed, rec.Code, rec.Body)
		}
		if c.field == "" || c.provider == "bedrock" {
			continue
		}
		if rec = w.raw(t, "admin", "PUT", "/v1/integrations/"+slug, "{"+key+changed); rec.Code != 200 {
			t.Errorf("%s: with its secret: %d %s", c.provider, rec.Code, rec.Body)
		}
	}
}

// The same holds for virtual keys.
func TestSecretsOfVirtualKeysStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	const made = `{"name":"V","provider":"azure-openai","slug":"vk","key":"s3cr3t","resourceName":"ours","deploymentName":"d","apiVersion":"2024-10-21"}`
	if rec := w.raw(t, "service", "POST", "/v1/virtual-keys", made); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	for _, c := range []struct {
		body   string
		status int
	}{
		{`{"resourceName":"theirs"}`, 400},
		{`{"deploymentName":"e"}`, 200},
		{`{"resourceName":"theirs","key":"s3cr3t"}`, 200},
	} {
		if rec := w.raw(t, "service", "PUT", "/v1/virtual-keys/vk", c.body); rec.Code != c.status {
			t.Errorf("%s: %d %s", c.body, rec.Code, rec.Body)
		}
	}
}
