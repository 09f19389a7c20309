package control_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/storage/sqlstore/storetest"
)

// TestTrailHasNoSecretInAMistypedField: the value of a field that the schema does not know
// is masked at every depth, whether the call is refused or not, and so is that of a query
// parameter.
func TestTrailHasNoSecretInAMistypedField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, call := range []string{
		`POST /v1/integrations {"name":"A","ai_provider_id":"openai","key":"S","configurations":{"vault_tokn":"S","deep":{"kee":["S",{"x":"S"}]}}}`,
		`POST /v1/integrations {"name":"B","ai_provider_id":"openai","pasword":"S","kee":"S","Key":"S","clientSecrt":{"value":"S"}}`,
		`POST /v1/integrations?tokn=S&apikee=S {"name":"C","ai_provider_id":"openai","key":"S","secret_mappings":[{"target_field":"key","secrt":"S"}]}`,
		`POST /v1/integrations {"name":"C2","ai_provider_id":"openai","key":"S","configurations":"vault_tokn=S"}`,
		`POST /v1/integrations {"name":{"pasword":"S"},"ai_provider_id":"openai","key":"S"}`,
		`POST /v1/secret-references {"name":"D","manager_type":"hashicorp_vault","secret_path":"p","auth_config":{"vault_auth_type":"token","vault_tokn":"S"}}`,
		`POST /v1/configs {"workspace_id":"ws-main","name":"E","config":{"provider":"openai","api_kee":"S","targets":[{"tokn":"S"}]}}`,
		`POST /v1/configs {"workspace_id":"ws-main","name":"F","config":"{\"provider\":\"openai\",\"api_kee\":\"S\"}"}`,
		`POST /v1/guardrails {"workspace_id":"ws-main","name":"G","actions":{"secrt":"S"},"checks":[{"id":"default.webhook","parameters":{"webhookURL":"https://u:S@hook.example/x?session=S&sas=S&bearer=S","tokn":"S"}}]}`,
		`POST /v1/mcp-integrations {"workspace_id":"ws-main","name":"H","url":"http://tools.upstream.example/mcp","auth_type":"none","transport":"http","configurations":{"clientsecrt":"S","oauth_metadata":{"client_secrt":"S"}}}`,
		`POST /v1/deployments {"name":"I","auth_settings":{"gateway_base_url":"https://gw.example.com/v1","tokn":"S"},"deployment_config":{"DB_PWRD":"S"}}`,
		`PUT /v1/organisations/self {"pasword":"S","settings":{"tokn":"S"}}`,
		`POST /v1/prompts {"workspace_id":"ws-main","name":"J","string":"x","parameters":{"tokn":"S"},"tools":[{"type":"mcp","authorizaton":"S","headers":{"x":"S"}}],"virtual_key":"","model":"m"}`, //nolint:misspell // the mistake of a caller
		`POST /v1/virtual-keys {"workspace_id":"ws-main","name":"K","provider":"groq","kee":"S","deploymentConfig":{"apiKee":"S"}}`,
	} {
		route, body, _ := strings.Cut(strings.ReplaceAll(call, "S\"", "s3cr3t-value\""), " {")
		method, path, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(route, "=S", "=s3cr3t-value"), ":S@", ":s3cr3t-value@"), " ")
		body = strings.NewReplacer(":S@", ":s3cr3t-value@", "=S&", "=s3cr3t-value&", "=S\"", "=s3cr3t-value\"", `S\"`, `s3cr3t-value\"`).Replace("{" + body)
		w.raw(t, "admin", method, path, body)
	}
	if trail := string(w.trail(t)); strings.Contains(trail, "s3cr3t-value") || !strings.Contains(trail, "vault_tokn") {
		for line := range strings.Lines(trail) {
			if strings.Contains(line, "s3cr3t-value") {
				t.Error(line)
			}
		}
	}
}

// TestTrailHasNoSecretAsAName: a key in the place of a name, of a field at any depth, of a tag
// or of a parameter, and in the path, is masked, whether the call is refused or not.
func TestTrailHasNoSecretAsAName(t *testing.T) {
	t.Parallel()
	const key = "sk-live-0123456789abcdef"
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, call := range []string{
		`POST /v1/integrations {"name":"A","ai_provider_id":"openai","key":"k","S":1,"configurations":{"S":"x","deep":[{"S":1}]}}`,
		`POST /v1/configs {"workspace_id":"ws-main","name":"B","config":"{\"provider\":\"openai\",\"S\":1}"}`,
		`POST /v1/configs {"workspace_id":"ws-main","name":"C","config":{"provider":"openai","metadata":{"S":"x"},"override_params":{"S":1}}}`,
		`POST /v1/prompts {"workspace_id":"ws-main","name":"D","string":"x","parameters":{"S":"x"},"virtual_key":"","model":"m"}`,
		`POST /v1/api-keys/organisation/service {"name":"E","scopes":["configs.read"],"S":1,"defaults":{"metadata":{"S":"x"}}}`,
		`PUT /v1/api-keys/S?S=1 {"name":"F"}`,
		`DELETE /v1/configs/S {}`,
	} {
		for _, strict := range []string{"false", "true"} {
			method, rest, _ := strings.Cut(strings.ReplaceAll(call, "S?", key+"?"), " ")
			path, body, _ := strings.Cut(rest, " ")
			path = strings.ReplaceAll(strings.ReplaceAll(path, "/S", "/"+key), "?S", "?"+key)
			w.raw(t, "admin", method, path, strings.NewReplacer(`"S"`, `"`+key+`"`, `S\"`, key+`\"`).Replace(body), "x-gateway-strict", strict)
		}
	}
	trail := string(w.trail(t))
	for line := range strings.Lines(trail) {
		if strings.Contains(line, key[:12]) {
			t.Error(line)
		}
	}
	if !strings.Contains(trail, `"***":`) || !strings.Contains(trail, "/v1/api-keys/***") {
		t.Errorf("the trail lacks the calls: %s", trail)
	}
}

// TestTrailHasNoSecretInAnyUnknownField sends each operation with a body an unknown field.
func TestTrailHasNoSecretInAnyUnknownField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for path, item := range w.describe.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			for open := strings.IndexByte(path, '{'); open >= 0; open = strings.IndexByte(path, '{') {
				path = path[:open] + "x" + path[open+strings.IndexByte(path[open:], '}')+1:]
			}
			w.raw(t, "admin", method, "/v1"+path+"?tokn=s3cr3t-value", fmt.Sprintf(`{"tokn":"s3cr3t-value","sekret":{"a":["s3cr3t-value"]}%s}`, nested(op)))
		}
	}
	for line := range strings.Lines(string(w.trail(t))) {
		if strings.Contains(line, "s3cr3t-value") {
			t.Error(line)
		}
	}
}

// nested are the fields of a body that are objects, each with an unknown member.
func nested(op *openapi3.Operation) string {
	var b strings.Builder
	content := op.RequestBody.Value.Content.Get("application/json")
	if content == nil {
		return ""
	}
	for name, field := range content.Schema.Value.Properties {
		if rest := field.Value.AdditionalProperties.Schema; rest != nil && rest.Value.Type.Is("string") {
			continue // users choose the names
		}
		fmt.Fprintf(&b, `,%q:{"unknwn":"s3cr3t-value","list":[{"unknwn":"s3cr3t-value"}]}`, name)
	}
	return b.String()
}
