package control_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/storage/sqlstore/storetest"
)

// readBack are records with everything set: what makes each, and where it is read. Names in
// angle brackets are ids and slugs of records above.
var readBack = []struct{ name, create, body, path string }{
	{"config", "/configs", `{"name":"C","workspace_id":"ws-main","is_default":0,"config":{"retry":{"attempts":2},"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"s3cr3t-0123456789"},{"provider":"groq","api_key":"s3cr3t-9876543210"}]}}`, "/configs/<slug>"},
	{"guardrail", "/guardrails", `{"name":"G","workspace_id":"ws-main","checks":[{"id":"default.wordCount","is_enabled":true,"parameters":{"minWords":1,"maxWords":5}}],"actions":{"deny":true,"async":false,"on_fail":{"feedback":{"value":-1,"weight":1}}}}`, "/guardrails/<id>"},
	{"secret reference", "/secret-references", `{"name":"R","slug":"ref","description":"d","manager_type":"aws_sm","auth_config":{"aws_auth_type":"accessKey","aws_access_key_id":"AKIA0123456789","aws_secret_access_key":"s3cr3t-key-of-aws","aws_region":"eu-west-1"},"secret_path":"p","secret_key":"k","tags":{"a":"b"},"allow_all_workspaces":false,"allowed_workspaces":["ws-main"]}`, "/secret-references/<slug>"},
	{"integration", "/integrations", `{"name":"I","slug":"in","ai_provider_id":"openai","key":"s3cr3t-0123456789","description":"d","tags":{"a":"b"},"pricing":"free","is_key_required":1,"configurations":{"openai_project":"p","openai_organization":"o","custom_host":"https://api.openai.com/v1","custom_headers":{"x-team":"s3cr3t-header"}},"pricing_adjustments":{"multiplier":{"default":1.5}}}`, "/integrations/in"},
	{"Azure integration", "/integrations", `{"name":"A","slug":"az","ai_provider_id":"azure-openai","key":"s3cr3t-0123456789","configurations":{"azure_auth_mode":"default","azure_resource_name":"res","azure_deployment_config":[{"azure_deployment_name":"d","azure_api_version":"2024-10-21","azure_model_slug":"gpt-4o","is_default":true}]}}`, "/integrations/az"},
	{"Bedrock integration", "/integrations", `{"name":"B","slug":"bed","ai_provider_id":"bedrock","configurations":{"aws_auth_type":"accessKey","aws_access_key_id":"AKIA0123456789","aws_secret_access_key":"s3cr3t-key-of-aws","aws_region":"eu-west-1"}}`, "/integrations/bed"},
	{"integration of a workspace", "/integrations", `{"name":"I","slug":"own","workspace_id":"ws-main","ai_provider_id":"openai","key":"s3cr3t-0123456789","secret_mappings":[{"target_field":"configurations.openai_project","secret_reference_id":"ref","secret_key":"k"}],"create_default_provider":false}`, "/integrations/own?workspace_id=ws-main"},
	{"provider", "/providers", `{"name":"P","slug":"pro","workspace_id":"ws-main","integration_id":"own","note":"n","expires_at":"2027-11-20T10:00:00Z","usage_limits":{"type":"cost","credit_limit":10,"alert_threshold":5,"periodic_reset":"weekly"},"rate_limits":[{"type":"requests","unit":"rpm","value":10}]}`, "/providers/pro?workspace_id=ws-main"},
	{"virtual key", "/virtual-keys", `{"name":"V","slug":"vk","workspace_id":"ws-main","provider":"azure-openai","key":"s3cr3t-0123456789","note":"n","pricing":"free","expires_at":"2027-11-20T10:00:00Z","resourceName":"res","deploymentName":"d","apiVersion":"2024-10-21","usage_limits":{"type":"tokens","credit_limit":1000,"alert_threshold":500,"periodic_reset_days":10},"rate_limits":[{"type":"tokens","unit":"rpd","value":10}]}`, "/virtual-keys/vk?workspace_id=ws-main"},
	{"service key", "/api-keys/workspace/service", `{"name":"K","workspace_id":"ws-main","description":"d","scopes":["completions.write"],"alert_emails":["a@acme.example"],"expires_at":"2027-11-20T10:00:00Z","rotation_policy":{"rotation_period":"monthly","key_transition_period_ms":1800000},"defaults":{"metadata":{"team":"x"},"config_id":"<config.slug>","allow_config_override":false},"usage_limits":{"credit_limit":10,"alert_threshold":5,"periodic_reset":"monthly"},"rate_limits":[{"type":"requests","unit":"rpm","value":10}]}`, "/api-keys/<id>"},
	{"user key", "/api-keys/workspace/user", `{"name":"U","workspace_id":"ws-main","scopes":["completions.write"],"user_id":"<owner>","usage_limits":{"credit_limit":10}}`, "/api-keys/<id>"},
	{"Admin key", "/api-keys/organisation/service", `{"name":"O","scopes":["workspaces.list"],"defaults":{"metadata":{"team":"x"}},"rate_limits":[{"type":"requests","unit":"rpm","value":10}]}`, "/api-keys/<id>"},
	{"workspace", "/admin/workspaces", `{"name":"W","icon":"🚀","slug":"ws-w","description":"d","users":["<colleague>"],"defaults":{"metadata":{"team":"x"}},"usage_limits":[{"type":"cost","credit_limit":10,"alert_threshold":5,"periodic_reset":"monthly"},{"type":"tokens","credit_limit":1000}],"rate_limits":[{"type":"requests","unit":"rpm","value":10}]}`, "/admin/workspaces/ws-w"},
	{"rate-limit policy", "/policies/rate-limits", `{"name":"P","description":"d","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"},{"key":"metadata.team","value":["a","b"],"excludes":["c"]}],"group_by":[{"key":"api_key"}],"type":"requests","unit":"rpm","value":10}`, "/policies/rate-limits/<id>"},
	{"usage-limit policy", "/policies/usage-limits", `{"name":"P","description":"d","workspace_id":"ws-main","conditions":[{"key":"model","value":"*"}],"group_by":[{"key":"api_key"}],"type":"cost","credit_limit":10,"alert_threshold":5,"periodic_reset":"weekly"}`, "/policies/usage-limits/<id>"},
	{"deployment", "/deployments", `{"name":"D","slug":"dep","type":"production","description":"d","auth_settings":{"gateway_base_url":"https://gw.example.com/v1"},"deployment_config":{"region":"eu"},"workspaces_allowed":["ws-main"]}`, "/deployments/<id>"},
	{"MCP integration", "/mcp-integrations", `{"name":"M","slug":"mcp","description":"d","url":"https://mcp.example.com/mcp","auth_type":"headers","transport":"http","configurations":{"custom_headers":{"x-team":"s3cr3t-0123456789"}}}`, "/mcp-integrations/mcp"},
	{"MCP integration of a workspace", "/mcp-integrations", `{"name":"M","slug":"mcpw","workspace_id":"ws-main","url":"https://mcp.example.com/mcp","auth_type":"none","transport":"http"}`, "/mcp-integrations/mcpw?workspace_id=ws-main"},
	{"MCP server", "/mcp-servers", `{"name":"S","slug":"ms-own","description":"d","workspace_id":"ws-main","mcp_integration_id":"mcpw"}`, "/mcp-servers/ms-own?workspace_id=ws-main"},
	{"agent integration", "/agent-integrations", `{"name":"A","slug":"ag","description":"d","workspace_id":"ws-main","url":"https://agent.example.com/","auth_type":"headers","configurations":{"custom_headers":{"x-team":"s3cr3t-0123456789"}}}`, "/agent-integrations/ag?workspace_id=ws-main"},
	{"agent server", "/agent-servers", `{"name":"S","slug":"as-own","description":"d","workspace_id":"ws-main","agent_integration_id":"ag"}`, "/agent-servers/as-own?workspace_id=ws-main"},
	{"collection", "/collections", `{"name":"F","workspace_id":"ws-main"}`, "/collections/<id>"},
	{"label", "/labels", `{"name":"l","description":"d","color_code":"#ff0000","workspace_id":"ws-main"}`, "/labels/<id>"},
	{"prompt", "/prompts", `{"name":"T","collection_id":"<collection.id>","string":"[{\"role\":\"user\",\"content\":\"Hi {{name}}\"}]","parameters":{"temperature":0.5},"virtual_key":"vk","model":"gpt-4o","version_description":"v","template_metadata":{"template_type":"chat"},"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto","functions":[{"name":"f"}]}`, "/prompts/<slug>?workspace_id=ws-main"},
	{"partial", "/prompts/partials", `{"name":"Y","workspace_id":"ws-main","string":"Bye","version_description":"v"}`, "/prompts/partials/<slug>?workspace_id=ws-main"},
}

// Whoever reads a record and sends it back changes nothing.
func TestRecordsComeBackUnchanged(t *testing.T) {
	c := newClient(t)
	known := map[string]string{"owner": c.names.values["owner"], "colleague": c.names.values["colleague"]}
	for _, r := range readBack {
		fill := strings.NewReplacer(slices.Concat(pairs(known)...)...)
		rec := c.call("POST", r.create, fill.Replace(r.body))
		if rec.Code != 200 {
			t.Errorf("make %s: %d %s", r.name, rec.Code, rec.Body)
			continue
		}
		made := gjson.Parse(rec.Body.String())
		known[r.name+".slug"], known[r.name+".id"] = made.Get("slug").String(), made.Get("id").String()
		path := strings.NewReplacer("<slug>", made.Get("slug").String(), "<id>", made.Get("id").String()).Replace(r.path)
		c.staysWhenSentBack(r.name, path)
	}
	for name, path := range map[string]string{"organisation": "/organisations/self", "sign-in": "/organisations/" + c.org + "/auth-settings", "user": "/admin/users/" + c.names.values["colleague"], "workspace of old": "/admin/workspaces/ws-main"} {
		c.staysWhenSentBack(name, path)
	}
}

// staysWhenSentBack reads a record and sends it back as it came.
func (c client) staysWhenSentBack(name, path string) {
	c.t.Helper()
	before := c.call("GET", path, "")
	body := recordIn(before.Body.String()).String()
	if rec := c.call("PUT", path, body); before.Code != 200 || rec.Code != 200 {
		c.t.Errorf("%s: %d %s\nsent back: %d %s", name, before.Code, body, rec.Code, rec.Body)
		return
	}
	was, is := recordIn(before.Body.String()), recordIn(c.call("GET", path, "").Body.String())
	for _, name := range slices.Sorted(maps.Keys(was.Map())) {
		if !slices.Contains(stamps, name) && was.Get(name).String() != is.Get(name).String() {
			c.t.Errorf("%s at %s: %s was %s and is %s", name, path, name, was.Get(name), is.Get(name))
		}
	}
}

func TestReadOnlyFieldsWithinLimits(t *testing.T) {
	c := newClient(t)
	id := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":{"credit_limit":10}}`).Get("id").String()
	limit := c.ok("GET", "/api-keys/"+id, "").Get("usage_limits.id").String()
	other := c.ok("POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":{"credit_limit":10}}`).Get("id").String()
	for name, call := range map[string]struct {
		body, at string
		warns    string
	}{
		"as shown":            {`{"usage_limits":{"id":"` + limit + `","credit_limit":20,"current_usage":0,"status":"active"}}`, "", ""},
		"usage of before":     {`{"usage_limits":{"credit_limit":20,"current_usage":3}}`, "", `read-only field "usage_limits.current_usage" ignored`},
		"the id of another":   {`{"usage_limits":{"id":"` + other + `","credit_limit":20}}`, "usage_limits.id", ""},
		"an unknown field":    {`{"usage_limits":{"credit_limit":20,"colour":1}}`, "usage_limits.colour", ""},
		"a field of a record": {`{"usage_limits":{"credit_limit":20,"scopes":[]}}`, "usage_limits.scopes", ""},
		"in rates":            {`{"rate_limits":[{"type":"requests","unit":"rpm","value":1,"current_usage":0}]}`, "rate_limits[0].current_usage", ""},
	} {
		rec := c.call("PUT", "/api-keys/"+id, call.body)
		if got := gjson.Get(rec.Body.String(), "data.errors.0.path").String(); got != call.at || (rec.Code == 400) != (call.at != "") || rec.Header().Get("x-gateway-warnings") != call.warns {
			t.Errorf("%s: %d %q at %q %s", name, rec.Code, rec.Header().Get("x-gateway-warnings"), got, rec.Body)
		}
	}
	c.refused(400, "usage_limits.id", "POST", "/api-keys/workspace/service", keyBody+`,"usage_limits":{"id":"`+limit+`","credit_limit":20}}`)
	c.refused(400, "configurations.masked_custom_headers", "PUT", "/integrations/"+c.ok("POST", "/integrations", `{"name":"I","slug":"in","ai_provider_id":"openai","key":"s3cr3t-x","configurations":{"custom_headers":{"a":"s3cr3t-abcdef"}}}`).Get("slug").String(), `{"configurations":{"masked_custom_headers":{"a":"other"}}}`)
}

// recordIn is the record of an answer: that of the organisation comes in an envelope.
func recordIn(body string) gjson.Result {
	if data := gjson.Get(body, "data"); data.IsObject() {
		return data
	}
	return gjson.Parse(body)
}

// pairs are what strings.NewReplacer takes to fill names in.
func pairs(known map[string]string) (all [][]string) {
	for name, v := range known {
		all = append(all, []string{"<" + name + ">", v})
	}
	return all
}

// The same for every path that is both read and updated.
func TestEveryUpdateTakesWhatReadsShow(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	held := 0
	for _, l := range w.lines {
		i := slices.IndexFunc(w.lines, func(one *rightsOf) bool { return one.method == http.MethodGet && one.path == l.path })
		if l.method != http.MethodPut || i < 0 {
			continue
		}
		read, update := w.based(t, w.lines[i], ""), *l
		if gjson.Get(read.Body.String(), "object").String() == "list" || strings.HasSuffix(l.path, "/<version>") {
			continue // updates of several take another form than the list of them, and those of versions a label
		}
		held++
		update.body = recordIn(read.Body.String()).String()
		if rec := w.based(t, &update, ""); rec.Code != 200 {
			t.Errorf("%s with %.600s: %d %.300s", l, update.body, rec.Code, rec.Body)
		}
	}
	if held < 30 {
		t.Errorf("only %d updates were held", held)
	}
}
