package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/prompt"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// trusting is a rig whose saved providers hold every kind of stored credential, and a
// second upstream that the operator trusts: it may be dialled, and is saved nowhere.
func trusting(t *testing.T) (r *rig, other *upstream.Server) {
	t.Helper()
	r = newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	r.gateway.Secrets = vault{"key": stolen}
	r.gateway.Reassemble()
	upstreamURL := r.up.URL() + "/v1"
	for slug, a := range map[string]credential.Account{
		"hosted":  {Spec: "openai", Values: map[string]string{"key": stolen, "custom_host": upstreamURL}},
		"bare":    {Spec: "openai", Values: map[string]string{"key": stolen}},
		"mapped":  {Spec: "openai", Values: map[string]string{"custom_host": upstreamURL}, Secrets: []credential.SecretUse{{Field: "key"}}},
		"headers": {Spec: "openai", Values: map[string]string{"key": "x", "custom_headers": `{"x-team-key":"` + stolen + `"}`, "custom_host": upstreamURL}},
		"claude":  {Spec: "anthropic", Values: map[string]string{"key": stolen}},
		"google":  {Spec: "google", Values: map[string]string{"key": stolen}},
		"azure":   {Spec: "azure-openai", Values: map[string]string{"key": stolen, "azure_resource_name": "r", "azure_deployment_id": "d", "azure_api_version": "v1"}},
		"local":   {Spec: "ollama", Values: map[string]string{"key": stolen, "custom_host": r.up.URL()}},
	} {
		a.Slug, a.Status, a.AllModels = slug, "active", true
		r.dir.accounts[slug] = &a
	}
	return r, upstream.Start(t)
}

// hostWays are the ways to name a host for a call with a saved provider, each as a model and
// header lines.
func hostWays(t *testing.T, r *rig, slug, host string) map[string][2]string {
	saved := func(name, doc string) string {
		r.dir.config(t, name+"-"+slug, doc)
		return "x-gateway-config: " + name + "-" + slug
	}
	inline := func(doc string) string { return "x-gateway-config: " + doc }
	const hostHeader = "x-gateway-custom-host: "
	fallback := func(inner string) string {
		return `{"strategy":{"mode":"fallback"},"custom_host":"` + host + `","targets":[` + inner + `]}`
	}
	return map[string][2]string{
		"header, provider":             {"m", hostHeader + host + "\nx-gateway-provider: @" + slug},
		"header, virtual key":          {"m", hostHeader + host + "\nx-gateway-virtual-key: " + slug},
		"header, model":                {"@" + slug + "/m", hostHeader + host},
		"header under an alias":        {"m", "x-acme-custom-host: " + host + "\nx-acme-provider: @" + slug},
		"header, inline config":        {"m", hostHeader + host + "\n" + inline(`{"provider":"@`+slug+`"}`)},
		"header, saved config":         {"m", hostHeader + host + "\n" + saved("pc-plain", `{"provider":"@`+slug+`"}`)},
		"inline config":                {"m", inline(`{"provider":"@` + slug + `","custom_host":"` + host + `"}`)},
		"inline config, virtual key":   {"m", inline(`{"virtual_key":"` + slug + `","customHost":"` + host + `"}`)},
		"inline config, inherited":     {"m", inline(fallback(`{"provider":"@` + slug + `"}`))},
		"inline config, override":      {"m", inline(`{"provider":"openai","custom_host":"` + host + `","override_params":{"model":"@` + slug + `/m"}}`)},
		"inline config, pass-through":  {"m", "x-gateway-provider: @" + slug + "\n" + inline(`{"passthrough":true,"custom_host":"`+host+`"}`)},
		"saved config":                 {"m", saved("pc-host", `{"provider":"@`+slug+`","custom_host":"`+host+`"}`)},
		"saved config, inherited":      {"m", saved("pc-above", fallback(`{"virtual_key":"`+slug+`"}`))},
		"saved config, model":          {"@" + slug + "/m", saved("pc-open", `{"retry":{"attempts":0},"custom_host":"`+host+`"}`)},
		"saved config, default params": {"", saved("pc-default", `{"custom_host":"`+host+`","default_params":{"model":"@`+slug+`/m"}}`)},
	}
}

// chatWith calls with a model and header lines.
func (r *rig) chatWith(model, lines string) callResult {
	body := strings.Replace(hello, "gpt-4o-mini", model, 1)
	if model == "" {
		body = `{"messages":[{"role":"user","content":"Hello there"}]}`
	}
	return r.call("POST", "/v1/chat/completions", body, strings.Split(lines, "\n")...)
}

// A trusted host may be dialled. No stored credential goes there, by whatever way the host is named and whatever kind of credential it is.
func TestTrustedHostsGetNoStoredCredential(t *testing.T) {
	t.Parallel()
	r, other := trusting(t)
	for slug := range r.dir.accounts {
		for way, c := range hostWays(t, r, slug, other.URL()+"/v1") {
			if a := r.chatWith(c[0], c[1]); a.StatusCode != 400 || !strings.Contains(a.Text, "STORED_KEY_HOSTS") || !strings.Contains(a.Text, "custom") {
				t.Errorf("%s, %s: %d %s", slug, way, a.StatusCode, a.Text)
			}
		}
	}
	if n := other.Total() + r.up.Total(); n != 0 {
		t.Errorf("%d calls went out", n)
	}
}

// What is refused of one endpoint is refused of all of them, sockets and vendors' paths
// included.
func TestTrustedHostsGetNoStoredCredentialOnAnyRoute(t *testing.T) {
	t.Parallel()
	r, other := trusting(t)
	r.dir.prompt("pp-key", prompt.Version{String: `[{"role":"user","content":"Greet {{name}}"}]`, Model: "m", VirtualKey: "bare"})
	const form = "--b\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{}\r\n--b--\r\n"
	hostHeader := "x-gateway-custom-host: " + other.URL() + "/v1"
	for name, c := range map[string]struct{ method, path, body, header string }{
		"embeddings":           {"POST", "/v1/embeddings", `{"model":"@bare/m","input":"a"}`, ""},
		"responses":            {"POST", "/v1/responses", `{"model":"@bare/m","input":"a","background":true}`, ""},
		"a response":           {"GET", "/v1/responses/resp_1", "", "x-gateway-provider: @bare"},
		"messages":             {"POST", "/v1/messages", `{"model":"@claude/m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, ""},
		"images":               {"POST", "/v1/images/generations", `{"model":"@bare/m","prompt":"a"}`, ""},
		"a file":               {"POST", "/v1/files", form, "content-type: multipart/form-data; boundary=b\nx-gateway-provider: @bare"},
		"files":                {"GET", "/v1/files", "", "x-gateway-provider: @mapped"},
		"content of a file":    {"GET", "/v1/files/file-1/content", "", "x-gateway-virtual-key: bare"},
		"a batch":              {"POST", "/v1/batches", `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`, "x-gateway-provider: @bare"},
		"output of a batch":    {"GET", "/v1/batches/b/output", "", "x-gateway-provider: @bare"},
		"models of a provider": {"GET", "/v1/models", "", "x-gateway-provider: @bare"},
		"pass-through":         {"POST", "/v1/any/thing", `{}`, "x-gateway-provider: @bare"},
		"pass-through, query":  {"GET", "/v1/any/thing?model=@bare/m", "", ""},
		"Google's path":        {"POST", "/v1beta/models/@google/m:generateContent", `{}`, ""},
		"Azure's path":         {"POST", "/openai/deployments/@azure/m/chat/completions", hello, ""},
		"a saved prompt":       {"POST", "/v1/prompts/pp-key/completions", `{"variables":{"name":"Ada"}}`, ""},
	} {
		lines := append(strings.Split(c.header, "\n"), hostHeader)
		if a := r.call(c.method, c.path, c.body, lines...); a.StatusCode != 400 || !strings.Contains(a.Text, "STORED_KEY_HOSTS") {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	_, resp, err := websocket.Dial(ctx, r.server.URL+"/v1/realtime?model=@bare/gpt-realtime", &websocket.DialOptions{HTTPHeader: http.Header{"X-Gateway-Api-Key": {key}, "X-Gateway-Custom-Host": {other.URL() + "/v1"}}})
	if err == nil || resp == nil || resp.StatusCode != 400 {
		t.Errorf("a socket was opened: %v, %v", resp, err)
	}
	if n := other.Total() + r.up.Total(); n != 0 {
		t.Errorf("%d calls went out", n)
	}
}

// A key in a saved config goes to the hosts that are saved beside it, and a request names
// neither another host for it nor another provider.
func TestSavedConfigKeepsItsKey(t *testing.T) {
	t.Parallel()
	r, other := trusting(t)
	upstreamURL := r.up.URL() + "/v1"
	r.dir.config(t, "pc-key", `{"provider":"openai","api_key":"`+stolen+`","custom_host":"`+upstreamURL+`"}`)
	r.dir.config(t, "pc-any", `{"api_key":"`+stolen+`","retry":{"attempts":0}}`)
	r.dir.config(t, "pc-any-hosted", `{"api_key":"`+stolen+`","custom_host":"`+upstreamURL+`","retry":{"attempts":0}}`)
	hostHeader := "\nx-gateway-custom-host: " + other.URL() + "/v1"
	for name, c := range map[string]struct {
		lines  string
		status int
		text   string
	}{
		"another host for a key":            {"x-gateway-config: pc-key" + hostHeader, 400, "STORED_KEY_HOSTS"},
		"another host, no provider saved":   {"x-gateway-config: pc-any\nx-gateway-provider: openai" + hostHeader, 400, "STORED_KEY_HOSTS"},
		"a provider of the request's":       {"x-gateway-config: pc-any\nx-gateway-provider: groq", 400, "save provider with it"},
		"another host beside a saved one":   {"x-gateway-config: pc-any-hosted\nx-gateway-provider: openai" + hostHeader, 400, "STORED_KEY_HOSTS"},
		"the saved host, any provider":      {"x-gateway-config: pc-any-hosted\nx-gateway-provider: openai", 200, ""},
		"as it is saved":                    {"x-gateway-config: pc-key", 200, ""},
		"the saved host, repeated":          {"x-gateway-config: pc-key\nx-gateway-custom-host: " + upstreamURL, 200, ""},
		"the caller's own key, any trusted": {"x-gateway-provider: openai\nauthorization: Bearer sk-mine" + hostHeader, 200, ""},
		"the caller's own key, in a config": {`x-gateway-config: {"provider":"openai","api_key":"sk-mine","custom_host":"` + other.URL() + `/v1"}`, 200, ""},
	} {
		if a := r.chatWith("m", c.lines); a.StatusCode != c.status || !strings.Contains(a.Text, c.text) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
	for _, s := range other.Seen() {
		for _, f := range s.Header {
			if strings.Contains(f.Value, stolen) {
				t.Errorf("sent %s: %s", f.Name, f.Value)
			}
		}
	}
	if other.Total() != 2 {
		t.Errorf("%d calls came to the trusted host, want those with the caller's own key", other.Total())
	}
}

// Where the operator lists host and port, every way leads there.
func TestStoredKeyHostsTakeStoredCredentials(t *testing.T) {
	t.Parallel()
	r, other := trusting(t)
	r.gateway.Guard = r.gateway.Guard.WithKeyHosts([]string{strings.TrimPrefix(other.URL(), "http://")})
	r.gateway.Reassemble()
	for _, slug := range []string{"hosted", "bare", "mapped", "headers"} {
		for way, c := range hostWays(t, r, slug, other.URL()+"/v1") {
			if a := r.chatWith(c[0], c[1]); a.StatusCode != 200 {
				t.Errorf("%s, %s: %d %s", slug, way, a.StatusCode, a.Text)
			}
		}
	}
	if r.up.Total() != 0 || other.Total() == 0 {
		t.Errorf("%d calls went to the saved host, %d to the listed one", r.up.Total(), other.Total())
	}
	if a := r.chatWith("m", "x-gateway-provider: @bare\nx-gateway-custom-host: "+r.up.URL()+"/v1"); a.StatusCode != 400 {
		t.Errorf("another port of the listed host: %d %s", a.StatusCode, a.Text)
	}
}
