package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway"
)

// A call that a guardrail with deny: true binds is refused, however the guardrail is
// attached and whatever is called, and nothing is sent.
func TestBindingGuardrail_RefusesTheCall(t *testing.T) {
	t.Parallel()
	const hook = `[{"id":"g1","type":"guardrail","deny":true,"checks":[{"id":"default.alluppercase"}]}]`
	for name, fields := range map[string]string{
		"input_guardrails":      `"input_guardrails":[{"id":"g1","deny":true,"default.alluppercase":{}}]`,
		"output_guardrails":     `"output_guardrails":[{"id":"g1","deny":true,"default.alluppercase":{}}]`,
		"input_mutators":        `"input_mutators":[{"id":"g1","deny":true,"default.addPrefix":{"prefix":"x"}}]`,
		"output_mutators":       `"outputMutators":[{"id":"g1","deny":true,"default.addPrefix":{"prefix":"x"}}]`,
		"before_request_hooks":  `"before_request_hooks":` + hook,
		"after_request_hooks":   `"afterRequestHooks":` + hook,
		"a saved guardrail":     `"input_guardrails":["g1"]`,
		"workspace defaults":    ``,
		"organisation defaults": ``,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.dir.scope.Denying = map[string]string{"g1": "g1", "0191f3a0-0000-7000-8000-00000000000a": "g1"}
			r.dir.scope.Guardrails = r.dir.scope.Denying
			by := name
			switch name {
			case "a saved guardrail":
				by = "input_guardrails"
			case "workspace defaults":
				r.dir.scope.Defaults.InputGuardrails = []string{"0191f3a0-0000-7000-8000-00000000000a"}
				r.dir.scope.BindDefaults("w", &tenant.Organisation{})
				by = "defaults.input_guardrails of the workspace"
			case "organisation defaults":
				r.dir.scope.BindDefaults("w", &tenant.Organisation{Defaults: tenant.OrgDefaults{OutputGuardrails: []string{"g1"}}})
				by = "output_guardrails of the organisation defaults"
			}
			config := `{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"},{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"}]`
			if fields != "" {
				config += "," + fields
			}
			config += "}"
			saved, err := routing.Parse([]byte(config), routing.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r.dir.configs["pc-saved"] = saved
			for _, header := range []string{config, "pc-saved"} {
				for path, body := range map[string]string{
					"/v1/chat/completions": hello, "/v1/messages": `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}`,
					"/v1/responses": `{"model":"m","input":"Hi"}`, "/v1/embeddings": `{"model":"m","input":"Hi"}`, "/v1/batches": `{"input_file_id":"f","endpoint":"/v1/chat/completions","completion_window":"24h"}`,
					"/v1/anything/else": `{"a":1}`, "/v1/audio/speech": `{"model":"m","input":"x","voice":"alloy"}`, "/v1/moderations": `{"input":"x"}`,
				} {
					a := r.call("POST", path, body, "x-gateway-config: "+header)
					if a.StatusCode != 501 || !strings.Contains(a.Text, "g1") || !strings.Contains(a.Text, by) {
						t.Errorf("%s with %.20s: %d %s", path, header, a.StatusCode, a.Text)
					}
				}
			}
			if r.up.Total() != 0 {
				t.Errorf("%d calls went up", r.up.Total())
			}
			for _, row := range r.journal.all() {
				if row.Outcome != record.Refused {
					t.Errorf("%s is recorded as %v", row.Path, row.Outcome)
				}
			}
		})
	}
}

// Exempt workspaces are not bound by the organisation's guardrails.
func TestBindingGuardrail_SparesExemptWorkspaces(t *testing.T) {
	t.Parallel()
	s := tenant.Scope{Denying: map[string]string{"g1": "g1"}}
	o := &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}, Exempt: tenant.Exempt{Input: []string{"w"}}}
	if s.BindDefaults("w", o); s.Mandatory != nil {
		t.Errorf("bound by %+v", s.Mandatory)
	}
	if s.BindDefaults("v", o); s.Mandatory == nil || s.Mandatory.Slug != "g1" {
		t.Errorf("bound by %+v", s.Mandatory)
	}
}

// A config of the request that names a guardrail which is nowhere is refused, whatever target
// names it and however, and nothing is sent. With guardrails switched off it runs.
func TestInlineConfig_NamesNoUnknownGuardrail(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		r := newRig(t, func(s *gateway.Settings) { s.GuardrailsOff = off })
		r.dir.scope.Guardrails = map[string]string{"pg-known": "pg-known", "0191f3a0-0000-7000-8000-00000000000a": "pg-known"}
		target := `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"`
		for _, c := range []struct {
			config string
			known  bool
		}{
			{target + `,"input_guardrails":["pg-nowhere"]}`, false},
			{target + `,"output_guardrails":["pg-nowhere"]}`, false},
			{target + `,"before_request_hooks":[{"id":"pg-nowhere","type":"guardrail"}]}`, false},
			{`{"strategy":{"mode":"fallback"},"targets":[` + target + `},` + target + `,"input_guardrails":["pg-nowhere"]}]}`, false},
			{target + `,"input_guardrails":["pg-known","0191f3a0-0000-7000-8000-00000000000a",{"default.wordCount":{"maxWords":5}}]}`, true},
		} {
			before := r.up.Total()
			a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+c.config)
			refused := a.StatusCode == 400 && strings.Contains(a.Text, `unknown guardrail \"pg-nowhere\"`) && r.up.Total() == before
			if runs := c.known || off; runs == refused || runs == (r.up.Total() == before) {
				t.Errorf("off %v, %s: %d %s", off, c.config, a.StatusCode, a.Text)
			}
		}
	}
}

// The guardrails of a default config that bind are not stepped around: neither by a provider,
// a model of a saved one or a host in the request, nor by another config.
func TestBindingGuardrail_OfADefaultConfigIsNotSteppedAround(t *testing.T) {
	t.Parallel()
	const hook = `"output_guardrails":[{"id":"g1","deny":true,"default.alluppercase":{}}]`
	for _, config := range []string{"key", "workspace"} {
		for deny, status := range map[string]int{hook: 501, strings.Replace(hook, "true", "false", 1): 200} {
			r := newRig(t)
			target := `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"`
			for slug, text := range map[string]string{"pc-default": target + "," + deny + "}", "pc-other": target + "}"} {
				config, err := routing.Parse([]byte(text), routing.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				r.dir.configs[slug] = config
			}
			r.dir.accounts["saved"] = &credential.Account{Slug: "saved", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "k", "custom_host": r.up.URL() + "/v1"}}
			if config == "key" {
				r.dir.FindKey(keys.NewHasher([]byte("pepper of the tests")).Sum(key)).Key.Defaults.ConfigID = "pc-default"
			} else {
				r.dir.scope.Defaults.ConfigID = "pc-default"
			}
			for _, headers := range [][]string{
				{}, {"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + "/v1"}, {"x-gateway-provider: @saved"},
				{"x-gateway-config: pc-other"}, {"x-gateway-config: " + target + "}"}, {"x-gateway-config: pc-default"},
			} {
				a := r.call("POST", "/v1/chat/completions", hello, headers...)
				if a.StatusCode != status || status == 501 && (!strings.Contains(a.Text, "g1") || !strings.Contains(a.Text, "pc-default")) {
					t.Errorf("of the %s, %.60q: %d %s, want %d", config, headers, a.StatusCode, a.Text, status)
				}
			}
			if a := r.call("POST", "/v1/chat/completions", strings.Replace(hello, `"gpt-4o-mini"`, `"@saved/m"`, 1)); a.StatusCode != status {
				t.Errorf("of the %s, by the model: %d %s, want %d", config, a.StatusCode, a.Text, status)
			}
			if status == 501 && r.up.Total() != 0 {
				t.Errorf("%d calls went up", r.up.Total())
			}
		}
	}
}
