package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/test/upstream"
)

const overAzure = `{"messages":[{"role":"user","content":"Hello there"}],"model":"gpt-3.5-turbo"}`

// Azure's clients name the model in the path and a version in the query. The first counts,
// and rules, as it does at Azure; the second is for those who have it.
func TestAzurePaths(t *testing.T) {
	t.Parallel()
	azure := func(r *rig) []string {
		return []string{
			"x-gateway-provider: azure-openai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: " + r.up.URL() + "/openai",
			"x-gateway-azure-resource-name: res", "x-gateway-azure-deployment-id: mini-eu", "x-gateway-azure-api-version: 2024-06-01",
		}
	}
	for name, c := range map[string]struct {
		path, body   string
		to           func(*rig) []string
		target, sent string
	}{
		"to OpenAI": {"/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21", overAzure, func(r *rig) []string { return r.custom() },
			"/v1/chat/completions", strings.Replace(overAzure, "gpt-3.5-turbo", "gpt-4o-mini", 1)},
		"without a model": {"/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21", `{"messages":[{"role":"user","content":"Hello there"}]}`, func(r *rig) []string { return r.custom() },
			"/v1/chat/completions", `{"messages":[{"role":"user","content":"Hello there"}],"model":"gpt-4o-mini"}`},
		"beside an empty one": {"/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21", strings.Replace(overAzure, "gpt-3.5-turbo", "", 1), func(r *rig) []string { return r.custom() },
			"/v1/chat/completions", strings.Replace(overAzure, "gpt-3.5-turbo", "gpt-4o-mini", 1)},
		"of a saved provider": {"/openai/deployments/@some/gpt-4o-mini/chat/completions?api-version=2024-10-21", overAzure, func(r *rig) []string { r.saved("some", "openai", "/v1", "gpt-4o-mini"); return nil },
			"/v1/chat/completions", strings.Replace(overAzure, "gpt-3.5-turbo", "gpt-4o-mini", 1)},
		"to Azure": {"/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21", overAzure, azure,
			"/openai/deployments/mini-eu/chat/completions?api-version=2024-10-21", strings.Replace(overAzure, "gpt-3.5-turbo", "gpt-4o-mini", 1)},
		"to Azure by a client of its v1": {"/openai/v1/chat/completions?api-version=v1", hello, azure,
			"/openai/deployments/mini-eu/chat/completions?api-version=2024-06-01", hello},
		"as Groq's": {"/openai/v1/chat/completions", hello, func(r *rig) []string { return r.custom() }, "/v1/chat/completions", hello},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			path, _, _ := strings.Cut(c.target, "?")
			r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(speakers[0].response))))
			a := r.call("POST", c.path, c.body, c.to(r)...)
			if a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			seen := r.up.Seen()[0]
			if seen.Target != c.target || string(seen.Body) != c.sent {
				t.Errorf("sent %s %s", seen.Target, seen.Body)
			}
			if row := r.journal.one(t); row.Endpoint != llm.ChatComplete || row.Model != "gpt-4o-mini" {
				t.Errorf("on record as %s of %s", row.Endpoint, row.Model)
			}
		})
	}
}

// The model of a path is that of a form, and of a call that is put in other words.
func TestAzurePathsInOtherWords(t *testing.T) {
	t.Parallel()
	t.Run("a form", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		form := strings.ReplaceAll("--b~Content-Disposition: form-data; name=\"file\"; filename=\"a.wav\"~~RIFF~--b--~", "~", "\r\n")
		a := r.call("POST", "/openai/deployments/whisper-1/audio/transcriptions?api-version=2024-10-21", form, r.custom("content-type: multipart/form-data; boundary=b")...)
		sent := string(r.up.Seen()[0].Body)
		if a.StatusCode != 200 || !strings.Contains(sent, "name=\"model\"\r\n\r\nwhisper-1\r\n") {
			t.Errorf("%d %s; sent %s", a.StatusCode, a.Text, sent)
		}
	})
	t.Run("Claude's", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := speakers[1]
		r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(p.response))))
		a := r.call("POST", "/openai/deployments/m-1/chat/completions?api-version=2024-10-21", overAzure, r.as(p)...)
		if sent := string(r.up.Seen()[0].Body); a.StatusCode != 200 || !strings.Contains(sent, `"model":"m-1"`) || strings.Contains(sent, "gpt-3.5") {
			t.Errorf("%d %s; sent %s", a.StatusCode, a.Text, sent)
		}
	})
}

// A provider that allows some models only is asked for no other by a path.
func TestAzurePathsAreHeldToAllowedModels(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.saved("some", "openai", "/v1", "allowed")
	for _, path := range []string{"/openai/deployments/forbidden/chat/completions", "/openai/deployments/%66orbidden/chat/complet%69ons", "/openai/deployments/@some/forbidden/chat/completions/"} {
		a := r.call("POST", path, strings.Replace(overAzure, "gpt-3.5-turbo", "allowed", 1), "x-gateway-provider: @some")
		if a.StatusCode != 412 || r.up.Total() != 0 {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Text)
		}
	}
}

// Conditions see the path and the model that the call is known by.
func TestConditionsOfAzurePaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	config := `{"strategy":{"mode":"conditional","conditions":[{"query":{"$and":[{"url.pathname":"/v1/chat/completions"},{"params.model":"gpt-4o-mini"}]},"then":"up"}],"default":"none"},
	  "targets":[{"name":"none","provider":"openai","api_key":"k","custom_host":"http://127.0.0.1:1"},{"name":"up","provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"}]}`
	a := r.call("POST", "/openai/deployments/gpt-4o-mini/chat/completions", overAzure, "x-gateway-config: "+strings.ReplaceAll(config, "\n", ""))
	if a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// Vendors' own paths are passed through where their clients send them, byte by byte.
func TestVendorsPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, target string }{
		{"/v1beta/models/gemini-2.5-flash:generateContent?alt=sse", "/v1beta/models/gemini-2.5-flash:generateContent?alt=sse"},
		{"/v2/chat", "/v2/chat"},
		{"/model/a%3Ab/converse", "/model/a%3Ab/converse"},
		{"/openai/assistants?api-version=2024-10-21", "/assistants?api-version=2024-10-21"},
		{"/v1/openai/v1/chat/completions", "/openai/v1/chat/completions"},
		{"/v1/openai/deployments/d/chat/completions", "/openai/deployments/d/chat/completions"},
	} {
		r := newRig(t)
		const body = `{ "x":1 }`
		r.call("POST", c.path, body, "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())
		if r.up.Total() != 1 || r.up.Seen()[0].Target != c.target || string(r.up.Seen()[0].Body) != body {
			t.Errorf("%s: sent %+v", c.path, r.up.Seen())
		}
	}
}

// A saved provider is named before the model where vendors' clients have that in the path.
func TestVendorsPathsNameProviders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, target string }{
		{"/v1beta/models/@some/gemini-2.5-flash:generateContent", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"/v1beta/@some/gemini-2.5-flash:generateContent", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"/v1beta/models/%40some%2Fa%2Fb:generateContent", "/v1beta/models/a%2Fb:generateContent"},
		{"/model/%40some%2Fa%3Ab/converse", "/model/a%3Ab/converse"},
	} {
		r := newRig(t)
		r.saved("some", "google", "")
		a := r.call("POST", c.path, "{}")
		if r.up.Total() != 1 || r.up.Seen()[0].Target != c.target {
			t.Errorf("%s: %d %s; sent %+v", c.path, a.StatusCode, a.Text, r.up.Seen())
		}
	}
	r := newRig(t)
	r.saved("some", "google", "")
	r.call("POST", "/v1/v1beta/models/@some/m:generateContent", "{}", "x-gateway-provider: @some")
	if got := r.up.Seen()[0].Target; got != "/v1beta/models/@some/m:generateContent" {
		t.Errorf("passed through as %s", got)
	}
}
