package dataplane_test

import (
	"strings"
	"testing"

	"sluice/internal/record"
	"sluice/internal/routing"
	"sluice/internal/tenant"
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
			r.dir.place.Denying = map[string]string{"g1": "g1", "0191f3a0-0000-7000-8000-00000000000a": "g1"}
			by := name
			switch name {
			case "a saved guardrail":
				by = "input_guardrails"
			case "workspace defaults":
				r.dir.place.Defaults.InputGuardrails = []string{"0191f3a0-0000-7000-8000-00000000000a"}
				r.dir.place.BindDefaults("w", &tenant.Organisation{})
				by = "defaults.input_guardrails of the workspace"
			case "organisation defaults":
				r.dir.place.BindDefaults("w", &tenant.Organisation{Defaults: tenant.OrgDefaults{OutputGuardrails: []string{"g1"}}})
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
	if s.BindDefaults("w", o); s.Bound != nil {
		t.Errorf("bound by %+v", s.Bound)
	}
	if s.BindDefaults("v", o); s.Bound == nil || s.Bound.Slug != "g1" {
		t.Errorf("bound by %+v", s.Bound)
	}
}
