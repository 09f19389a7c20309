package provider_test

import (
	"maps"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

const deployments = `[{"alias":"fast","azure_deployment_name":"mini-eu","azure_api_version":"2024-06-01","azure_model_slug":"gpt-4o-mini"},
  {"azure_deployment_name":"big-eu","azure_api_version":"v1","azure_model_slug":"gpt-4o","is_default":true}]`

func azureValues(extra provider.Values) provider.Values {
	v := provider.Values{"key": "k", "azure_resource_name": "contoso", "azure_deployment_id": "gpt", "azure_api_version": "2024-10-21"}
	maps.Copy(v, extra)
	return v
}

func TestPlanAddress(t *testing.T) {
	t.Parallel()
	key := provider.Values{"key": "k"}
	chat := func(model string) provider.Call {
		return provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Path: "/chat/completions", Model: model}
	}
	through := func(path, query string) provider.Call {
		return provider.Call{Endpoint: llm.Proxy, Method: "PUT", Path: path, RawQuery: query}
	}
	with := func(c provider.Call, host string) provider.Call { c.CustomHost = host; return c }
	stored := azureValues(provider.Values{"azure_deployment_config": deployments, "azure_deployment_id": "", "azure_api_version": ""})
	cases := []struct {
		name, id    string
		call        provider.Call
		values      provider.Values
		want, model string // model "": as called
	}{
		{"query goes along", "openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: "limit=2&after=a%2Fb"}, key, "https://api.openai.com/v1/files?limit=2&after=a%2Fb", ""},
		{"id keeps its bytes", "openai", provider.Call{Endpoint: llm.CancelBatch, Method: "POST", ID: "arn%3Aaws:job/1"}, key, "https://api.openai.com/v1/batches/arn%3Aaws:job/1/cancel", ""},
		{"custom host", "openai", with(chat("m"), "http://127.0.0.1:8000/v1/"), key, "http://127.0.0.1:8000/v1/chat/completions", ""},
		{"custom host without a key", "openai", with(chat("m"), "http://[::1]:8000"), nil, "http://[::1]:8000/chat/completions", ""},
		{"stored custom host", "openai", chat("m"), provider.Values{"custom_host": "https://llm.corp.example/v1"}, "https://llm.corp.example/v1/chat/completions", ""},
		{"custom host of the call first", "openai", with(chat("m"), "https://a.example/v1"), provider.Values{"custom_host": "https://b.example/v1"}, "https://a.example/v1/chat/completions", ""},
		{"version once", "deepseek", with(chat("m"), "http://10.0.0.9/v1"), key, "http://10.0.0.9/v1/chat/completions", ""},
		{"ollama", "ollama", with(chat("m"), "http://localhost:11434"), nil, "http://localhost:11434/v1/chat/completions", ""},
		{"pass-through keeps its version", "ollama", with(through("/v1/models", ""), "http://localhost:11434/v1"), nil, "http://localhost:11434/v1/v1/models", ""},
		{"pass-through keeps its bytes", "qdrant", with(through("/collections/a%2Fb:c%3a/~x", "q=%20&q"), "https://q.example:6333"), key, "https://q.example:6333/collections/a%2Fb:c%3a/~x?q=%20&q", ""},
		{"pass-through of nothing", "qdrant", with(through("", ""), "https://q.example"), key, "https://q.example/", ""},
		{"version of Anthropic once", "anthropic", through("/v1/messages", ""), key, "https://api.anthropic.com/v1/messages", ""},
		{"typed route of a pass-through provider", "milvus", provider.Call{Endpoint: llm.ListFiles, Method: "GET", Path: "/files", CustomHost: "https://m.example"}, key, "https://m.example/files", ""},
		{"untyped route that is not listed", "groq", provider.Call{Endpoint: llm.Moderate, Method: "POST", Path: "/moderations"}, key, "https://api.groq.com/openai/v1/moderations", ""},
		{"path chooses the base", "meshy", through("/text-to-3d/7", ""), key, "https://api.meshy.ai/openapi/v2/text-to-3d/7", ""},
		{"field chooses the base", "byteplus", chat("m"), provider.Values{"key": "k", "byteplus_region": "eu-west-1"}, "https://ark.eu-west.bytepluses.com/api/v3/chat/completions", ""},
		{"model prefix", "mistral-ai", chat("mistralai.large"), key, "https://api.mistral.ai/v1/chat/completions", "large"},
		{"model as Google's clients write it", "google", chat("models/gemini-2.5-flash"), key, "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash"},
		{"embedding model as Google's clients write it", "google", provider.Call{Endpoint: llm.Embed, Method: "POST", Model: "models/gemini-embedding-001"}, key, "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents", "gemini-embedding-001"},
		{"thinking model as Google's clients write it", "google", chat("models/gemini-2.0-flash-thinking-exp"), key, "https://generativelanguage.googleapis.com/v1alpha/models/gemini-2.0-flash-thinking-exp:generateContent", "gemini-2.0-flash-thinking-exp"},
		{"model in the path", "huggingface", chat("org/m:x y"), key, "https://api-inference.huggingface.co/models/org/m%3Ax%20y/v1/chat/completions", ""},
		{"model as one segment", "bedrock", chat("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1"), provider.Values{"aws_region": "eu-west-1", "aws_auth_type": "serviceRole"},
			"https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-opus-4-6-v1/converse", ""},
		{"model that came escaped", "bedrock", chat("arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fabc"), provider.Values{"aws_region": "eu-west-1", "aws_auth_type": "serviceRole"},
			"https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fabc/converse", ""},
		{"own URL", "huggingface", chat("org/m"), provider.Values{"key": "k", "huggingface_base_url": "https://my.endpoints.huggingface.cloud/"}, "https://my.endpoints.huggingface.cloud/v1/chat/completions", ""},
		{"adapter in the body", "predibase", provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "llama:repo/3", User: "t/1"}, key, "https://serving.app.predibase.com/t%2F1/deployments/v2/llms/llama/v1/chat/completions", "repo/3"},
		{"azure", "azure-openai", chat("gpt-4o"), azureValues(nil), "https://contoso.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21", ""},
		{"azure v1", "azure-openai", chat("gpt-4o"), azureValues(provider.Values{"azure_api_version": "v1"}), "https://contoso.openai.azure.com/openai/v1/chat/completions", "gpt"},
		{"azure v1 without a model in the body", "azure-openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET"}, azureValues(provider.Values{"azure_api_version": "v1"}), "https://contoso.openai.azure.com/openai/v1/files", ""},
		{"azure alias", "azure-openai", chat("fast"), stored, "https://contoso.openai.azure.com/openai/deployments/mini-eu/chat/completions?api-version=2024-06-01", ""},
		{"azure model slug", "azure-openai", chat("gpt-4o-mini"), stored, "https://contoso.openai.azure.com/openai/deployments/mini-eu/chat/completions?api-version=2024-06-01", ""},
		{"azure default deployment", "azure-openai", chat("other"), stored, "https://contoso.openai.azure.com/openai/v1/chat/completions", "big-eu"},
		{"azure version without a date", "azure-openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: "api-version=v1&limit=1"}, azureValues(nil), "https://contoso.openai.azure.com/openai/files?limit=1&api-version=2024-10-21", ""},
		{"azure v1, asked with a date", "azure-openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: "api-version=2023-01-01"}, azureValues(provider.Values{"azure_api_version": "v1"}), "https://contoso.openai.azure.com/openai/v1/files", ""},
		{"azure's version for others", "openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: "limit=2&api-version=2024-10-21"}, key, "https://api.openai.com/v1/files?limit=2", ""},
		{"azure's version passed through", "openai", through("/x", "api-version=2024-10-21"), key, "https://api.openai.com/v1/x?api-version=2024-10-21", ""},
		{"azure version of the caller", "azure-openai", provider.Call{Endpoint: llm.ListFiles, Method: "GET", RawQuery: "api-version=2023-01-01&limit=1"}, azureValues(provider.Values{"azure_api_version": ""}), "https://contoso.openai.azure.com/openai/files?api-version=2023-01-01&limit=1", ""},
		{"azure pass-through", "azure-openai", through("/assistants/a%2F1", "order=asc"), azureValues(nil), "https://contoso.openai.azure.com/openai/assistants/a%2F1?order=asc&api-version=2024-10-21", ""},
		{"azure pass-through v1", "azure-openai", through("/assistants", ""), azureValues(provider.Values{"azure_api_version": "v1"}), "https://contoso.openai.azure.com/openai/v1/assistants", ""},
		{"azure host in the path", "azure-openai", through("/contoso.openai.azure.com/openai/deployments/d/chat/completions", "api-version=1"), azureValues(nil), "https://contoso.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", ""},
		{"azure URL in the path", "azure-openai", through("/https://other.openai.azure.com/openai/files", "api-version=1"), provider.Values{"key": "k"}, "https://other.openai.azure.com/openai/files?api-version=1", ""},
		{"azure on a government cloud", "azure-openai", with(chat("m"), "https://contoso.openai.azure.us/openai"), azureValues(nil), "https://contoso.openai.azure.us/openai/deployments/gpt/chat/completions?api-version=2024-10-21", ""},
		{"azure realtime", "azure-openai", provider.Call{Endpoint: llm.Realtime, Method: "GET", RawQuery: "model=gpt"}, azureValues(nil), "https://contoso.openai.azure.com/openai/realtime?model=gpt&api-version=2024-10-21&deployment=gpt", ""},
		{"foundry files", "azure-ai", provider.Call{Endpoint: llm.ListFiles, Method: "GET"}, provider.Values{"key": "k", "azure_foundry_url": "https://c.services.ai.azure.com/models"}, "https://c.services.ai.azure.com/openai/files", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := find(t, c.id).Plan(c.call, c.values)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Scheme + "://" + p.Host + p.Target; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if want := c.call.Model; p.Model != want && p.Model != c.model || c.model != "" && p.Model != c.model {
				t.Errorf("model %q of %q, want %q", p.Model, want, c.model)
			}
			if custom := c.call.CustomHost + c.values["custom_host"] + c.values["azure_foundry_url"] + c.values["huggingface_base_url"]; custom != "" && p.Named == "" {
				t.Error("a host that the caller named is not marked")
			}
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	chat := provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "m"}
	cases := []struct {
		name, id string
		call     provider.Call
		values   provider.Values
		code     fault.Code
		param    string
		text     string // part of the public text
	}{
		{"absent endpoint", "groq", provider.Call{Endpoint: llm.CreateBatch, Method: "POST", Path: "/batches"}, provider.Values{"key": "k"}, fault.NotSupported, "", "createBatch is not supported by groq"},
		{"a part of an absent endpoint", "anthropic", provider.Call{Endpoint: llm.Proxy, Method: "POST", Path: "/responses/compact"}, provider.Values{"key": "k"}, fault.NotSupported, "", "/v1/responses/compact is not supported by anthropic"},
		{"no key", "openai", chat, nil, fault.InvalidRequest, "authorization", "send Authorization: Bearer"},
		{"no host", "custom", chat, nil, fault.InvalidRequest, "x-gateway-custom-host", "send x-gateway-custom-host"},
		{"no resource", "azure-openai", chat, provider.Values{"key": "k"}, fault.InvalidRequest, "x-gateway-azure-resource-name", "set azure_resource_name"},
		{"no deployment", "azure-openai", chat, provider.Values{"key": "k", "azure_resource_name": "c"}, fault.InvalidRequest, "x-gateway-azure-deployment-id", "azure_deployment_id"},
		{"no version", "azure-openai", chat, azureValues(provider.Values{"azure_api_version": ""}), fault.InvalidRequest, "x-gateway-azure-api-version", "azure_api_version"},
		{"no secret in mode entra", "azure-openai", chat, azureValues(provider.Values{"azure_auth_mode": "entra", "azure_entra_tenant_id": "t", "azure_entra_client_id": "c"}), fault.InvalidRequest, "x-gateway-azure-entra-client-secret", "azure_entra_client_secret"},
		{"no AWS key", "sagemaker", provider.Call{Endpoint: llm.Proxy, Method: "POST", Path: "/endpoints/e/invocations"}, nil, fault.InvalidRequest, "x-gateway-aws-access-key-id", "aws_access_key_id"},
		{"no model", "huggingface", provider.Call{Endpoint: llm.ChatComplete, Method: "POST"}, provider.Values{"key": "k"}, fault.InvalidRequest, "model", "requires a model"},
		{"model that leaves the path", "vertex-ai", provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "../../x"}, provider.Values{"key": "k", "vertex_project_id": "p", "vertex_region": "us-central1"}, fault.InvalidRequest, "model", "leave"},
		{"no tenant", "predibase", chat, provider.Values{"key": "k"}, fault.InvalidRequest, "user", "tenant"},
		{"value that is none of the allowed", "azure-openai", chat, azureValues(provider.Values{"azure_auth_mode": "magic"}), fault.InvalidRequest, "azure_auth_mode", "one of"},
		{"control character for a header", "openai", chat, provider.Values{"key": "k", "openai_project": "a\r\nhost: evil"}, fault.InvalidRequest, "openai_project", "control"},
		{"other resource in the path", "azure-openai", provider.Call{Endpoint: llm.Proxy, Method: "POST", Path: "/evil.openai.azure.com/openai/x"}, azureValues(nil), fault.InvalidRequest, "azure_resource_name", "resource of the credential"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := find(t, c.id).Plan(c.call, c.values)
			f := fault.From(err)
			if f == nil || f.Code != c.code || f.Param != c.param || !strings.Contains(f.Text(), c.text) {
				t.Fatalf("got %v at %q, want %s at %q with %q", err, f.Param, c.code, c.param, c.text)
			}
		})
	}
}

func TestMethodAndFollow(t *testing.T) {
	t.Parallel()
	p, err := find(t, "azure-openai").Plan(provider.Call{Endpoint: llm.GetBatchOutput, Method: "GET", ID: "b"}, azureValues(nil))
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Endpoint.Follow; f == nil || f.Endpoint != llm.RetrieveFileContent || len(f.Fields) != 2 || p.Method != "GET" {
		t.Errorf("follow %+v, method %s", p.Endpoint.Follow, p.Method)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	client := wire.Header{{Name: "openai-project", Value: "the client's"}, {Name: "x-title", Value: "the client's"}, {Name: "x-trace", Value: "1"}}
	cases := []struct {
		id     string
		values provider.Values
		want   wire.Header
	}{
		{"openai", provider.Values{"key": "k", "openai_project": "p-1"}, wire.Header{{Name: "openai-project", Value: "p-1"}, {Name: "x-title", Value: "the client's"}, {Name: "x-trace", Value: "1"}}},
		{"openrouter", provider.Values{"key": "k"}, wire.Header{{Name: "openai-project", Value: "the client's"}, {Name: "x-title", Value: "the client's"}, {Name: "x-trace", Value: "1"}}},
		{"cerebras", provider.Values{"key": "k", "custom_headers": `{"X-Trace":"2","modal-key":"m"}`}, wire.Header{{Name: "openai-project", Value: "the client's"}, {Name: "x-title", Value: "the client's"}, {Name: "x-trace", Value: "2"}, {Name: "user-agent", Value: "Sluice"}, {Name: "modal-key", Value: "m"}}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			p, err := find(t, c.id).Plan(provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "m"}, c.values)
			if err != nil {
				t.Fatal(err)
			}
			h := client.Clone(2)
			p.Apply(&h)
			if len(h) != len(c.want) {
				t.Fatalf("got %v, want %v", h, c.want)
			}
			for _, f := range c.want {
				if h.Get(f.Name) != f.Value {
					t.Errorf("%s is %q, want %q", f.Name, h.Get(f.Name), f.Value)
				}
			}
		})
	}
}

// Of a custom header that is there in two spellings the same one counts in every call.
func TestCustomHeaderTwice(t *testing.T) {
	t.Parallel()
	for range 50 {
		p, err := find(t, "openai").Plan(provider.Call{Endpoint: llm.ChatComplete, Model: "m"}, provider.Values{"key": "k", "custom_headers": `{"x-team":"search","X-Team":"billing"}`})
		if err != nil {
			t.Fatal(err)
		}
		var h wire.Header
		if p.Apply(&h); h.Get("x-team") != "search" {
			t.Fatalf("sent %q", h.Get("x-team"))
		}
	}
}

// Claude at Google refuses flags that only Anthropic's own hosts know, and where it counts
// tokens all of them.
func TestFlags(t *testing.T) {
	t.Parallel()
	google := provider.Values{"key": "k", "vertex_region": "global", "vertex_project_id": "p"}
	for _, c := range []struct {
		id       string
		endpoint llm.Endpoint
		flags    string
		want     string
	}{
		{"vertex-ai", llm.Messages, "claude-code-20250219,prompt-caching-scope-2026-01-05, advanced-tool-use-2025-11-20,oauth-2025-04-20,effort-2025-11-24", "claude-code-20250219,tool-search-tool-2025-10-19,effort-2025-11-24"},
		{"vertex-ai", llm.Messages, "tool-search-tool-2025-10-19,advanced-tool-use-2025-11-20,,new-flag-2027-01-01", "tool-search-tool-2025-10-19,new-flag-2027-01-01"},
		{"vertex-ai", llm.Messages, "message-threads-2026-08-12", ""},
		{"vertex-ai", llm.MessagesCountTokens, "claude-code-20250219", ""},
		{"anthropic", llm.Messages, "prompt-caching-scope-2026-01-05, oauth-2025-04-20", "prompt-caching-scope-2026-01-05, oauth-2025-04-20"},
	} {
		values := maps.Clone(google)
		values["anthropic_beta"] = c.flags
		p, err := find(t, c.id).Plan(provider.Call{Endpoint: c.endpoint, Method: "POST", Model: "anthropic.claude-opus-4-6"}, values)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Header.Get("anthropic-beta"); got != c.want || p.Header.Has("anthropic-beta") != (c.want != "") {
			t.Errorf("%s %s of %s is sent as %q, want %q", c.id, c.endpoint, c.flags, got, c.want)
		}
	}
}

// Every header that some provider takes its key in is one that is not relayed.
func TestCredentialHeaders(t *testing.T) {
	t.Parallel()
	table, err := table()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table.All() {
		for _, a := range append([]provider.Auth{s.Auth}, variantAuth(s)...) {
			if a.Header != "" && !wire.CredentialHeader(a.Header) {
				t.Errorf("%s: a client's %s would be relayed", s.ID, a.Header)
			}
		}
	}
	if wire.CredentialHeader("content-type") {
		t.Error("content-type is no credential")
	}
}

func variantAuth(s *provider.Spec) []provider.Auth {
	var out []provider.Auth
	for _, v := range s.Variants {
		if v.Auth != nil {
			out = append(out, *v.Auth)
		}
	}
	return out
}

func TestCustomHeadersRefused(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`[]`, `{"a": 1}`, `{"a b": "c"}`, `{"a": "b\r\nc: d"}`, `{"Host": "evil"}`, `{"content-length": "0"}`, `{"Transfer-Encoding": "chunked"}`, `{"x-gateway-config": "{}"}`, `{"a":"` + strings.Repeat("x", 17<<10) + `"}`} {
		_, err := find(t, "openai").Plan(provider.Call{Endpoint: llm.ChatComplete, Model: "m"}, provider.Values{"key": "k", "custom_headers": doc})
		if f := fault.From(err); f == nil || f.Code != fault.InvalidRequest || f.Param != "custom_headers" {
			t.Errorf("%.60s: %v", doc, err)
		}
	}
}

// What lies in S3 is signed for S3, whatever the provider's other calls are signed for.
// What is part of an endpoint passes through to who has that, and to who has no typed ones at all.
func TestPlanOfAPart(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"openai", "groq", "replicate"} {
		p, err := find(t, id).Plan(provider.Call{Endpoint: llm.Proxy, Method: "POST", Path: "/responses/compact"}, provider.Values{"key": "k"})
		if err != nil || !strings.HasSuffix(p.Target, "/responses/compact") {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
}

func TestPlanService(t *testing.T) {
	t.Parallel()
	all, err := table()
	if err != nil {
		t.Fatal(err)
	}
	bedrock, _ := all.Find("bedrock")
	for ep, want := range map[llm.Endpoint]string{llm.UploadFile: "s3", llm.RetrieveFileContent: "s3", llm.Rerank: "bedrock"} {
		p, err := bedrock.Plan(provider.Call{Endpoint: ep, Method: "POST", ID: "s3%3A%2F%2Fb%2Fk"}, provider.Values{
			"aws_region": "us-east-1", "aws_s3_bucket": "b", "aws_access_key_id": "k", "aws_secret_access_key": "s",
		})
		if err != nil || p.Auth.Service != want || p.Auth.Scheme != "aws" {
			t.Errorf("%s: %+v, %v", ep, p, err)
		}
	}
}
