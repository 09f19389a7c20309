package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/credential"
	"sluice/internal/test/upstream"
)

// saved saves a provider whose calls reach the rig's upstream and that allows the models,
// or all of them when there are none.
func (r *rig) saved(slug, spec, base string, models ...string) *credential.Account {
	a := &credential.Account{
		Slug: slug, Spec: spec, Status: "active", AllModels: len(models) == 0,
		Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + base},
	}
	for _, m := range models {
		a.Models = append(a.Models, credential.Model{Slug: m, Enabled: true})
	}
	r.dir.accounts[slug] = a
	return a
}

// TestHiddenModels has callers of a provider that allows one model name another where a
// gateway may not look.
func TestHiddenModels(t *testing.T) {
	long := strings.Repeat(" ", 2<<20)
	form := strings.ReplaceAll("--b~Content-Disposition: form-data; name=\"prompt\"~~p~--b~Content-Disposition: form-data; name=\"image\"; filename=\"i.png\"~~x~--b--~", "~", "\r\n")
	const retried = `{"provider":"@some","retry":{"attempts":1}}`
	for name, c := range map[string]struct{ spec, path, body, kind, config string }{
		"path of Google":       {"google", "/v1/v1beta/models/forbidden:generateContent", `{"contents":[]}`, "", ""},
		"path beside a lie":    {"google", "/v1/v1beta/models/forbidden:generateContent", `{"contents":[],"model":"allowed"}`, "", ""},
		"path of Bedrock":      {"bedrock", "/v1/model/forbidden/converse", `{"messages":[]}`, "", ""},
		"path of Azure":        {"azure-openai", "/v1/deployments/forbidden/chat/completions", `{"messages":[]}`, "", ""},
		"a list":               {"openai", "/v1/videos", `[{"model":"forbidden"}]`, "", ""},
		"text":                 {"openai", "/v1/videos", `{"model":"forbidden"}`, "text/plain", ""},
		"text, retried":        {"openai", "/v1/videos", `{"model":"forbidden"}`, "text/plain", retried},
		"long, retried":        {"openai", "/v1/videos", `{"model":"forbidden"` + long + `}`, "", retried},
		"long, several":        {"openai", "/v1/videos", `{"model":"forbidden"` + long + `}`, "", `{"strategy":{"mode":"single"},"targets":[{"provider":"@some"}]}`},
		"a form, retried":      {"openai", "/v1/images/variations", form, "multipart/form-data; boundary=b", retried},
		"text, overridden":     {"openai", "/v1/videos", `{"model":"forbidden"}`, "text/plain", `{"provider":"@some","override_params":{"model":"allowed"}}`},
		"further models":       {"openrouter", "/v1/chat/completions", strings.Replace(hello, `"model":"gpt-4o-mini"`, `"model":"allowed","models":["forbidden"]`, 1), "", ""},
		"further, overridden":  {"openrouter", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "allowed", 1), "", `{"provider":"@some","override_params":{"models":["forbidden"]}}`},
		"fallbacks":            {"anthropic", "/v1/messages", falling(`[{"model":"allowed"},{"max_tokens":9,"mod\u0065l":"forbidden"}]`), "", ""},
		"fallbacks by twins":   {"anthropic", "/v1/messages", falling(`[{"model":"forbidden","model":"allowed"}]`), "", ""},
		"fallbacks, names":     {"openrouter", "/v1/chat/completions", falling(`["allowed","forbidden"]`), "", ""},
		"fallbacks of choice":  {"anthropic", "/v1/messages", falling(`"default"`), "", ""},
		"fallbacks, default":   {"anthropic", "/v1/messages", falling(`null`), "", `{"provider":"@some","override_params":{"fallbacks":[{"model":"forbidden"}]}}`},
		"none":                 {"openai", "/v1/images/generations", `{"prompt":"p"}`, "", ""},
		"none in a form":       {"openai", "/v1/images/edits", form, "multipart/form-data; boundary=b", ""},
		"a name in upper case": {"openai", "/v1/images/generations", `{"prompt":"p","Model":"forbidden"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.saved("some", c.spec, "", "allowed")
			for k, v := range map[string]string{
				"aws_access_key_id": "AK", "aws_secret_access_key": "sk", "aws_region": "eu-west-1",
				"azure_resource_name": "res", "azure_deployment_id": "allowed", "azure_api_version": "2024-10-21",
			} {
				if strings.HasPrefix(k, c.spec[:3]) || strings.HasPrefix(k, "aws") && c.spec == "bedrock" {
					a.Values[k] = v
				}
			}
			by, kind := "x-gateway-provider: @some", "application/json"
			if c.config != "" {
				by = "x-gateway-config: " + c.config
			}
			if c.kind != "" {
				kind = c.kind
			}
			got := r.call("POST", c.path, c.body, by, "content-type: "+kind)
			if got.StatusCode != http.StatusPreconditionFailed || r.up.Total() != 0 {
				t.Errorf("answered %d after %d calls: %.300s", got.StatusCode, r.up.Total(), got.Text)
			}
		})
	}
}

// falling is a call with fallbacks.
func falling(to string) string {
	return `{"model":"allowed","max_tokens":64,"fallbacks":` + to + `,"messages":[{"role":"user","content":"Hello there"}]}`
}

// TestAllowedFallbacks holds that the rule above leaves alone fallbacks that are allowed.
func TestAllowedFallbacks(t *testing.T) {
	r := newRig(t)
	r.saved("some", "anthropic", "", "allowed", "too")
	r.up.Handle("/messages", upstream.Always(upstream.JSON(200, []byte(claudeResponse))))
	for _, list := range []string{`[{"model":"allowed"},{"model":"too","max_tokens":9}]`, `[]`, `null`} {
		if got := r.call("POST", "/v1/messages", falling(list), "x-gateway-provider: @some"); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", list, got.StatusCode, got.Text)
		}
	}
}

// TestAllowedPassThrough holds that the rule above leaves alone what names no model.
func TestAllowedPassThrough(t *testing.T) {
	r := newRig(t)
	r.saved("some", "openai", "/v1", "allowed")
	r.up.Handle("/v1/vector_stores", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	for _, body := range []string{`{"name":"n"}`, `{"model":"allowed"}`, ""} {
		if got := r.call("POST", "/v1/vector_stores", body, "x-gateway-provider: @some"); got.StatusCode != 200 {
			t.Errorf("%q: %d %s", body, got.StatusCode, got.Text)
		}
	}
}

// TestModelInTheQuery has realtime calls name their model, and a provider beside it.
func TestModelInTheQuery(t *testing.T) {
	for query, want := range map[string]struct {
		status int
		sent   string // query at the upstream
	}{
		"model=gpt-realtime":                 {101, "model=gpt-realtime"},
		"a=1&model=@some/gpt-realtime&b=%2F": {101, "a=1&model=gpt-realtime&b=%2F"},
		"model=%40some%2Fgpt-realtime":       {101, "model=gpt-realtime"},
		"model=forbidden":                    {412, ""},
		"model=@some/forbidden":              {412, ""},
		"":                                   {412, ""},
		"model=forbidden&x=%zz":              {400, ""},
		"model=forbidden&x=a;b":              {400, ""},
		"model=gpt-realtime&model=forbidden": {400, ""},
		"model=gpt-realtime&%6Dodel=x":       {400, ""},
		"model=gpt-realtime&deployment=x":    {412, ""},
	} {
		t.Run(query, func(t *testing.T) {
			r := newRig(t)
			r.saved("some", "openai", "/v1", "gpt-realtime")
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			h := http.Header{"X-Gateway-Api-Key": {key}, "X-Gateway-Provider": {"@some"}}
			if strings.Contains(query, "some") {
				h.Del("X-Gateway-Provider")
			}
			c, resp, err := websocket.Dial(ctx, r.server.URL+"/v1/realtime?"+query, &websocket.DialOptions{HTTPHeader: h})
			if err == nil {
				defer c.CloseNow()
			}
			if resp == nil || resp.StatusCode != want.status {
				t.Fatalf("answered %+v, %v", resp, err)
			}
			seen := r.up.Seen()
			if want.sent == "" && len(seen) > 0 || want.sent != "" && (len(seen) != 1 || seen[0].Target != "/v1/realtime?"+want.sent) {
				t.Errorf("the provider saw %+v", seen)
			}
		})
	}
}

// TestProviderInTheQuery holds that a GET may name its saved provider as a body does.
func TestProviderInTheQuery(t *testing.T) {
	r := newRig(t)
	r.saved("some", "openai", "/v1")
	r.up.Handle("/v1/widgets", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	got := r.call("GET", "/v1/widgets?limit=2&model=@some/gpt-4o&after=a%2Fb", "")
	if seen := r.up.Seen(); got.StatusCode != 200 || len(seen) != 1 || seen[0].Target != "/v1/widgets?limit=2&model=gpt-4o&after=a%2Fb" {
		t.Errorf("%d %s, sent %+v", got.StatusCode, got.Text, seen)
	}
}

// TestDefaultModelNamesProvider holds that a default model counts as one that was sent.
func TestDefaultModelNamesProvider(t *testing.T) {
	r := newRig(t)
	r.saved("some", "openai", "/v1")
	got := r.call("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"Hello"}]}`, `x-gateway-config: {"default_params":{"model":"@some/gpt-4o-mini"}}`)
	if got.StatusCode != 200 || !strings.Contains(string(r.up.Seen()[0].Body), `"model":"gpt-4o-mini"`) {
		t.Errorf("%d %s", got.StatusCode, got.Text)
	}
	got = r.call("POST", "/v1/chat/completions", `{"model":"@some/","messages":[{"role":"user","content":"Hello"}]}`, `x-gateway-config: {"default_params":{"model":"gpt-4o-mini"}}`)
	if rows := r.journal.all(); rows[len(rows)-1].ProviderID != "some" {
		t.Errorf("a default without a provider took that of the body away: %d %s", got.StatusCode, got.Text)
	}
}
