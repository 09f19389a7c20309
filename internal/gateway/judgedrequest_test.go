package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/test/upstream"
)

// Parameters of a config are text of the call: a caller cannot use them to send what a guardrail of the
// organisation denies.
func TestGuardrails_JudgeTheParametersOfTheTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, members string }{
		"override":          {"/v1/chat/completions", hello, `"override_params":{"messages":[{"role":"user","content":"forbidden"}]}`},
		"default":           {"/v1/messages", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, `"default_params":{"system":[{"type":"text","text":"a forbidden text"}]}`},
		"nested":            {"/v1/responses", `{"model":"gpt-4o-mini","input":"Hi"}`, `"override_params":{"prompt":{"id":"p","variables":{"a":"forbidden"}}}`},
		"prompt":            {"/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":"Hi"}`, `"override_params":{"prompt":"forbidden"}`},
		"image":             {"/v1/images/generations", `{"model":"gpt-image-1","prompt":"Hi"}`, `"override_params":{"prompt":"forbidden"}`},
		"passed through":    {"/v1/proxy/v2/chat/completions", hello, `"override_params":{"messages":[{"role":"user","content":"forbidden"}]}`},
		"drop the last one": {"/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"forbidden"},{"role":"user","content":"Hi"}]}`, `"drop_params":["messages[1]"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.save("g1", rule, guardrail.Actions{Deny: true, Scope: "all"})
			r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
			if a := r.call("POST", c.path, c.body, r.inline(c.members)); a.StatusCode == 200 || r.up.Total() != 0 {
				t.Errorf("%d %s, %d calls reached the provider", a.StatusCode, a.Text, r.up.Total())
			}
		})
	}
}

// Parameters do not put back what a hook redacted, also when the call is repeated.
func TestRedaction_CoversTheParametersOfTheTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script(upstream.InTurn(upstream.JSON(500, []byte(`{}`)), upstream.JSON(200, []byte(`{"choices":[]}`))))
	members := removeMail + `,"retry":{"attempts":1,"on_status_codes":[500]},"override_params":{"model":"gpt-4o","messages":[{"role":"user","content":"I am ann@example.com"}]},"default_params":{"temperature":1}`
	a := r.call("POST", "/v1/chat/completions", hello, r.inline(members))
	for _, seen := range r.up.Seen() {
		if body := string(seen.Body); strings.Contains(body, ann) || !strings.Contains(body, "I am [EMAIL_ADDRESS]") || !strings.Contains(body, `"gpt-4o"`) || !strings.Contains(body, `"temperature":1`) {
			t.Errorf("%d: the provider received %s", a.StatusCode, body)
		}
	}
	if r.up.Total() != 2 {
		t.Errorf("%d calls: %s", r.up.Total(), a.Text)
	}
	r.expectHidden(t, ann)
}

// A caller cannot make a call unreadable for the guardrails of its config.
func TestGuardrails_RefuseKnownFormatsThatTheyCannotRead(t *testing.T) {
	t.Parallel()
	many := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 100_000) + `{"type":"text","text":"forbidden ann@example.com"}]}]}`
	for name, members := range map[string]string{
		"denial":     `"input_guardrails":[{"id":"g1","deny":true,` + shorthandRule + `}]`,
		"redaction":  removeMail,
		"reversible": hideMail,
		"mutator":    `"input_mutators":[{"id":"m","regexReplace":{"rule":"ann@example.com","redactText":"[mail]"}}]`,
	} {
		r := newRig(t)
		if a := r.call("POST", "/v1/chat/completions", many, r.inline(members)); a.StatusCode != 446 || r.up.Total() != 0 {
			t.Errorf("%s: %d %.300s", name, a.StatusCode, a.Text)
		}
		r.expectHidden(t, ann)
	}
}

// The prompt of a form is judged as the provider reads it: a second one, a long one or one in a file does
// not pass unread, and parameters of the target count.
func TestGuardrails_JudgeEachPromptOfAForm(t *testing.T) {
	t.Parallel()
	body, contentType := promptForm("image", "fine")
	second := strings.Replace(body, "name=\"prompt\"\r\n\r\nfine\r\n", "name=\"prompt\"\r\n\r\nfine\r\n--xxBOUNDARYxx\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nforbidden\r\n", 1)
	long := strings.Replace(body, "fine", strings.Repeat("long ", 1<<20)+"forbidden", 1)
	file := strings.Replace(body, `name="prompt"`, `name="prompt"; filename="a.txt"`, 1)
	for name, c := range map[string]struct{ body, members string }{
		"two prompts": {second, ""}, "long": {long, ""}, "file": {strings.Replace(file, "fine", "forbidden", 1), ""},
		"override": {body, `,"override_params":{"prompt":"forbidden"}`},
	} {
		r := newRig(t)
		a := r.call("POST", "/v1/images/edits", c.body, "content-type: "+contentType, r.inline(`"input_guardrails":[{"id":"g1","deny":true,`+shorthandRule+`}]`+c.members))
		if a.StatusCode == 200 || r.up.Total() != 0 {
			t.Errorf("%s: %d %s, %d calls", name, a.StatusCode, a.Text, r.up.Total())
		}
	}
}

// Each field of a form that carries text is judged, not only the prompt, and a redaction changes the field that has
// the text. Fields without text pass unchanged.
func TestGuardrails_JudgeEachTextFieldOfAForm(t *testing.T) {
	t.Parallel()
	body, contentType := promptForm("image", "fine")
	field := func(name, value string) string {
		return strings.Replace(body, "--xxBOUNDARYxx--", "--xxBOUNDARYxx\r\nContent-Disposition: form-data; name=\""+name+"\"\r\n\r\n"+value+"\r\n--xxBOUNDARYxx--", 1)
	}
	deny, redact := `"input_guardrails":[{"id":"g1","deny":true,`+shorthandRule+`}]`, `"input_mutators":[{"id":"m","regexReplace":{"rule":"forbidden","redactText":"***"}}]`
	for path, file := range map[string]string{"/v1/images/edits": "image", "/v1/audio/transcriptions": "file", "/v1/audio/translations": "file"} {
		field := func(name, value string) string {
			return strings.Replace(field(name, value), `name="image"`, `name="`+file+`"`, 1)
		}
		for _, name := range []string{"negative_prompt", "text", "instructions", "input", "search_prompt", "keywords[]"} {
			r := newRig(t)
			if a := r.call("POST", path, field(name, "a forbidden text"), "content-type: "+contentType, r.inline(deny)); a.StatusCode != 446 || r.up.Total() != 0 {
				t.Errorf("%s, %s: %d %s", path, name, a.StatusCode, a.Text)
			}
			if file != "image" {
				continue // the provider has no such field, so the call without the guardrail is refused
			}
			r = newRig(t)
			a := r.call("POST", path, field(name, "a forbidden text"), "content-type: "+contentType, r.inline(redact))
			if r.up.Total() != 1 {
				t.Errorf("%s, %s: %d %s", path, name, a.StatusCode, a.Text)
				continue
			}
			if got := string(r.up.Seen()[0].Body); got != field(name, "a *** text") {
				t.Errorf("%s, %s: sent %q", path, name, got)
			}
			r.expectHidden(t, "forbidden")
		}
	}
	for _, members := range []string{`,"override_params":{"negative_prompt":"a forbidden text"}`, `,"default_params":{"keywords":["one","a forbidden text"]}`} {
		r := newRig(t)
		if a := r.call("POST", "/v1/images/edits", body, "content-type: "+contentType, r.inline(deny+members)); a.StatusCode != 446 {
			t.Errorf("%s: %d %s", members, a.StatusCode, a.Text)
		}
		a := r.call("POST", "/v1/images/edits", body, "content-type: "+contentType, r.inline(redact+members))
		if r.up.Total() != 1 {
			t.Errorf("%s: %d %s", members, a.StatusCode, a.Text)
			continue
		}
		if got := string(r.up.Seen()[0].Body); strings.Contains(got, "forbidden") || !strings.Contains(got, "a *** text") {
			t.Errorf("%s: sent %q", members, got)
		}
	}
}

// A successful response is judged whatever its exact status.
func TestGuardrails_JudgeResponsesOfEachSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script(upstream.Always(upstream.JSON(201, []byte(`{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"a forbidden text"},"finish_reason":"stop"}]}`))))
	a := r.call("POST", "/v1/chat/completions", hello, r.inline(`"output_guardrails":[{"id":"g1","deny":true,`+shorthandRule+`}]`))
	if a.StatusCode != 446 || strings.Contains(a.Text, "a forbidden text") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}
