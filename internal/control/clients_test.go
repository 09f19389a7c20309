package control_test

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/record"
	"sluice/internal/storage/sqlstore/storetest"
)

// client is what a library of this interface does: calls with an Admin key.
type client struct {
	*world
	t *testing.T
}

func newClient(t *testing.T) client {
	t.Parallel()
	return client{newWorld(t, storetest.Open(t, storetest.SQLite(t))), t}
}

// ok makes a call that must succeed and returns its answer.
func (c client) ok(method, path, body string) gjson.Result {
	c.t.Helper()
	rec := c.call(method, path, body)
	if rec.Code != 200 {
		c.t.Fatalf("%s %s %s: %d %s", method, path, body, rec.Code, rec.Body)
	}
	return gjson.Parse(rec.Body.String())
}

// refused makes a call that must fail, at a field.
func (c client) refused(status int, field, method, path, body string) {
	c.t.Helper()
	rec := c.call(method, path, body)
	if got := gjson.Get(rec.Body.String(), "data.errors.0.path").String(); rec.Code != status || field != "" && got != field {
		c.t.Errorf("%s %s %s: %d %s, want %d at %s", method, path, body, rec.Code, rec.Body, status, field)
	}
}

func (c client) call(method, path, body string) *httptest.ResponseRecorder {
	c.t.Helper()
	return c.raw(c.t, "admin", method, "/v1"+path, body)
}

// is compares members of an answer, as JSON.
func (c client) is(got gjson.Result, want map[string]string) {
	c.t.Helper()
	for path, raw := range want {
		if v := got.Get(path).Raw; v != raw {
			c.t.Errorf("%s: %s, want %s in %s", path, v, raw, got.Raw)
		}
	}
}

const keyBody = `{"name":"k","workspace_id":"ws-main","scopes":["completions.write"]`

func TestAdminKeysKeepLimitsAndDefaults(t *testing.T) {
	c := newClient(t)
	config := c.ok("POST", "/configs", `{"name":"C","workspace_id":"ws-main","config":{"retry":{"attempts":1}}}`)
	made := c.ok("POST", "/api-keys/organisation/service", `{"name":"a","scopes":["workspaces.list"],
		"rate_limits":[{"type":"requests","unit":"rpm","value":10}],"defaults":{"metadata":{"team":"x"},"config_id":"`+config.Get("slug").String()+`"}}`)
	c.is(c.ok("GET", "/api-keys/"+made.Get("id").String(), ""), map[string]string{
		"rate_limits": `[{"type":"requests","unit":"rpm","value":10}]`, "defaults.metadata.team": `"x"`, "defaults.config_id": config.Get("slug").Raw,
	})
	c.refused(404, "defaults.config_id", "POST", "/api-keys/organisation/service", `{"name":"a","scopes":["workspaces.list"],"defaults":{"config_id":"pc-none"}}`)
}

func TestUsageLimitsComeBackAsTheyWereSent(t *testing.T) {
	c := newClient(t)
	for sent, shown := range map[string]string{`{"credit_limit":10}`: "", `{"type":"cost","credit_limit":10}`: `"cost"`, `{"type":"tokens","credit_limit":1000}`: `"tokens"`} {
		id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":`+sent+`}`).Get("id").String()
		if got := c.ok("GET", "/api-keys/"+id, "").Get("usage_limits.type").Raw; got != shown {
			t.Errorf("%s shows type %s", sent, got)
		}
	}
	ws := c.ok("POST", "/admin/workspaces", `{"name":"W","usage_limits":[{"credit_limit":10,"periodic_reset":"monthly"}]}`)
	if ws.Get("usage_limits.0.type").Exists() {
		t.Errorf("a workspace shows a type that was not sent: %s", ws.Raw)
	}
	for field, body := range map[string]string{
		"usage_limits.credit_limit":    `{"type":"tokens","credit_limit":1000.5}`,
		"usage_limits.alert_threshold": `{"type":"tokens","credit_limit":1000,"alert_threshold":10.5}`,
	} {
		c.refused(400, field, "POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":`+body+`}`)
	}
	c.refused(400, "credit_limit", "POST", "/policies/usage-limits", `{"workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],"type":"tokens","credit_limit":1000.5}`)
}

func TestTheNextResetMovesWithThePeriodAlone(t *testing.T) {
	c := newClient(t)
	limits := `"usage_limits":{"credit_limit":10,"periodic_reset_days":10,"next_usage_reset_at":"2026-11-25T00:00:00Z"}`
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,`+limits+`}`).Get("id").String()
	next := func() string {
		return c.ok("GET", "/api-keys/"+id, "").Get("usage_limits.next_usage_reset_at").String()
	}
	first := next()
	for _, body := range []string{`{"name":"b"}`, `{` + limits + `}`, `{"usage_limits":{"credit_limit":20,"periodic_reset_days":10}}`, `{"reset_usage":true}`, `{` + limits + `}`} {
		if c.ok("PUT", "/api-keys/"+id, body); next() != first {
			t.Errorf("%s moves the next reset from %s to %s", body, first, next())
		}
	}
	c.clock.wait(t, "240h") // the date that was asked for is over
	c.ok("PUT", "/api-keys/"+id, `{`+limits+`}`)
	if c.ok("PUT", "/api-keys/"+id, `{"usage_limits":{"credit_limit":20,"periodic_reset":"weekly"}}`); next() == first {
		t.Error("another period leaves the next reset where it was")
	}
	c.refused(400, "usage_limits.next_usage_reset_at", "PUT", "/api-keys/"+id, `{"usage_limits":{"credit_limit":20,"next_usage_reset_at":"2026-11-01T00:00:00Z"}}`)
}

func TestGuardrailsComeBackAsTheyWereSent(t *testing.T) {
	c := newClient(t)
	for _, sent := range []string{
		`"checks":[{"id":"default.wordCount","parameters":{"minWords":1,"maxWords":5}}],"actions":{"onFail":"block","message":"no"}`,
		`"checks":[{"id":"default.wordCount","is_enabled":false,"parameters":{"maxWords":5}}],"actions":{"deny":true,"async":false}`,
	} {
		made := c.ok("POST", "/guardrails", `{"name":"G","workspace_id":"ws-main",`+sent+`}`)
		got, want := c.ok("GET", "/guardrails/"+made.Get("id").String(), ""), gjson.Parse("{"+sent+"}")
		c.is(got, map[string]string{"actions": want.Get("actions").Raw, "checks": want.Get("checks").Raw})
		c.is(c.ok("PUT", "/guardrails/"+made.Get("id").String(), `{"actions":{"deny":false}}`), map[string]string{"actions": `{"deny":false}`, "checks": want.Get("checks").Raw, "name": `"G"`})
	}
}

func TestOneListForAllWorkspaces(t *testing.T) {
	c := newClient(t)
	for _, ws := range []string{"ws-main", "ws-two"} {
		c.ok("POST", "/collections", `{"name":"of `+ws+`","workspace_id":"`+ws+`"}`)
		c.ok("POST", "/virtual-keys", `{"name":"of `+ws+`","provider":"openai","key":"s3cr3t-x","workspace_id":"`+ws+`"}`)
		c.ok("POST", "/integrations", `{"name":"of `+ws+`","ai_provider_id":"openai","key":"s3cr3t-x","workspace_id":"`+ws+`"}`)
	}
	for path, want := range map[string]int{"/collections?search=of": 2, "/virtual-keys": 2, "/providers": 2, "/integrations?search=of": 2} {
		list := c.ok("GET", path, "")
		workspaces := map[string]bool{}
		for _, one := range list.Get("data").Array() {
			workspaces[one.Get("workspace_id").String()] = true
		}
		if list.Get("total").Int() != int64(want) || len(workspaces) != 2 {
			t.Errorf("%s: %s", path, list.Raw)
		}
	}
	types := map[string]bool{}
	for _, k := range c.ok("GET", "/api-keys", "").Get("data").Array() {
		types[k.Get("type").String()] = true
	}
	if len(types) != 3 {
		t.Errorf("the list of all keys has the types %v", types)
	}
	for kind, want := range map[string][]string{"user": {"workspace-user"}, "service": {"organisation-service", "workspace-service"}} {
		for _, k := range c.ok("GET", "/api-keys?type="+kind, "").Get("data").Array() {
			if !slices.Contains(want, k.Get("type").String()) {
				t.Errorf("%s keys have %s", kind, k.Raw)
			}
		}
	}
}

func TestModelsOfAnIntegration(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/integrations", `{"name":"I","slug":"in","ai_provider_id":"openai","key":"s3cr3t-x","is_key_required":1}`)
	c.is(c.ok("GET", "/integrations/in", ""), map[string]string{"is_key_required": "true"})
	c.ok("PUT", "/integrations/in/models", `{"models":[{"slug":"gpt-4o","enabled":false},{"slug":"own","enabled":true,"is_custom":true},{"slug":"own2","enabled":true,"is_custom":true}],"allow_all_models":true}`)
	state := func(slug string) string {
		return c.ok("GET", "/integrations/in/models", "").Get(`models.#(slug=="` + slug + `").enabled`).Raw
	}
	for slug, want := range map[string]string{"gpt-4o": "false", "own": "true", "gpt-4o-mini": "true", "default": ""} {
		if got := state(slug); got != want {
			t.Errorf("%s: enabled %s, want %s", slug, got, want)
		}
	}
	c.ok("PUT", "/integrations/in/models", `{"models":[],"allow_all_models":false}`)
	if got := state("gpt-4o-mini"); got != "false" {
		t.Errorf("a model outside the list: enabled %s", got)
	}
	c.ok("DELETE", "/integrations/in/models", `{"models":["own"]}`)
	c.ok("DELETE", "/integrations/in/models", `{"slugs":["own2"]}`)
	if got := state("own") + state("own2"); got != "" {
		t.Errorf("deleted models are still there: %s", got)
	}
	c.refused(400, "slugs", "DELETE", "/integrations/in/models", "")
	c.refused(404, "", "DELETE", "/integrations/in/models", `{"models":["gpt-4o"]}`)
	c.ok("POST", "/integrations", `{"name":"V","slug":"ver","ai_provider_id":"vertex-ai","key":"s3cr3t-x","configurations":{"vertexRegion":"eu","vertex_project_id":"p","vertex_auth_type":"basic","vertex_map_metadata":"true"}}`)
	c.is(c.ok("GET", "/integrations/ver", ""), map[string]string{"configurations.vertex_region": `"eu"`, "configurations.vertex_map_metadata": `"true"`})
}

func TestModelsHaveConfigurationsOfTheirOwn(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/integrations", `{"name":"I","slug":"keyless","ai_provider_id":"ollama","configurations":{"custom_host":"https://one.example.com"}}`)
	put := func(slug, configurations string) string {
		return `{"models":[{"slug":"` + slug + `","enabled":true,"is_custom":true,"configurations":` + configurations + `}]}`
	}
	c.ok("PUT", "/integrations/keyless/models", put("m", `{"custom_host":"https://two.example.com","custom_headers":{"x-team":"s3cr3t-header"}}`))
	c.ok("PUT", "/integrations/keyless/models", `{"models":[{"slug":"m","enabled":true}]}`)
	got := c.ok("GET", "/integrations/keyless/models?listed=true", "")
	c.is(got, map[string]string{"models.0.configurations.custom_host": `"https://two.example.com"`, "models.0.configurations.custom_headers": ""})
	if strings.Contains(got.Raw, "s3cr3t-header") || !got.Get("models.0.configurations.masked_custom_headers").Exists() {
		t.Errorf("headers: %s", got.Raw)
	}
	c.ok("PUT", "/integrations/keyless/models", put("m", "null"))
	c.is(c.ok("GET", "/integrations/keyless/models?listed=true", ""), map[string]string{"models.0.configurations": ""})
	c.refused(400, "models[0].configurations", "PUT", "/integrations/keyless/models", put("m", "{}"))
	c.refused(400, "models[0].configurations.custom_host", "PUT", "/integrations/keyless/models", put("m", `{"custom_host":"http://127.0.0.1:1"}`))
	c.ok("POST", "/integrations", `{"name":"I","slug":"keyed","ai_provider_id":"openai","key":"s3cr3t-x"}`)
	c.refused(400, "models[0].configurations.custom_host", "PUT", "/integrations/keyed/models", put("m", `{"custom_host":"https://evil.example.com/v1"}`))
	c.refused(400, "models[0].configurations.custom_host", "PUT", "/integrations/keyed/models", put("m", `{"custom_host":"https://llm.corp:8443/v1"}`))
	c.ok("PUT", "/integrations/keyed/models", put("m", `{"custom_host":"https://llm.corp/v1"}`)) // listed with this port
	c.ok("PUT", "/integrations/keyed/models", put("m", `{"custom_host":"https://API.openai.com/v1"}`))
	c.ok("PUT", "/integrations/keyed/models", put("m", `{"custom_host":"https://api.openai.com/v1","custom_headers":{"x-team":"a"}}`))
}

func TestTwinsOfFieldsOfProviders(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/virtual-keys", `{"name":"V","slug":"az","provider":"azure-openai","key":"s3cr3t-x","workspace_id":"ws-main","api_version":"2024-10-21","resource_name":"res","deployment_name":"dep"}`)
	c.is(c.ok("GET", "/virtual-keys/az?workspace_id=ws-main", ""), map[string]string{"model_config.azure_api_version": `"2024-10-21"`, "model_config.azure_resource_name": `"res"`, "model_config.azure_deployment_id": `"dep"`})
	made := c.ok("POST", "/configs", `{"name":"C","workspace_id":"ws-main","config":{"retry":{"attempts":1}},"is_default":true}`)
	c.is(made, map[string]string{"success": "true", "data.slug": made.Get("slug").Raw, "data.version_id": made.Get("version_id").Raw})
	c.is(c.ok("GET", "/configs/"+made.Get("slug").String(), ""), map[string]string{"is_default": "1"})
	c.is(c.ok("PUT", "/configs/"+made.Get("slug").String(), `{"isDefault":0,"slug":"`+made.Get("slug").String()+`"}`), map[string]string{"is_default": "0", "name": `"C"`})
}

func TestTwinsOfDeploymentsAtAzure(t *testing.T) {
	c := newClient(t)
	const entries = `[{"azure_api_version":"2024-10-21","azure_deployment_name":"d","azure_model_slug":"gpt-4o","is_default":true}]`
	for i, sent := range []string{
		`"azureDeploymentConfig":[{"azureApiVersion":"2024-10-21","azureDeploymentName":"d","azureModelSlug":"gpt-4o","isDefault":true}]`,
		`"azure_deployment_config":[{"api_version":"2024-10-21","deployment_name":"d","model_slug":"gpt-4o","is_default":true}]`,
		`"deployment_config":[{"apiVersion":"2024-10-21","deploymentName":"d","modelSlug":"gpt-4o","isDefault":true}]`,
		`"deploymentConfig":` + entries,
	} {
		path := "/integrations/az" + strconv.Itoa(i)
		c.ok("POST", "/integrations", `{"name":"A","slug":"`+path[14:]+`","ai_provider_id":"azure-openai","key":"s3cr3t-x","configurations":{"azureAuthMode":"default","resourceName":"res",`+sent+`}}`)
		c.is(c.ok("GET", path, ""), map[string]string{"configurations.azure_deployment_config": entries, "configurations.azure_resource_name": `"res"`})
	}
	for _, name := range []string{"deployment_name", "deploymentName", "azureDeploymentName", "azure_deployment_id", "deploymentId"} {
		c.ok("PUT", "/integrations/az0", `{"configurations":{"azureResourceName":"res","azureApiVersion":"2024-10-21","`+name+`":"dep"}}`)
		c.is(c.ok("GET", "/integrations/az0", ""), map[string]string{"configurations.azure_deployment_id": `"dep"`, "configurations.azure_deployment_config": ""})
	}
	const vk = `{"name":"V","slug":"vk","provider":"azure-openai","key":"s3cr3t-x","workspace_id":"ws-main","resource_name":"res","deployment_config":[{"api_version":"2024-10-21","deployment_name":"d","isDefault":1}]}`
	c.ok("POST", "/virtual-keys", vk)
	c.is(c.ok("GET", "/virtual-keys/vk?workspace_id=ws-main", ""), map[string]string{"model_config.azure_deployment_config": `[{"azure_api_version":"2024-10-21","azure_deployment_name":"d","is_default":true}]`})
}

// Fields within objects and lists have twins too.
func TestTwinsAtEveryDepth(t *testing.T) {
	c := newClient(t)
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usageLimits":{"creditLimit":10,"alertThreshold":5,"periodicReset":"weekly"},"rotationPolicy":{"rotationPeriod":"weekly"},"defaults":{"allowConfigOverride":false}}`).Get("id").String()
	c.is(c.ok("GET", "/api-keys/"+id, ""), map[string]string{
		"usage_limits.credit_limit": "10", "usage_limits.alert_threshold": "5", "usage_limits.periodic_reset": `"weekly"`, "rotation_policy.rotation_period": `"weekly"`,
	})
	ws := c.ok("POST", "/admin/workspaces", `{"name":"W","usage_limits":[{"creditLimit":10}]}`).Get("id").String()
	c.is(c.ok("GET", "/admin/workspaces/"+ws, ""), map[string]string{"usage_limits.0.credit_limit": "10"})
	c.refused(400, "usage_limits[0].creditLimit", "PUT", "/admin/workspaces/"+ws, `{"usage_limits":[{"creditLimit":10,"credit_limit":20}]}`)
}

// Null within an object counts as not sent where it cannot be null.
func TestNullWithinObjects(t *testing.T) {
	c := newClient(t)
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":{"type":null,"credit_limit":10,"mode":null},"defaults":{"metadata":null}}`).Get("id").String()
	c.is(c.ok("GET", "/api-keys/"+id, ""), map[string]string{"usage_limits.credit_limit": "10", "usage_limits.mode": `"strict"`})
	c.refused(400, "usage_limits.credit_limit", "PUT", "/api-keys/"+id, `{"usage_limits":{"credit_limit":null}}`)
	c.ok("POST", "/virtual-keys", `{"name":"V","slug":"az","provider":"azure-openai","key":"s3cr3t-x","workspace_id":"ws-main","resourceName":"res","deploymentName":"dep","apiVersion":"2024-10-21"}`)
	c.is(c.ok("PUT", "/virtual-keys/az?workspace_id=ws-main", `{"workspace_id":"ws-main","key":null,"resourceName":null,"awsRegion":null}`), map[string]string{"model_config.azure_resource_name": `"res"`, "masked_api_key": `"*****"`})
	c.ok("POST", "/integrations", `{"name":"I","slug":"in","ai_provider_id":"openai","key":"s3cr3t-x","configurations":{"openai_project":"p","openai_organization":null}}`)
	c.is(c.ok("PUT", "/integrations/in", `{"configurations":{"openai_project":null}}`), map[string]string{"configurations.openai_project": "", "masked_key": `"*****"`})
}

func TestNullClearsWhereTheContractSaysSo(t *testing.T) {
	c := newClient(t)
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"description":"d","alert_emails":["a@acme.example"],"rotation_policy":{"rotation_period":"weekly"},
		"usage_limits":{"credit_limit":10,"alert_threshold":5},"rate_limits":[{"type":"requests","unit":"rpm","value":10}]}`).Get("id").String()
	c.is(c.ok("PUT", "/api-keys/"+id, `{"name":null,"scopes":null,"usage_limits":{"credit_limit":10,"alert_threshold":null}}`), map[string]string{"name": `"k"`, "usage_limits.alert_threshold": "null", "scopes.0": `"completions.write"`})
	c.is(c.ok("PUT", "/api-keys/"+id, `{"description":null,"alert_emails":null,"rotation_policy":null,"usage_limits":null,"rate_limits":null}`), map[string]string{
		"description": "null", "alert_emails": "null", "rotation_policy": "null", "usage_limits": "null", "rate_limits": "[]",
	})
	c.ok("POST", "/integrations", `{"name":"I","slug":"in","ai_provider_id":"openai","key":"s3cr3t-x","tags":{"a":"b"},"description":"d","workspace_id":"ws-main"}`)
	c.is(c.ok("PUT", "/integrations/in?workspace_id=ws-main", `{"tags":null,"description":null,"configurations":null,"name":null}`), map[string]string{"tags": "{}", "description": "null", "name": `"I"`})
	p := c.ok("POST", "/policies/usage-limits", `{"name":"P","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],"type":"cost","credit_limit":10,"alert_threshold":5,"periodic_reset":"weekly"}`).Get("id").String()
	c.is(c.ok("PUT", "/policies/usage-limits/"+p, `{"alert_threshold":null,"periodic_reset":null,"conditions":null,"credit_limit":null}`), map[string]string{"alert_threshold": "null", "periodic_reset": "null", "credit_limit": "10"})
	ws := c.ok("POST", "/admin/workspaces", `{"name":"W","usage_limits":null,"rate_limits":null,"defaults":null}`).Get("id").String()
	c.ok("PUT", "/admin/workspaces/"+ws, `{"usage_limits":null,"rate_limits":null,"name":null,"description":null,"icon":null}`)
}

func TestInvitesListWorkspacesWithID(t *testing.T) {
	c := newClient(t)
	made := c.ok("POST", "/admin/users/invites", `{"email":"eve@acme.example","role":"member","workspaces":[{"id":"ws-main","role":"member"}]}`)
	c.is(made, map[string]string{"email": `"eve@acme.example"`, "role": `"member"`, "status": `"pending"`, "workspaces.0.id": `"` + c.names.values["main"] + `"`})
	if made.Get("invite_link").String() == "" {
		t.Error("no link")
	}
	c.is(c.ok("GET", "/admin/users/invites?search=EVE", ""), map[string]string{"total": "1", "data.0.workspaces.0.id": `"` + c.names.values["main"] + `"`})
	c.is(c.ok("GET", "/admin/users/invites?search=bob", ""), map[string]string{"total": "0"})
}

func TestHeadersWithoutHeadersAreAccepted(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/mcp-integrations", `{"name":"M","url":"https://mcp.example.com/mcp","auth_type":"headers","transport":"http"}`)
}

func TestGraphsHaveNamesWithDashes(t *testing.T) {
	c := newClient(t)
	day := "?" + span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z").Encode()
	for _, name := range []string{
		"users/requests", "errors/rate", "errors/stacks", "errors/status-codes", "requests/rescued", "cache/hit-rate", "cache/latency", "feedbacks/scores", "feedbacks/weighted", "feedbacks/ai-models",
	} {
		alias := strings.ReplaceAll(name, "/", "-")
		if one, other := c.ok("GET", "/analytics/graphs/"+name+day, ""), c.ok("GET", "/analytics/graphs/"+alias+day, ""); one.Raw != other.Raw {
			t.Errorf("%s: %s, %s: %s", name, one.Raw, alias, other.Raw)
		}
	}
}

func TestCreationsAndUpdatesOfUsersAnswerTheRecord(t *testing.T) {
	c := newClient(t)
	vk := c.ok("POST", "/virtual-keys", `{"name":"V","slug":"vk","provider":"openai","key":"s3cr3t-x","workspace_id":"ws-main"}`)
	c.is(vk, map[string]string{"success": "true", "data.slug": `"vk"`, "slug": `"vk"`})
	c.is(c.ok("PUT", "/virtual-keys/vk?workspace_id=ws-main", `{"name":"W"}`), map[string]string{"name": `"W"`, "slug": `"vk"`, "object": `"virtual-key"`})
	c.is(c.ok("PUT", "/admin/users/"+c.names.values["colleague"], `{"role":"admin"}`), map[string]string{"role": `"admin"`, "email": `"colleague@acme.example"`})
	c.is(c.ok("PUT", "/admin/workspaces/ws-two", `{"description":"d"}`), map[string]string{"description": `"d"`, "slug": `"ws-two"`})
}

// Who may change a record and not read it learns nothing of it by a change.
func TestAnUpdateShowsNothingToWhomMayNotRead(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/configs", `{"name":"C","workspace_id":"ws-main","config":{"retry":{"attempts":1}}}`)
	slug := c.ok("GET", "/configs?workspace_id=ws-main", "").Get("data.0.slug").String()
	key := c.ok("POST", "/api-keys/workspace/service", `{"name":"k","workspace_id":"ws-main","scopes":["configs.update"]}`).Get("key").String()
	rec := c.raw(t, "nobody", "PUT", "/v1/configs/"+slug, `{"name":"D"}`, "x-gateway-api-key", key)
	if got := gjson.Parse(rec.Body.String()); rec.Code != 200 || got.Get("config").Exists() || got.Get("name").Exists() || !got.Get("version_id").Exists() {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestEveryListIsSearched(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/api-keys/workspace/service", `{"name":"Needle key","workspace_id":"ws-main","scopes":["completions.write"]}`)
	c.ok("POST", "/configs", `{"name":"Needle config","workspace_id":"ws-main","config":{"retry":{"attempts":1}}}`)
	c.ok("POST", "/integrations", `{"name":"Needle in","ai_provider_id":"openai","key":"s3cr3t-x","workspace_id":"ws-main"}`)
	c.ok("POST", "/virtual-keys", `{"name":"Needle vk","provider":"openai","key":"s3cr3t-x","workspace_id":"ws-main"}`)
	c.ok("POST", "/guardrails", `{"name":"Needle guard","workspace_id":"ws-main","checks":[{"id":"default.wordCount","parameters":{"maxWords":5}}],"actions":{}}`)
	c.ok("POST", "/policies/usage-limits", `{"name":"Needle usage","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],"type":"cost","credit_limit":10}`)
	c.ok("POST", "/policies/rate-limits", `{"name":"Needle rate","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],"type":"requests","unit":"rpm","value":10}`)
	c.ok("POST", "/admin/workspaces", `{"name":"Needle place"}`)
	for _, path := range []string{"/api-keys", "/configs", "/integrations", "/virtual-keys", "/providers", "/guardrails", "/policies/usage-limits", "/policies/rate-limits", "/admin/workspaces"} {
		for _, param := range []string{"search", "name"} {
			for text, want := range map[string]int64{"nEEDLE": 1, "haystack": 0} {
				if got := c.ok("GET", path+"?"+param+"="+text, ""); got.Get("total").Int() != want {
					t.Errorf("%s?%s=%s: %s", path, param, text, got.Raw)
				}
			}
		}
	}
	for path, want := range map[string]int64{"/admin/users?search=colleague@": 1, "/admin/users?name=acme": 2, "/admin/users?search=nobody": 0, "/admin/workspaces/ws-main/users?search=owner": 0} {
		if got := c.ok("GET", path, ""); got.Get("total").Int() != want {
			t.Errorf("%s: %s", path, got.Raw)
		}
	}
	c.ok("POST", "/integrations", `{"name":"S","slug":"all","ai_provider_id":"openai","key":"s3cr3t-x"}`)
	c.ok("PUT", "/integrations/all/workspaces", `{"workspaces":[{"id":"ws-main","enabled":true},{"id":"ws-two","enabled":true}]}`)
	c.ok("POST", "/mcp-integrations", `{"name":"M","slug":"mcp","url":"https://mcp.example.com/mcp","auth_type":"none","transport":"http"}`)
	c.ok("PUT", "/mcp-integrations/mcp/workspaces", `{"workspaces":[{"id":"ws-main","enabled":true},{"id":"ws-two","enabled":true}]}`)
	c.ok("PUT", "/mcp-integrations/mcp/capabilities", `{"capabilities":[{"name":"find_needle","type":"tool","enabled":false},{"name":"other","type":"tool","enabled":false}]}`)
	c.ok("POST", "/admin/users/invites", `{"email":"needle@acme.example","role":"member"}`)
	c.ok("POST", "/admin/users/invites", `{"email":"other@acme.example","role":"member"}`)
	partial := c.ok("POST", "/prompts/partials", `{"name":"P","workspace_id":"ws-main","string":"a","version_description":"the needle"}`).Get("id").String()
	c.ok("PUT", "/prompts/partials/"+partial+"?workspace_id=ws-main", `{"string":"b","version_description":"other"}`)
	config := c.ok("POST", "/configs", `{"name":"Old needle","workspace_id":"ws-two","config":{"retry":{"attempts":1}}}`).Get("id").String()
	c.ok("PUT", "/configs/"+config, `{"name":"New","config":{"retry":{"attempts":2}}}`)
	c.ok("PUT", "/configs/"+config, `{"config":{"retry":{"attempts":3}}}`)
	for path, want := range map[string]int64{
		"/integrations/all/workspaces?search=SECOND": 1, "/integrations/all/workspaces?name=workspace": 2, "/integrations/all/workspaces?search=none": 0,
		"/mcp-integrations/mcp/workspaces?search=ws-two": 1, "/mcp-integrations/mcp/workspaces?name=none": 0,
		"/mcp-integrations/mcp/capabilities?search=Needle": 1, "/mcp-integrations/mcp/capabilities?name=other&type=tool": 1, "/mcp-integrations/mcp/capabilities?search=none": 0,
		"/admin/users/invites?name=Needle": 1, "/admin/users/invites?search=none": 0, "/outbox?search=INVITE": 2, "/outbox?search=none": 0,
		"/prompts/partials/" + partial + "/versions?search=Needle": 1, "/prompts/partials/" + partial + "/versions?search=none": 0, "/prompts/partials/" + partial + "/versions?search=2": 1,
		"/configs/" + config + "/versions?search=NEEDLE": 1, "/configs/" + config + "/versions?name=new": 2,
		"/audit-logs?start_time=2026-11-20T00:00:00Z&end_time=2026-11-21T00:00:00Z&search=MCP-integrations": 3,
		"/audit-logs?start_time=2026-11-20T00:00:00Z&end_time=2026-11-21T00:00:00Z&search=user_invites":     2,
		"/audit-logs?start_time=2026-11-20T00:00:00Z&end_time=2026-11-21T00:00:00Z&search=none":             0,
	} {
		if got := c.ok("GET", path, ""); got.Get("total").Int() != want {
			t.Errorf("%s: %s", path, got.Raw)
		}
	}
	for _, page := range []string{"pageSize=1&currentPage=1", "page_size=1&current_page=1"} {
		if got := c.ok("GET", "/admin/users/invites?"+page, ""); got.Get("data.#").Int() != 1 || got.Get("data.0.email").String() != "needle@acme.example" {
			t.Errorf("%s: %s", page, got.Raw)
		}
	}
	c.refused(400, "name", "GET", "/configs?search=a&name=b", "")
}

// The name of a policy is optional: an empty one counts as none.
func TestPoliciesWithEmptyNames(t *testing.T) {
	c := newClient(t)
	for path, more := range map[string]string{"/policies/usage-limits": `"type":"cost","credit_limit":10}`, "/policies/rate-limits": `"type":"requests","unit":"rpm","value":10}`} {
		id := c.ok("POST", path, `{"name":"","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],`+more).Get("id").String()
		c.is(c.ok("GET", path+"/"+id, ""), map[string]string{"name": "null"})
		c.is(c.ok("PUT", path+"/"+id, `{"name":"P"}`), map[string]string{"name": `"P"`})
		c.is(c.ok("PUT", path+"/"+id, `{"name":""}`), map[string]string{"name": "null"})
		c.refused(400, "name", "PUT", path+"/"+id, `{"name":"  "}`)
		c.refused(400, "name", "PUT", path+"/"+id, `{"name":"a\u202eb"}`)
	}
}

func TestConditionsNameWhatExists(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/virtual-keys", `{"name":"V","slug":"vk","provider":"openai","key":"s3cr3t-x","workspace_id":"ws-main"}`)
	c.ok("POST", "/virtual-keys", `{"name":"V","slug":"far","provider":"openai","key":"s3cr3t-x","workspace_id":"ws-two"}`)
	body := func(key, value string) string {
		return `{"workspace_id":"ws-main","conditions":[{"key":"` + key + `","value":` + value + `}],"type":"requests","unit":"rpm","value":10}`
	}
	for _, good := range [][2]string{
		{"virtual_key", `"vk"`}, {"virtual_key", `["vk","*"]`}, {"workspace_id", `"ws-main"`}, {"api_key", `"` + c.names.values["service-key"] + `"`},
		{"organisation_id", `"` + c.org + `"`}, {"metadata.team", `"whatever"`}, {"model", `"@openai/gpt-4o"`}, {"config", `"*"`},
	} {
		c.ok("POST", "/policies/rate-limits", body(good[0], good[1]))
	}
	for _, bad := range [][2]string{
		{"virtual_key", `"none"`}, {"virtual_key", `"far"`}, {"virtual_key", `["vk","none"]`}, {"workspace_id", `"ws-none"`}, {"workspace_id", `"` + c.names.values["other-main"] + `"`},
		{"api_key", `"0191f3a0-0000-7000-8000-00000000a001"`}, {"organisation_id", `"none"`}, {"config", `"pc-none"`}, {"prompt", `"pp-none"`},
	} {
		c.refused(404, "conditions[0].value", "POST", "/policies/rate-limits", body(bad[0], bad[1]))
	}
	id := c.ok("POST", "/policies/rate-limits", body("virtual_key", `"vk"`)).Get("id").String()
	c.ok("DELETE", "/virtual-keys/vk?workspace_id=ws-main", "")
	c.ok("PUT", "/policies/rate-limits/"+id, `{"conditions":[{"key":"virtual_key","value":"vk"},{"key":"model","value":"*"}]}`)
}

func TestArchivedPoliciesAndWorkspacesComeBack(t *testing.T) {
	c := newClient(t)
	for _, path := range []string{"/policies/usage-limits", "/policies/rate-limits"} {
		more := `"type":"requests","unit":"rpm","value":10}`
		if strings.HasSuffix(path, "usage-limits") {
			more = `"type":"cost","credit_limit":10}`
		}
		id := c.ok("POST", path, `{"name":"P","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],`+more).Get("id").String()
		c.ok("DELETE", path+"/"+id, "")
		c.refused(404, "", "PUT", path+"/"+id, `{"name":"Q"}`)
		c.is(c.ok("PUT", path+"/"+id, `{"status":"active"}`), map[string]string{"status": `"active"`, "name": `"P"`})
		c.ok("GET", path+"/"+id, "")
	}
	ws := c.ok("POST", "/admin/workspaces", `{"name":"Back","icon":"🚀","slug":"ws-back","users":["`+c.names.values["colleague"]+`"],"usage_limits":[{"credit_limit":10}]}`).Get("id").String()
	shown := c.ok("GET", "/admin/workspaces/"+ws, "").Get("name").String()
	c.refused(400, "name", "DELETE", "/admin/workspaces/"+ws, `{"name":"other"}`)
	c.ok("DELETE", "/admin/workspaces/"+ws, `{"name":"`+shown+`"}`)
	c.refused(404, "", "PUT", "/admin/workspaces/"+ws, `{"description":"d"}`)
	c.is(c.ok("PUT", "/admin/workspaces/"+ws, `{"status":"active"}`), map[string]string{"status": `"active"`, "slug": `"ws-back"`, "users.0.id": `"` + c.names.values["colleague"] + `"`, "usage_limits.0.current_usage": "0"})
	c.is(c.ok("GET", "/collections?workspace_id=ws-back", ""), map[string]string{"total": "1", "data.0.is_default": "true"})
	c.ok("DELETE", "/admin/workspaces/"+ws, `{"name":"Back"}`)
	c.ok("POST", "/admin/workspaces", `{"name":"Other","slug":"ws-back"}`)
	c.refused(409, "slug", "PUT", "/admin/workspaces/"+ws, `{"status":"active"}`)
}

func TestTheTrailShowsNames(t *testing.T) {
	c := newClient(t)
	c.ok("POST", "/configs", `{"name":"C","workspace_id":"ws-main","config":{"retry":{"attempts":1}}}`)
	if rec := c.raw(t, "user", "POST", "/v1/configs", `{"name":"D","config":{"retry":{"attempts":1}}}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	list := c.ok("GET", "/audit-logs?start_time=2026-11-20T00:00:00Z&end_time=2026-11-21T00:00:00Z", "")
	c.is(list, map[string]string{
		"records.0.user_name": `"user"`, "records.0.user_email": `"owner@acme.example"`, "records.0.workspace_name": `"Workspace main"`, "records.0.organisation_name": `"Acme"`,
		"records.1.user_name": `"admin"`, "records.1.user_email": `""`,
	})
}

func TestWorkspacesAreNamedByIDSlugOrName(t *testing.T) {
	c := newClient(t)
	made := c.ok("POST", "/admin/workspaces", `{"name":"Data team","icon":"🚀","slug":"ws-data"}`)
	id := made.Get("id").String()
	for _, name := range []string{id, "ws-data", "Data%20team", url.PathEscape(made.Get("name").String())} {
		path := "/admin/workspaces/" + name
		c.is(c.ok("GET", path, ""), map[string]string{"id": `"` + id + `"`})
		c.ok("PUT", path, `{"description":"d"}`)
		c.ok("DELETE", path, `{"name":"Data team"}`)
		c.refused(404, "", "GET", path, "")
		c.refused(404, "", "PUT", path, `{"description":"d"}`)
		c.is(c.ok("PUT", path, `{"status":"active"}`), map[string]string{"id": `"` + id + `"`, "slug": `"ws-data"`, "status": `"active"`})
	}
	c.ok("POST", "/admin/workspaces", `{"name":"Data team"}`)
	c.refused(400, "workspaceId", "PUT", "/admin/workspaces/Data%20team", `{"description":"d"}`)
	c.refused(404, "", "GET", "/admin/workspaces/Data", "")
	if rec := c.raw(t, "service", "GET", "/v1/admin/workspaces/Data%20team", ""); rec.Code != 404 {
		t.Errorf("a key of another workspace learns of the name: %d %s", rec.Code, rec.Body)
	}
	for range 2 {
		c.ok("POST", "/admin/workspaces", `{"name":"Twin","slug":"ws-twin"}`)
		c.ok("DELETE", "/admin/workspaces/ws-twin", `{"name":"Twin"}`)
	}
	c.refused(400, "workspaceId", "PUT", "/admin/workspaces/ws-twin", `{"status":"active"}`)
}

// A budget shows as used up as soon as its usage is, before a job notes it.
func TestStatusesFollowUsage(t *testing.T) {
	c := newClient(t)
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":{"credit_limit":1}}`).Get("id").String()
	deltas, err := c.ofAll(t, id, 2_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.store.AddUsage(t.Context(), deltas); err != nil {
		t.Fatal(err)
	}
	c.is(c.ok("GET", "/api-keys/"+id, ""), map[string]string{"status": `"exhausted"`, "usage_limits.status": `"exhausted"`})
}

func TestDiscovery(t *testing.T) {
	c := newClient(t)
	c.is(c.ok("GET", "/discovery/scopes", ""), map[string]string{`data.#(scope=="completions.write").key_types`: `["workspace-service","workspace-user"]`})
	c.is(c.ok("GET", "/discovery/providers", ""), map[string]string{`data.#(id=="vertex-ai").fields.#(name=="vertex_region").required`: "true"})
	c.is(c.ok("GET", "/discovery/guardrail-checks", ""), map[string]string{`data.#(id=="default.wordCount").object`: `"guardrail-check"`})
	if rec := c.raw(t, "weak", "GET", "/v1/discovery/scopes", ""); rec.Code != 200 {
		t.Errorf("a key with one scope: %d %s", rec.Code, rec.Body)
	}
	if rec := c.raw(t, "nobody", "GET", "/v1/discovery/scopes", ""); rec.Code != 401 {
		t.Errorf("nobody: %d %s", rec.Code, rec.Body)
	}
	c.is(c.ok("GET", "/organisations/self", ""), map[string]string{"data.settings.log_retention_display": "60", "data.settings.metrics_retention_display": "300"})
}

func TestLogRecordsNameTheirConfigAndClient(t *testing.T) {
	c := newClient(t)
	made := c.ok("POST", "/configs", `{"name":"C","workspace_id":"ws-main","config":{"retry":{"attempts":1}}}`)
	c.clock.wait(t, "1h")
	id := c.putLog(t, func(a *record.Attempt) {
		a.ConfigID, a.Started, a.CacheStatus, a.RequestID = made.Get("slug").String(), began.Add(30*time.Minute), "SEMANTIC HIT", "the-request"
		a.Runtime, a.RuntimeVersion, a.SDKVersion = "node", "v22", "node-1.5.0"
	})
	c.ok("PUT", "/configs/"+made.Get("slug").String(), `{"config":{"retry":{"attempts":2}}}`)
	want := map[string]string{
		"organisation_name": `"Acme"`, "config_id": made.Get("id").Raw, "config_version_id": made.Get("version_id").Raw, "cache_type": `"semantic"`,
		"internal_trace_id": `"the-request"`, "runtime": `"node"`, "runtime_version": `"v22"`, "sdk_version": `"node-1.5.0"`, "log_store_file_path_format": `"v2"`,
	}
	c.is(c.ok("GET", "/logs?"+url.Values{"workspace_id": {"ws-main"}}.Encode(), "").Get(`data.#(id=="`+id+`")`), want)
	c.is(c.ok("GET", "/logs/"+id+"?workspace_id=ws-main", "").Get("metrics"), want)
}
