package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/test/upstream"
)

// rule fails on texts with the word "forbidden".
const rule = `{"id":"default.regexMatch","parameters":{"rule":"forbidden","not":true}}`

// shorthandRule is rule in the shorthand of configs.
const shorthandRule = `"regexMatch":{"rule":"forbidden","not":true}`

// save adds a saved guardrail with one check.
func (r *rig) save(slug, check string, a guardrail.Actions) *guardrail.Saved {
	r.t.Helper()
	var c guardrail.Check
	if err := json.Unmarshal([]byte(check), &c); err != nil {
		r.t.Fatal(err)
	}
	g := &guardrail.Saved{ID: "id of " + slug, Slug: slug, VersionID: "version of " + slug, Checks: []guardrail.Check{c}, Actions: a}
	if r.dir.guardrails == nil {
		r.dir.guardrails = make(map[string]*guardrail.Saved)
	}
	r.dir.guardrails[slug], r.dir.guardrails[g.ID] = g, g
	return g
}

// inline returns a config that sends calls to the upstream of the rig, with these members.
func (r *rig) inline(members string) string {
	return "x-gateway-config: " + r.target(members)
}

func (r *rig) target(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"` + members + `}`
}

// hookResults are the hook_results of a response.
type hookResults struct {
	Before []hookResult `json:"before_request_hooks"`
	After  []hookResult `json:"after_request_hooks"`
}

type hookResult struct {
	Verdict     bool   `json:"verdict"`
	ID          string `json:"id"`
	Transformed bool   `json:"transformed"`
	Deny        bool   `json:"deny"`
	Async       bool   `json:"async"`
	Type        string `json:"type"`
	Skipped     bool   `json:"skipped"`
	VersionID   string `json:"guardrail_version_id"`
	Feedback    *struct {
		Value    float64        `json:"value"`
		Weight   float64        `json:"weight"`
		Metadata map[string]any `json:"metadata"`
	} `json:"feedback"`
	Checks []struct {
		ID          string          `json:"id"`
		Verdict     bool            `json:"verdict"`
		Data        json.RawMessage `json:"data"`
		Log         json.RawMessage `json:"log"`
		Transformed bool            `json:"transformed"`
		FailOnError bool            `json:"fail_on_error"`
		Error       *struct{ Name, Message string }
	} `json:"checks"`
}

func (c *callResult) hooks(t testing.TB) hookResults {
	t.Helper()
	return readHooks(t, c.Text)
}

func readHooks(t testing.TB, body string) hookResults {
	t.Helper()
	var out struct {
		Results hookResults `json:"hook_results"`
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out.Results
}

// attachments are the ways in which a guardrail can apply to a call. Each returns the config of the
// call.
var attachments = map[string]func(r *rig, phase guardrail.Phase, deny bool) string{
	"shorthand": func(r *rig, p guardrail.Phase, deny bool) string {
		return r.target(fmt.Sprintf(`"%s_guardrails":[{"id":"g1","deny":%v,%s}]`, p, deny, shorthandRule))
	},
	"camel case shorthand": func(r *rig, p guardrail.Phase, deny bool) string {
		return r.target(fmt.Sprintf(`"%sGuardrails":[{"id":"g1","deny":%v,%s}]`, p, deny, shorthandRule))
	},
	"full hook": func(r *rig, p guardrail.Phase, deny bool) string {
		return r.target(fmt.Sprintf(`"%s_request_hooks":[{"id":"g1","type":"guardrail","deny":%v,"checks":[%s]}]`, hookSide[p], deny, rule))
	},
	"saved slug": func(r *rig, p guardrail.Phase, deny bool) string {
		r.save("g1", rule, guardrail.Actions{Deny: deny})
		return r.target(fmt.Sprintf(`"%s_guardrails":["g1"]`, p))
	},
	"saved id": func(r *rig, p guardrail.Phase, deny bool) string {
		r.save("g1", rule, guardrail.Actions{Deny: deny})
		return r.target(fmt.Sprintf(`"%s_guardrails":["id of g1"]`, p))
	},
	"inherited by a target": func(r *rig, p guardrail.Phase, deny bool) string {
		return fmt.Sprintf(`{"strategy":{"mode":"single"},"targets":[%s],"%s_guardrails":[{"id":"g1","deny":%v,%s}]}`, r.target(""), p, deny, shorthandRule)
	},
	"workspace default": func(r *rig, p guardrail.Phase, deny bool) string {
		r.save("g1", rule, guardrail.Actions{Deny: deny})
		r.setDefault(p, &r.dir.scope.Defaults.InputGuardrails, &r.dir.scope.Defaults.OutputGuardrails)
		r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{})
		return r.target("")
	},
	"organisation default": func(r *rig, p guardrail.Phase, deny bool) string {
		r.save("g1", rule, guardrail.Actions{Deny: deny})
		var o tenant.Organisation
		r.setDefault(p, &o.Defaults.InputGuardrails, &o.Defaults.OutputGuardrails)
		r.dir.scope.SetGuardrails(workspace, &o)
		return r.target("")
	},
}

var hookSide = map[guardrail.Phase]string{guardrail.Input: "before", guardrail.Output: "after"}

func (r *rig) setDefault(p guardrail.Phase, input, output *[]string) {
	if p == guardrail.Input {
		*input = []string{"g1"}
		return
	}
	*output = []string{"g1"}
}

// textSurfaces are the APIs whose calls have text. Each has a request with a text and a response of
// the upstream with a text.
var textSurfaces = []struct{ path, request, response, stream string }{
	{"/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`,
		`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":900,"total_tokens":905}}`, ""},
	{"/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":%q}`,
		`{"id":"cmpl-1","object":"text_completion","created":1,"model":"gpt-3.5-turbo-instruct","choices":[{"index":0,"text":%q,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":900,"total_tokens":905}}`, ""},
	{"/v1/responses", `{"model":"gpt-4o-mini","input":%q,"store":false}`,
		`{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-4o-mini","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":%q,"annotations":[]}]}],"usage":{"input_tokens":5,"output_tokens":900,"total_tokens":905}}`, ""},
}

// Each way of attaching a guardrail stops a call with 446, or marks its response with 246, on input
// and output.
func TestGuardrails_RunHoweverTheyAreAttached(t *testing.T) {
	t.Parallel()
	for name, attach := range attachments {
		for _, phase := range []guardrail.Phase{guardrail.Input, guardrail.Output} {
			for _, deny := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, deny %v", name, phase, deny), func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					config := attach(r, phase, deny)
					r.dir.config(t, "pc-saved", config)
					for _, header := range []string{config, "pc-saved"} {
						for _, s := range textSurfaces {
							r.judgeBoth(t, phase, deny, header, s.path, s.request, s.response)
						}
					}
				})
			}
		}
	}
}

// judgeBoth makes a call that the guardrail rejects and one that it accepts.
func (r *rig) judgeBoth(t *testing.T, phase guardrail.Phase, deny bool, config, path, request, response string) {
	t.Helper()
	for _, word := range []string{"forbidden", "harmless"} {
		prompt, text := "a "+word+" text", "fine"
		if phase == guardrail.Output {
			prompt, text = "fine", "a "+word+" text"
		}
		r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(response, text)))))
		before := r.up.Total()
		a := r.call("POST", path, fmt.Sprintf(request, prompt), "x-gateway-config: "+config)
		want := 200
		if word == "forbidden" {
			if want = 246; deny {
				want = 446
			}
		}
		if a.StatusCode != want {
			t.Errorf("%s with a %s text: %d %s, want %d", path, word, a.StatusCode, a.Text, want)
			continue
		}
		got := a.hooks(t)
		list := got.Before
		if phase == guardrail.Output {
			list = got.After
		}
		if len(got.Before)+len(got.After) != 1 || len(list) != 1 || list[0].ID != "g1" || list[0].Verdict != (want == 200) || list[0].Deny != (want == 446) || list[0].Type != "guardrail" {
			t.Errorf("%s with a %s text: results %+v", path, word, got)
		}
		if want == 446 && strings.Contains(a.Text, "forbidden") {
			t.Errorf("%s: the denial quotes the text or the pattern: %s", path, a.Text)
		}
		if sent := r.up.Total() - before; (sent == 0) != (want == 446 && phase == guardrail.Input) {
			t.Errorf("%s with a %s text: %d calls reached the provider", path, word, sent)
		}
	}
}

// A denial has the error body of the contract and the results in it.
func TestDenial_HasTheErrorBodyOfTheContract(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.call("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"forbidden"}]}`,
		r.inline(`"input_guardrails":[{"deny":true,"on_fail":{"feedback":{"value":-5,"weight":0.5,"metadata":{"team":"a"}}},`+shorthandRule+`}]`))
	var got struct {
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.Text), &got); err != nil || a.StatusCode != 446 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if got.Error["type"] != "hooks_failed" || got.Error["message"] == "" || got.Error["param"] != nil || got.Error["code"] != nil {
		t.Errorf("error %v", got.Error)
	}
	h := a.hooks(t)
	if h.After == nil || len(h.After) != 0 || len(h.Before) != 1 || h.Before[0].Feedback == nil {
		t.Fatalf("results %+v", h)
	}
	if f := h.Before[0].Feedback; f.Value != -5 || f.Weight != 0.5 || f.Metadata["team"] != "a" || f.Metadata["failedChecks"] != "default.regexMatch" || f.Metadata["successfulChecks"] != "" {
		t.Errorf("feedback %+v", f)
	}
	if !strings.HasPrefix(h.Before[0].ID, "input_guardrail_") {
		t.Errorf("generated id %q", h.Before[0].ID)
	}
	row := r.journal.one(t)
	if row.Status != 446 || row.Outcome != record.Refused || !strings.Contains(row.Hooks, "forbidden") {
		t.Errorf("record %d %s %s", row.Status, row.Outcome, row.Hooks)
	}
}

// Tokens that the provider counted for a denied response are billed and on record.
func TestDeniedResponse_IsBilledAsTheProviderBilledIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[0].response, "forbidden")))))
	a := r.call("POST", "/v1/chat/completions", hello, r.inline(`"output_guardrails":[{"deny":true,`+shorthandRule+`}]`))
	row := r.journal.one(t)
	if a.StatusCode != 446 || row.Status != 446 || row.Usage.OutputTokens != 900 || row.Spend.Cost == 0 || row.Spend.State != "settled" {
		t.Errorf("%d; record %d, usage %+v, spend %+v", a.StatusCode, row.Status, row.Usage, row.Spend)
	}
}

func TestGuardrailsOff_RunNothing(t *testing.T) {
	t.Parallel()
	for name, attach := range attachments {
		r := newRig(t, func(s *gateway.Settings) { s.GuardrailsOff = true })
		config := attach(r, guardrail.Input, true)
		a := r.call("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"forbidden"}]}`, "x-gateway-config: "+config)
		if a.StatusCode != 200 || strings.Contains(a.Text, "hook_results") {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

func TestOrganisationGuardrails_SpareExemptWorkspaces(t *testing.T) {
	t.Parallel()
	var s tenant.Scope
	s.Defaults.InputGuardrails = []string{"g2"}
	o := &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}, OutputGuardrails: []string{"g3"}}, Exempt: tenant.Exempt{Input: []string{"w"}}}
	for workspace, want := range map[string][]string{"w": {"g2"}, "v": {"g1", "g2"}} {
		if s.SetGuardrails(workspace, o); !slices.Equal(s.InputGuardrails, want) || !slices.Equal(s.OutputGuardrails, []string{"g3"}) {
			t.Errorf("%s: input %q, output %q", workspace, s.InputGuardrails, s.OutputGuardrails)
		}
	}
}

// An inline config that names a guardrail or check that does not exist, or one with impossible
// parameters, is rejected with the path, whatever target has it.
func TestInlineConfig_NamesNoUnknownGuardrail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.save("pg-known", rule, guardrail.Actions{})
	const unknown = `unknown guardrail \"pg-nowhere\"`
	for _, c := range []struct{ members, text, param string }{
		{`"input_guardrails":["pg-nowhere"]`, unknown, `input_guardrails[0]`},
		{`"output_guardrails":["pg-known","pg-nowhere"]`, unknown, `output_guardrails[1]`},
		{`"input_guardrails":[{"id":"pg-nowhere","deny":true}]`, unknown, `input_guardrails[0].id`},
		{`"input_mutators":["pg-nowhere"]`, unknown, `input_mutators[0]`},
		{`"output_mutators":["pg-nowhere"]`, unknown, `output_mutators[0]`},
		{`"before_request_hooks":[{"id":"pg-nowhere","type":"guardrail"}]`, unknown, `before_request_hooks[0].id`},
		{`"after_request_hooks":[{"id":"pg-nowhere"}]`, unknown, `after_request_hooks[0].id`},
		{`"beforeRequestHooks":[{"id":"pg-nowhere"}]`, unknown, `beforeRequestHooks[0].id`},
		{`"input_guardrails":[{"default.nothing":{}}]`, `unknown check`, `input_guardrails[0].default.nothing`},
		{`"input_guardrails":[{"words":{"id":"default.nothing"}}]`, `unknown check`, `input_guardrails[0].words.id`},
		{`"after_request_hooks":[{"id":"a","checks":[{"id":"nothing"}]}]`, `unknown check`, `after_request_hooks[0].checks[0].id`},
		{`"input_guardrails":[{"wordCount":{"maxWords":-1}}]`, ``, `input_guardrails[0].wordCount.maxWords`},
		{`"before_request_hooks":[{"id":"a","checks":[{"id":"default.wordCount","parameters":{"maxWords":"x"}}]}]`, ``, `before_request_hooks[0].checks[0].parameters.maxWords`},
		{`"input_guardrails":[{"jsonKeys":{"keys":["a"],"operator":"any"}}]`, `does not run on the input`, `input_guardrails[0].jsonKeys`},
		{`"input_guardrails":[{"webhook":{"webhookURL":"http://169.254.169.254/"}}]`, ``, `input_guardrails[0].webhook.webhookURL`},
		{`"input_guardrails":["pg-known","id of pg-known",{"wordCount":{"maxWords":5}}]`, "", ""},
	} {
		for config, prefix := range map[string]string{r.target(c.members): "", `{"strategy":{"mode":"fallback"},"targets":[` + r.target("") + `,` + r.target(c.members) + `]}`: "targets[1]."} {
			before := r.up.Total()
			a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+config)
			if c.param == "" {
				if a.StatusCode != 200 {
					t.Errorf("%s: %d %s", config, a.StatusCode, a.Text)
				}
				continue
			}
			if a.StatusCode != 400 || !strings.Contains(a.Text, c.text) || jsonedit.Text([]byte(a.Text), "error", "param") != prefix+c.param || r.up.Total() != before {
				t.Errorf("%s: %d %s, want the parameter %s%s", config, a.StatusCode, a.Text, prefix, c.param)
			}
		}
	}
}

// Default guardrails apply whatever provider, model, host or config the call names, and a caller
// cannot remove or weaken them.
func TestDefaultGuardrails_ApplyWhateverTheCallNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.save("g1", rule, guardrail.Actions{Deny: true})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
	r.dir.config(t, "pc-other", r.target(""))
	r.dir.accounts["saved"] = &credential.Account{Slug: "saved", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "k", "custom_host": r.up.URL() + "/v1"}}
	const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"forbidden"}]}`
	for _, headers := range [][]string{
		r.custom(), {"x-gateway-provider: @saved"}, {"x-gateway-config: pc-other"}, {r.inline("")},
		{r.inline(`"input_guardrails":["g1"]`)}, {r.inline(`"input_guardrails":[{"id":"g1","deny":false,"async":true}]`)},
		{r.inline(`"input_guardrails":[]`)}, r.custom("x-gateway-default-input-guardrails: []", "x-portkey-default-input-guardrails: []"),
	} {
		if a := r.call("POST", "/v1/chat/completions", body, headers...); a.StatusCode != 446 {
			t.Errorf("%.60q: %d %s", headers, a.StatusCode, a.Text)
		}
	}
	if a := r.call("POST", "/v1/chat/completions", strings.Replace(body, `"gpt-4o-mini"`, `"@saved/m"`, 1)); a.StatusCode != 446 {
		t.Errorf("by the model: %d %s", a.StatusCode, a.Text)
	}
	if r.up.Total() != 0 {
		t.Errorf("%d calls reached the provider", r.up.Total())
	}
}
