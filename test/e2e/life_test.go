package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// The scopes of a key that runs what its workspace holds, and nothing besides.
const runScopes = `"completions.write","prompts.render","logs.list"`

// founding is what an owner does on the first day: in comes everybody, with a session
// and a key of their own.
var founding = []step{
	{does: "a stranger does not get in", key: "admin", call: "POST /v1/auth/login", body: `{"email":"owner@localhost","password":"not-the-s3cr3t-password"}`, status: 401},
	{does: "the owner signs in", key: "admin", call: "POST /v1/auth/login", body: `{"email":"owner@localhost","password":"{made}"}`, save: map[string]string{"owner": "token"}},
	{does: "and is the owner", key: "owner", call: "GET /v1/auth/self", values: map[string]string{"user.email": "owner@localhost", "user.role": "owner"}},
	{does: "the organisation gets its name", key: "owner", call: "PUT /v1/organisations/self", body: `{"name":"Acme"}`},
	{does: "and has it", key: "admin", call: "GET /v1/organisations/self", values: map[string]string{"data.name": "Acme"}},

	{does: "a workspace for the search team", key: "owner", call: "POST /v1/workspaces", body: `{"name":"Search","slug":"search"}`, save: map[string]string{"search": "id"}},
	{does: "and one for research", key: "owner", call: "POST /v1/workspaces", body: `{"name":"Research","slug":"research"}`, save: map[string]string{"research": "id"}},
	{does: "its slug exists once", key: "owner", call: "POST /v1/workspaces", body: `{"name":"Search","slug":"search"}`, status: 409},

	{does: "a lead is invited", key: "owner", call: "POST /v1/admin/users/invites", body: `{"email":"lead@acme.example","role":"member","workspaces":[{"id":"search","role":"admin"}]}`, save: map[string]string{"leadLink": "invite_link", "leadInvite": "id"}},
	{does: "and a member", key: "owner", call: "POST /v1/admin/users/invites", body: `{"email":"dev@acme.example","role":"member","workspaces":[{"id":"search","role":"member"}]}`, save: map[string]string{"devLink": "invite_link"}},
	{does: "nobody is invited twice", key: "owner", call: "POST /v1/admin/users/invites", body: `{"email":"dev@acme.example","role":"member"}`, status: 409},
	{does: "the lead accepts by the link", call: "POST /v1/admin/users/invites/{leadLink}/accept", body: `{"first_name":"Lea","password":"{password}"}`},
	{does: "which works once", call: "POST /v1/admin/users/invites/{leadLink}/accept", body: `{"password":"{password}"}`, status: 404},
	{does: "the invitation is over", key: "owner", call: "GET /v1/admin/users/invites/{leadInvite}", values: map[string]string{"status": "accepted"}},
	{does: "the member accepts", call: "POST /v1/admin/users/invites/{devLink}/accept", body: `{"first_name":"Dev","password":"{password}"}`},
	{does: "the lead signs in", key: "admin", call: "POST /v1/auth/login", body: `{"email":"lead@acme.example","password":"{password}"}`, save: map[string]string{"lead": "token", "leadID": "user_id"}},
	{does: "the member too", key: "admin", call: "POST /v1/auth/login", body: `{"email":"dev@acme.example","password":"{password}"}`, save: map[string]string{"dev": "token", "devID": "user_id"}},
	{does: "both belong to the team", key: "lead", call: "GET /v1/workspaces/search/users", values: map[string]string{"total": "2"}},
	{does: "research is none of the lead's", key: "lead", call: "GET /v1/workspaces/research/users", status: 404},

	{does: "a service key for what runs", key: "lead", call: "POST /v1/api-keys/workspace/service", body: `{"name":"search service","workspace_id":"search","scopes":[` + runScopes + `]}`, save: map[string]string{"service": "key", "serviceID": "id"}},
	{does: "the member makes a key of their own", key: "dev", call: "POST /v1/api-keys/workspace/user", body: `{"name":"mine","workspace_id":"search","scopes":[` + runScopes + `]}`, save: map[string]string{"mine": "key", "mineID": "id"}},
	{does: "and none for the lead", key: "dev", call: "POST /v1/api-keys/workspace/user", body: `{"name":"yours","workspace_id":"search","user_id":"{leadID}","scopes":["completions.write"]}`, status: 403},
	{does: "the lead makes one on behalf of the member", key: "lead", call: "POST /v1/api-keys/workspace/user", body: `{"name":"for dev","workspace_id":"search","user_id":"{devID}","scopes":[` + runScopes + `]}`, save: map[string]string{"given": "key", "givenID": "id"}},
	{does: "it belongs to the member", key: "owner", call: "GET /v1/api-keys/{givenID}", values: map[string]string{"user_id": "{devID}", "workspace_id": "{search}"}},
}

// building is what the team makes and uses.
var building = []step{
	{does: "shared credentials", key: "owner", call: "POST /v1/integrations", body: `{"name":"Main","slug":"main","ai_provider_id":"openai","key":"sk-s3cr3t-main","configurations":{"custom_host":"{upstream}/v1"}}`},
	{does: "which are of no use ungranted", key: "service", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 400},
	{does: "granted to the team", key: "owner", call: "PUT /v1/integrations/main/workspaces", body: `{"workspaces":[{"id":"search","enabled":true}]}`},
	{does: "the team has a provider", key: "lead", call: "GET /v1/providers?workspace_id=search", values: map[string]string{"total": "1", "data.0.slug": "main"}},

	{does: "a config", key: "lead", call: "POST /v1/configs", body: `{"name":"Answers","workspace_id":"search","config":{"provider":"@main","override_params":{"temperature":0.25}}}`, save: map[string]string{"config": "slug"}},
	{does: "changed", key: "lead", call: "PUT /v1/configs/{config}", body: `{"workspace_id":"search","config":{"provider":"@main","override_params":{"temperature":0.5}}}`},
	{does: "it has its versions", key: "lead", call: "GET /v1/configs/{config}/versions?workspace_id=search", values: map[string]string{"total": "2"}},

	{does: "a collection", key: "lead", call: "POST /v1/collections", body: `{"name":"Support","workspace_id":"search"}`, save: map[string]string{"collection": "id"}},
	{does: "a partial", key: "lead", call: "POST /v1/prompts/partials", body: `{"name":"Tone","workspace_id":"search","string":"Answer in a {{mood}} voice."}`, save: map[string]string{"partial": "slug"}},
	{does: "a prompt that includes it", key: "lead", call: "POST /v1/prompts", body: `{"name":"Hello","collection_id":"{collection}","virtual_key":"main","model":"gpt-4o","parameters":{"temperature":0},"string":"[{\"role\":\"user\",\"content\":\"{{>{partial}}}\"}]"}`, save: map[string]string{"prompt": "slug", "promptID": "id"}},
	{does: "a second version", key: "lead", call: "PUT /v1/prompts/{prompt}", body: `{"workspace_id":"search","patch":true,"model":"gpt-5"}`, save: map[string]string{"second": "prompt_version_id"}},
	{does: "a label", key: "lead", call: "POST /v1/labels", body: `{"name":"beta","workspace_id":"search"}`, save: map[string]string{"label": "id"}},
	{does: "which the second version gets", key: "lead", call: "PUT /v1/prompts/{prompt}/versions/{second}?workspace_id=search", body: `{"label_id":"{label}"}`},

	{does: "a policy", key: "lead", call: "POST /v1/policies/rate-limits", body: `{"name":"All","workspace_id":"search","conditions":[{"key":"api_key","value":"*"}],"group_by":[{"key":"api_key"}],"type":"requests","unit":"rpm","value":1000}`, save: map[string]string{"policy": "id"}},
}

// traffic is what each key of the team may send. It works before and after a restart.
var traffic = []step{
	{does: "the service key calls", key: "service", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), values: map[string]string{"choices.0.finish_reason": "stop"}},
	{does: "the member's own", key: "mine", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1)},
	{does: "the one that was made for the member", key: "given", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1)},
	{does: "the prompt as it is published", key: "service", call: "POST /v1/prompts/{prompt}/completions", body: `{"variables":{"mood":"calm"}}`, values: map[string]string{"choices.0.message.content": calm("gpt-4o")}},
	{does: "and as it is labelled", key: "mine", call: "POST /v1/prompts/{prompt}@beta/completions", body: `{"variables":{"mood":"calm"}}`, values: map[string]string{"choices.0.message.content": calm("gpt-5")}},
	{does: "the Admin key sends no traffic", key: "admin", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 403},
	{does: "another workspace has none of it", key: "first", call: "POST /v1/prompts/{prompt}/completions", body: `{"variables":{"mood":"calm"}}`, status: 404},
}

// calm is what the upstream answers to the prompt.
func calm(model string) string {
	return `You said: "Answer in a calm voice.". I got 1 message for model ` + model + ` at temperature 0.`
}

// leaving takes things away, after a restart.
var leaving = []step{
	{does: "the sessions outlived the restart", key: "lead", call: "GET /v1/auth/self", values: map[string]string{"user.email": "lead@acme.example"}},
	{does: "the config is as it was", key: "lead", call: "GET /v1/configs/{config}?workspace_id=search", values: map[string]string{"slug": "{config}"}},
	{does: "the policy too", key: "lead", call: "GET /v1/policies/rate-limits/{policy}?workspace_id=search", values: map[string]string{"value": "1000"}},
	{does: "the service key gets another value", key: "lead", call: "POST /v1/api-keys/{serviceID}/rotate", save: map[string]string{"next": "key"}},
	{does: "the new one works", key: "next", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1)},
	{does: "and the old one during the transition", key: "service", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1)},
	{does: "the member's key is revoked", key: "lead", call: "DELETE /v1/api-keys/{mineID}"},
	{does: "and refused", key: "mine", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 401},
	{does: "the member leaves the team", key: "lead", call: "DELETE /v1/workspaces/search/users/{devID}"},
	{does: "with the key that was given", key: "given", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 401},
	{does: "the member signs out", key: "dev", call: "POST /v1/auth/logout"},
	{does: "for good", key: "dev", call: "GET /v1/auth/self", status: 401},
	{does: "a workspace with something in it stays", key: "owner", call: "DELETE /v1/workspaces/search", body: `{"name":"Search"}`, status: 409},
	{does: "and goes with all of it", key: "owner", call: "DELETE /v1/workspaces/search", body: `{"name":"Search","force_delete":true}`},
	{does: "its keys stop: the new value", key: "next", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 401},
	{does: "and the old one", key: "service", call: "POST /v1/chat/completions", body: strings.Replace(chatBody, "{model}", "@main/gpt-4o", 1), status: 401},
	{does: "the lead has no team any more", key: "lead", call: "GET /v1/configs?workspace_id=search", status: 403},
}

// An organisation from its first day to the end of a team, over HTTP alone, on every
// engine: nothing is lost in a restart, and the audit trail of it all verifies.
func TestLifeOfAnOrganisation(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		up := upstream.Start(t)
		g := start(t, storage)
		known := map[string]string{"admin": adminKey, "first": workspaceKey, "upstream": up.URL(), "password": "a-long-s3cr3t-password"}
		known["made"] = g.setPassword("owner@localhost")
		g.life(known, founding, building, traffic)
		g.stop()
		g = g.again()
		g.life(known, traffic, leaving)
		for _, s := range up.Seen() {
			if s.Get("authorization") != "Bearer sk-s3cr3t-main" {
				t.Errorf("the provider was called with %q", s.Get("authorization"))
			}
		}
		g.verifyTrail()
		g.stop()
	})
}

var linkToken = regexp.MustCompile(`#token=([^&]+)$`)

// life plays parts of a life. Of a link that was kept only the token counts.
func (g *gateway) life(known map[string]string, parts ...[]step) {
	g.t.Helper()
	for _, part := range parts {
		for _, s := range part {
			g.play(s, known)
			for name := range s.save {
				if m := linkToken.FindStringSubmatch(known[name]); m != nil {
					known[name] = m[1]
				}
			}
		}
	}
}

// setPassword has a password made for a user, as an operator does beside the running
// gateway.
func (g *gateway) setPassword(user string) string {
	g.t.Helper()
	got := cli(g.t, g.plan.env, "users", "set-password", user, "--data-dir", g.dir)
	if got.code != 0 {
		g.t.Fatalf("set a password: %+v", got)
	}
	return strings.TrimSpace(got.out)
}

// verifyTrail exports the audit trail and verifies it away from the gateway: there is a
// row of every write, also of those that were refused.
func (g *gateway) verifyTrail() {
	g.t.Helper()
	admin := "x-gateway-api-key: " + adminKey
	file := filepath.Join(g.t.TempDir(), "trail.jsonl")
	trail := g.call("GET", "/v1/audit-logs/export", "", admin).want(g.t, 200).Body
	write(g.t, file, trail)
	key := g.call("GET", "/v1/audit-logs/public-key", "", admin).want(g.t, 200).get("public_key").String()
	verifies(g.t, file, key, "rows 1 to")
	for _, want := range []string{"users/invites", "/rotate", "/v1/workspaces/search", "/v1/prompts/partials", "/v1/integrations/main/workspaces"} {
		if !strings.Contains(trail, want) {
			g.t.Errorf("the trail has no row of %s", want)
		}
	}
	if strings.Contains(trail, "s3cr3t") {
		g.t.Error("the trail holds a secret")
	}
	if err := os.Remove(file); err != nil {
		g.t.Error(err)
	}
}
