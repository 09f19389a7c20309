package provider_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

func TestVertexAddresses(t *testing.T) {
	t.Parallel()
	spec := find(t, "vertex-ai")
	const account = `{"type":"service_account","project_id":"robots"}`
	for _, c := range []struct {
		name   string
		model  string
		stream bool
		values provider.Values
		want   string // host, target
		body   string // model in it
	}{
		{"a region", "gemini-2.5-pro", false, provider.Values{"vertex_region": "europe-west4", "vertex_project_id": "p"}, "europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro"},
		{"a model as Google's clients write it", "models/gemini-2.5-pro", false, provider.Values{"vertex_region": "europe-west4", "vertex_project_id": "p"}, "europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro"},
		{"the whole world", "google.gemini-2.5-pro", true, provider.Values{"vertex_region": "global", "vertex_project_id": "p"}, "aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini-2.5-pro"},
		{"a continent", "anthropic.claude-sonnet-4-5", true, provider.Values{"vertex_region": "eu", "vertex_project_id": "p"}, "aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict", "claude-sonnet-4-5"},
		{"the project of the account wins", "mistralai.codestral-2", false, provider.Values{"vertex_region": "us-central1", "vertex_project_id": "p", "vertex_service_account_json": account}, "us-central1-aiplatform.googleapis.com/v1/projects/robots/locations/us-central1/publishers/mistralai/models/codestral-2:rawPredict", "codestral-2"},
		{"an account without a usable project", "meta.llama-3.3-70b-instruct-maas", false, provider.Values{"vertex_region": "us-central1", "vertex_project_id": "p", "vertex_service_account_json": `{"project_id":"../x"}`}, "us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/endpoints/openapi/chat/completions", "meta/llama-3.3-70b-instruct-maas"},
		{"a publisher of the open API", "qwen.qwen3-coder-480b.a35b", true, provider.Values{"vertex_region": "global", "vertex_project_id": "p"}, "aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi/chat/completions", "qwen/qwen3-coder-480b.a35b"},
		{"an endpoint of one's own", "endpoints.123", false, provider.Values{"vertex_region": "us-east1", "vertex_project_id": "p"}, "us-east1-aiplatform.googleapis.com/v1/projects/p/locations/us-east1/endpoints/123/chat/completions", "123"},
	} {
		p, err := spec.Plan(provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: c.model, Stream: c.stream}, c.values)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := p.Host + p.Target; got != c.want || p.Model != c.body || p.Scheme != "https" {
			t.Errorf("%s:\ngot  %s %s\nwant %s %s", c.name, got, p.Model, c.want, c.body)
		}
	}
}

func TestVertexRefuses(t *testing.T) {
	t.Parallel()
	call := provider.Call{Endpoint: llm.ChatComplete, Method: "POST", Model: "gemini-2.5-pro"}
	for _, c := range []struct {
		values provider.Values
		param  string
	}{
		{provider.Values{"vertex_region": "global"}, "x-gateway-vertex-project-id"},
		{provider.Values{"vertex_project_id": "p"}, "x-gateway-vertex-region"},
		{provider.Values{"vertex_region": "global", "vertex_service_account_json": `{"project_id":`}, "vertex_service_account_json"},
		{provider.Values{"vertex_region": "global", "vertex_service_account_json": `"p"`}, "vertex_service_account_json"},
		{provider.Values{"vertex_region": "evil.com/x", "vertex_project_id": "p"}, "vertex_region"},
		{provider.Values{"vertex_region": "global", "vertex_project_id": "p", "vertex_auth_type": "serviceAccount"}, "x-gateway-vertex-service-account-json"},
	} {
		_, err := find(t, "vertex-ai").Plan(call, c.values)
		if e := fault.From(err); e == nil || e.Code != fault.InvalidRequest || e.Param != c.param {
			t.Errorf("%v: %v", c.values, err)
		}
	}
}

// An id's slashes may stand in a path as such; what would lead out of it may not. On a route
// of another vendor's models his parameters are not the host's.
func TestVertexFilesAndLists(t *testing.T) {
	t.Parallel()
	v := provider.Values{"vertex_region": "global", "vertex_project_id": "p"}
	for _, c := range []struct {
		call provider.Call
		want string
	}{
		{provider.Call{Endpoint: llm.RetrieveFileContent, Method: "GET", ID: "bucket%2Fdir%2fa%20b.jsonl"}, "storage.googleapis.com/bucket/dir/a%20b.jsonl"},
		{provider.Call{Endpoint: llm.RetrieveFile, Method: "GET", ID: "b%2F..%2Fother"}, ""},
		{provider.Call{Endpoint: llm.Messages, Method: "POST", Model: "anthropic.claude-x", RawQuery: "beta=true"}, "aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/claude-x:rawPredict"},
		{provider.Call{Endpoint: llm.Proxy, Method: "GET", Path: "/v1/x", RawQuery: "limit=2"}, "aiplatform.googleapis.com/v1/x?limit=2"},
	} {
		p, err := find(t, "vertex-ai").Plan(c.call, v)
		if c.want == "" {
			if !fault.Has(err, fault.InvalidRequest) {
				t.Errorf("%s: %v", c.call.ID, err)
			}
			continue
		}
		if err != nil || p.Host+p.Target != c.want {
			t.Errorf("%v %+v, want %s", err, p, c.want)
		}
	}
}

func TestDerivedIsChecked(t *testing.T) {
	t.Parallel()
	for name, derived := range map[string]string{
		"a field that is not there":     `"d":{"from":"x","member":"m","else":"{region}"}`,
		"neither member nor words":      `"d":{"from":"region","else":"{region}"}`,
		"both":                          `"d":{"from":"region","member":"m","words":{"a":"b"},"else":"{region}"}`,
		"no else":                       `"d":{"from":"region","member":"m"}`,
		"a name that is taken":          `"region":{"from":"region","member":"m","else":"{region}"}`,
		"a name that means else":        `"model":{"from":"region","member":"m","else":"{region}"}`,
		"a field without a class":       `"d":{"from":"region","member":"m","else":"{free}"}`,
		"one made of another":           `"d":{"from":"region","member":"m","else":"{e}"},"e":{"from":"region","member":"m","else":"{d}"}`,
		"a member in a host":            `"d":{"from":"region","member":"m","else":"{region}"}`,
		"a field for paths in the host": `"d":{"from":"region","words":{"a":"b"},"else":"{part}"}`,
	} {
		file := `{"id":"x","name":"X","source":"test, 2026-11-20","dialect":"openai","base_url":"https://{d}.example.com","auth":{"scheme":"none"},
			"credential":[{"name":"region","class":"label"},{"name":"free"},{"name":"part","class":"segment"}],"derived":{` + derived + `},
			"endpoints":{"chatComplete":"/c"},"error":"openai","stream":{"framing":"sse"}}`
		if _, err := provider.LoadFS(fstest.MapFS{"specs/x.json": {Data: []byte(file)}}); err == nil || !strings.Contains(err.Error(), "spec") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
