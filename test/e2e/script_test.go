package e2e

import (
	"os"
	"strings"
	"testing"

	"sluice/internal/domain/identity"
	"sluice/internal/test/upstream"
)

// step is a call of the script. "{name}" in its key, path and body stands for what
// an earlier step kept, or for one of the two first keys and the upstream's address.
type step struct {
	does   string
	key    string // whose
	call   string // "POST /v1/workspaces"
	body   string
	status int
	values map[string]string // values of the answer by gjson path
	save   map[string]string // names to keep values of the answer under, by gjson path
}

const chatBody = `{"model":"{model}","messages":[{"role":"user","content":"Hello there"}]}`

// team is the life of a team in a deployment: it gets a workspace, a key, shared
// and own credentials, a config and a policy, uses them, and is dissolved.
var team = []step{
	{does: "there is one workspace", key: "admin", call: "GET /v1/workspaces", values: map[string]string{"total": "1", "data.0.is_default": "1"}},
	{does: "make a workspace", key: "admin", call: "POST /v1/workspaces", body: `{"name":"Search"}`, save: map[string]string{"place": "id", "slug": "slug"}},
	{does: "a workspace key makes none", key: "first", call: "POST /v1/workspaces", body: `{"name":"Mine"}`, status: 403},
	{does: "make a key of it", key: "admin", call: "POST /v1/api-keys/workspace/service", body: `{"name":"ci","workspace_id":"{slug}","scopes":["completions.write","configs.create","configs.read","configs.update","configs.list","configs.delete","virtual_keys.create","virtual_keys.list","virtual_keys.read","virtual_keys.delete","policies.create","policies.read","policies.list","policies.update","policies.delete","logs.list","logs.view","providers.list"]}`, save: map[string]string{"team": "key", "id": "id"}},
	{does: "its raw value is not shown again", key: "admin", call: "GET /v1/api-keys/{id}?workspace_id={place}", values: map[string]string{"type": "workspace-service", "workspace_id": "{place}", "status": "active"}},
	{does: "it cannot make keys", key: "team", call: "POST /v1/api-keys/workspace/service", body: `{"name":"x","scopes":["completions.write"]}`, status: 403},

	{does: "store shared credentials", key: "admin", call: "POST /v1/integrations", body: `{"name":"Shared","slug":"shared","ai_provider_id":"openai","key":"sk-s3cr3t-shared","configurations":{"custom_host":"{upstream}/v1"}}`, values: map[string]string{"slug": "shared"}},
	{does: "their slug exists once", key: "admin", call: "POST /v1/integrations", body: `{"name":"Shared","slug":"shared","ai_provider_id":"openai","key":"sk-s3cr3t-shared"}`, status: 409, values: map[string]string{"data.errorCode": "AB07"}},
	{does: "nobody was let at them yet", key: "team", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o", 1), status: 400},
	{does: "let the team at them", key: "admin", call: "PUT /v1/integrations/shared/workspaces", body: `{"workspaces":[{"id":"{slug}","enabled":true}]}`},
	{does: "the team calls with them", key: "team", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o", 1), values: map[string]string{"choices.0.finish_reason": "stop"}},
	{does: "another workspace does not", key: "first", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o", 1), status: 400},
	{does: "allow one model", key: "admin", call: "PUT /v1/integrations/shared/models", body: `{"allow_all_models":false,"models":[{"slug":"gpt-4o-mini","enabled":true}]}`},
	{does: "another model is refused", key: "team", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o", 1), status: 412},
	{does: "the allowed one is listed", key: "team", call: "GET /v1/models", values: map[string]string{"data.0.id": "@shared/gpt-4o-mini", "data.#": "1"}},

	{does: "store own credentials", key: "team", call: "POST /v1/virtual-keys", body: `{"name":"Own","slug":"own","provider":"openai","key":"sk-s3cr3t-own"}`, values: map[string]string{"data.slug": "own"}},
	{does: "they are listed", key: "team", call: "GET /v1/virtual-keys", values: map[string]string{"total": "1"}},

	{does: "a config with an unknown field is refused", key: "team", call: "POST /v1/configs", body: `{"name":"Bad","config":{"provider":"@shared","retires":3}}`, status: 400, values: map[string]string{"data.errorCode": "AB01"}},
	{does: "save a config", key: "team", call: "POST /v1/configs", body: `{"name":"Main","config":{"provider":"@shared","override_params":{"temperature":0.25}}}`, save: map[string]string{"config": "slug"}},
	{does: "change it", key: "team", call: "PUT /v1/configs/{config}", body: `{"config":{"provider":"@shared","override_params":{"temperature":0.75}}}`},
	{does: "it has two versions", key: "team", call: "GET /v1/configs/{config}/versions", values: map[string]string{"total": "2"}},
	{does: "another workspace does not see it", key: "first", call: "GET /v1/configs/{config}", status: 404},

	{does: "limit the team", key: "team", call: "POST /v1/policies/rate-limits", body: `{"name":"All","conditions":[{"key":"api_key","value":"*"}],"group_by":[{"key":"api_key"}],"type":"requests","unit":"rpm","value":100}`, save: map[string]string{"policy": "id"}},
	{does: "raise the limit", key: "team", call: "PUT /v1/policies/rate-limits/{policy}", body: `{"value":200}`},
	{does: "read it", key: "team", call: "GET /v1/policies/rate-limits/{policy}", values: map[string]string{"value": "200", "unit": "rpm", "object": "policy_rate_limits"}},
	{does: "drop it", key: "team", call: "DELETE /v1/policies/rate-limits/{policy}"},
	{does: "it is archived", key: "team", call: "GET /v1/policies/rate-limits/{policy}?status=archived", values: map[string]string{"status": "archived"}},

	{does: "a transition that is too short", key: "admin", call: "POST /v1/api-keys/{id}/rotate?workspace_id={place}", body: `{"key_transition_period_ms":1000}`, status: 400},
	{does: "give the key another value", key: "admin", call: "POST /v1/api-keys/{id}/rotate?workspace_id={place}", save: map[string]string{"next": "key"}},
	{does: "the new one works", key: "next", call: "GET /v1/configs/{config}", values: map[string]string{"slug": "{config}"}},
	{does: "the old one still works", key: "team", call: "GET /v1/configs/{config}"},
	{does: "not twice at a time", key: "admin", call: "POST /v1/api-keys/{id}/rotate?workspace_id={place}", status: 409},
}

// end dissolves the team, after a restart.
var end = []step{
	{does: "everything is still there", key: "next", call: "GET /v1/configs/{config}", values: map[string]string{"slug": "{config}"}},
	{does: "and works", key: "next", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o-mini", 1)},
	{does: "the log has the calls", key: "next", call: "GET /v1/logs?provider=openai", values: map[string]string{"object": "list"}},
	{does: "take the shared credentials away", key: "admin", call: "DELETE /v1/integrations/shared"},
	{does: "nothing can be called with them", key: "next", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@shared/gpt-4o-mini", 1), status: 400},
	{does: "a workspace with something in it stays", key: "admin", call: "DELETE /v1/workspaces/{place}", body: `{"name":"Search"}`, status: 409},
	{does: "dissolve it with all that is in it", key: "admin", call: "DELETE /v1/workspaces/{place}", body: `{"name":"Search","force_delete":true}`},
	{does: "its keys are refused", key: "next", call: "GET /v1/configs/{config}", status: 401},
	{does: "there is one workspace again", key: "admin", call: "GET /v1/workspaces?status=active", values: map[string]string{"total": "1"}},
}

// The same script on every engine, and no secret in any of its answers nor in a
// file of the gateway.
func TestControlPlane(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		up := upstream.Start(t)
		g := start(t, storage)
		known := map[string]string{"admin": adminKey, "first": workspaceKey, "upstream": up.URL()}
		for _, s := range team {
			g.play(s, known)
		}
		for _, s := range up.Seen() {
			if s.Get("authorization") != "Bearer sk-s3cr3t-shared" {
				t.Errorf("the provider was called with %q", s.Get("authorization"))
			}
		}
		g.stop()
		again := g.again()
		for _, s := range end {
			again.play(s, known)
		}
		again.stop()
		for _, path := range files(t, g.dir) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"sk-s3cr3t", adminKey, known["team"], known["next"]} {
				if strings.Contains(string(b), secret) {
					t.Errorf("%s holds a secret in the clear", path)
				}
			}
		}
	})
}

// as are the headers of a caller: a person who is signed in, a key, or nobody.
func as(credential string) []string {
	switch {
	case credential == "":
		return []string{"x-gateway-api-key"}
	case identity.IsToken(credential):
		return []string{"x-gateway-api-key", "Authorization: Bearer " + credential}
	}
	return []string{"x-gateway-api-key: " + credential}
}

// play makes one call of the script and keeps what it is to keep.
func (g *gateway) play(s step, known map[string]string) {
	g.t.Helper()
	fill := func(text string) string {
		for name, value := range known {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
		return text
	}
	method, path, _ := strings.Cut(s.call, " ")
	a := g.call(method, fill(path), fill(s.body), as(known[s.key])...)
	if want := max(s.status, 200); a.Status != want {
		g.t.Fatalf("%s: %d, want %d: %s", s.does, a.Status, want, a.Body)
	}
	for path, want := range s.values {
		if got := a.get(path).String(); got != fill(want) {
			g.t.Errorf("%s: %s is %q, want %q: %s", s.does, path, got, fill(want), a.Body)
		}
	}
	if strings.Contains(a.Body, "s3cr3t") {
		g.t.Errorf("%s: the answer has a secret: %s", s.does, a.Body)
	}
	for name, path := range s.save {
		if known[name] = a.get(path).String(); known[name] == "" {
			g.t.Fatalf("%s: there is no %s: %s", s.does, path, a.Body)
		}
	}
	if a.Header.Get("x-gateway-request-id") == "" {
		g.t.Errorf("%s: the answer has no request id", s.does)
	}
}
