package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A form as a browser or curl sends it.
const (
	formType = "content-type: multipart/form-data; boundary=x"
	form     = "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n%s\r\n--x\r\n" +
		"Content-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\nnot really a sound\r\n--x--\r\n"
)

// Every way to say who calls and where to, on a transcription, on a chat and on a
// path that the gateway does not know. The gateway's key never goes upstream, the
// provider's always does.
func TestCredentials(t *testing.T) {
	t.Parallel()
	up := upstream.StartTLS(t, upstream.CertNames("api.openai.com", "127.0.0.1"), upstream.HTTP1Only())
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(up.CAPEM()))
	g := start(t, with("HTTPS_PROXY="+tunnel(t, up.Addr()), "NO_PROXY=127.0.0.1", "SSL_CERT_FILE="+ca))
	g.saveProvider("saved", up)
	config := g.saveConfig("To saved", `{"provider":"@saved"}`)
	g.do(g.key, "POST", "/v1/virtual-keys", object{"name": "legacy", "slug": "legacy", "provider": "openai", "key": "sk-upstream-secret-of-legacy"})

	const gatewayKey = "x-gateway-api-key: " + workspaceKey
	callerKey := "authorization: Bearer sk-upstream-secret-of-caller"
	cases := []struct {
		name    string
		headers []string
		model   string // prefix of the model
		gets    string // the credential that the provider gets
	}{
		{"virtual key", []string{gatewayKey, "x-gateway-virtual-key: legacy"}, "", "legacy"},
		{"provider and its key", []string{gatewayKey, callerKey, "x-gateway-provider: openai"}, "", "caller"},
		{"config by slug", []string{gatewayKey, "x-gateway-config: " + config}, "", "saved"},
		{"provider, its key and a custom host", []string{gatewayKey, callerKey, "x-gateway-provider: openai", "x-gateway-custom-host: " + up.URL() + "/v1"}, "", "caller"},
		{"config inline", []string{gatewayKey, `x-gateway-config: {"provider":"@saved"}`}, "", "saved"},
		{"config inline with a key", []string{gatewayKey, `x-gateway-config: {"provider":"openai","api_key":"sk-upstream-secret-of-inline"}`}, "", "inline"},
		{"saved provider", []string{gatewayKey, "x-gateway-provider: @saved"}, "", "saved"},
		{"saved provider in the model", []string{gatewayKey}, "@saved/", "saved"},
		{"bearer of a stock client", []string{"x-gateway-api-key", "authorization: Bearer " + workspaceKey, "x-gateway-provider: @saved"}, "", "saved"},
		{"bearer and model of a stock client", []string{"x-gateway-api-key", "authorization: Bearer " + workspaceKey}, "@saved/", "saved"},
		{"key twice", []string{gatewayKey, "authorization: Bearer " + workspaceKey, "x-gateway-provider: @saved"}, "", "saved"},
	}
	for _, c := range cases {
		calls := []struct{ path, body, kind string }{
			{"/v1/audio/transcriptions", fmt.Sprintf(form, c.model+"whisper-1"), formType},
			{"/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", c.model+"gpt-4o-mini", 1), "content-type: application/json"},
			{"/v1/echo/" + strings.ReplaceAll(c.name, " ", "-"), `{"model": "` + c.model + `m",  "odd": 1.0}`, "content-type: application/json"},
		}
		if c.model != "" {
			calls = calls[:2] // on unknown paths the body is nobody's business
		}
		for _, call := range calls {
			t.Run(c.name+call.path, func(t *testing.T) {
				before := len(up.Seen())
				g.call("POST", call.path, call.body, append(c.headers, call.kind)...).want(t, 200)
				seen := up.Seen()
				if len(seen) != before+1 {
					t.Fatalf("%d requests went upstream", len(seen)-before)
				}
				last := seen[before]
				if got := last.Get("authorization"); got != "Bearer sk-upstream-secret-of-"+c.gets {
					t.Errorf("the provider got %q", got)
				}
				if strings.Contains(string(last.Head), workspaceKey) || strings.Contains(strings.ToLower(string(last.Head)), "x-gateway") {
					t.Errorf("the gateway's headers travelled:\n%s", last.Head)
				}
				if strings.Contains(string(last.Body), "@saved") {
					t.Errorf("the provider's slug travelled: %s", last.Body)
				}
			})
		}
	}
}

// A stock Anthropic client sends the gateway's key as x-api-key; the provider gets
// its own in that place, and the body as it is.
func TestAnthropicClients(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.do(g.key, "POST", "/v1/integrations", object{
		"name": "claude", "slug": "claude", "ai_provider_id": "anthropic", "key": "sk-ant-upstream-secret",
		"configurations": object{"custom_host": up.URL() + "/v1"}, "default_provider_slug": "claude",
	})
	body := `{ "model":"claude-sonnet", "max_tokens" : 1e2,"messages":[ ] }`
	a := g.call("POST", "/v1/echo/messages", body, "x-gateway-api-key", "x-api-key: "+workspaceKey, "anthropic-version: 2023-06-01", "x-gateway-provider: @claude").want(t, 200)
	if a.Body != body {
		t.Errorf("the body came back as %s", a.Body)
	}
	seen := up.Seen()[0]
	if seen.Get("x-api-key") != "sk-ant-upstream-secret" || seen.Get("anthropic-version") != "2023-06-01" || strings.Contains(string(seen.Head), workspaceKey) {
		t.Errorf("the provider got\n%s", seen.Head)
	}
	g.call("POST", "/v1/echo/messages", body, "x-gateway-api-key", "x-api-key: sk-nobody-has-this-key-000", "x-gateway-provider: @claude").want(t, 401)
}
