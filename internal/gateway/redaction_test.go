package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/test/upstream"
)

// mailRule replaces mail addresses.
const mailRule = `{"id":"gateway.pii","parameters":{"categories":["EMAIL_ADDRESS"],"redact":true}}`

// What a hook redacts reaches neither the provider nor the log, on each API and with each dialect of a
// provider, with and without a stream.
func TestRedaction_ReachesTheBytesThatAreSent(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			for _, config := range []string{removeMail, hideMail} {
				t.Run(p.name+s.path+config[22:30], func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, []string{"fine"})))
					body := strings.Replace(fmt.Sprintf(s.request, p.model), `"Hi"`, `"I am `+ann+`"`, 1)
					headers := append(p.headers(r), `x-gateway-config: {`+config+`}`)
					r.call("POST", s.path, body, headers...)
					r.call("POST", s.path, strings.Replace(body, `"stream":true,`, "", 1), headers...)
					if r.up.Total() != 2 || !strings.Contains(string(r.up.Seen()[0].Body), "[EMAIL_ADDRESS") {
						t.Errorf("the provider received %d calls, first %s", r.up.Total(), r.up.Seen()[0].Body)
					}
					r.journal.some(t, 2)
					r.expectHidden(t, ann)
				})
			}
		}
	}
}

// Redaction covers the other endpoints with text, too, and bodies that are passed through.
func TestRedaction_CoversAllEndpointsWithText(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		body    string
		headers []string
	}{
		"/v1/completions":                                 {`{"model":"gpt-3.5-turbo-instruct","prompt":"ann@example.com"}`, nil},
		"/v1/embeddings":                                  {`{"model":"text-embedding-3-small","input":["a","ann@example.com"]}`, nil},
		"/v1/moderations":                                 {`{"model":"omni-moderation-latest","input":"ann@example.com"}`, nil},
		"/v1/images/generations":                          {`{"model":"gpt-image-1","prompt":"ann@example.com"}`, nil},
		"/v1/audio/speech":                                {`{"model":"tts-1","voice":"alloy","input":"ann@example.com"}`, nil},
		"/v1/proxy/v1/chat/completions":                   {`{"model":"gpt-4o","messages":[{"role":"user","content":"ann@example.com"}]}`, nil},
		"/v1/messages/count_tokens":                       {`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"ann@example.com"}]}`, []string{"x-gateway-provider: anthropic"}},
		"/v1/responses/input_tokens":                      {`{"model":"gpt-4o","input":"ann@example.com"}`, nil},
		"/v1beta/models/gemini-2.5-flash:generateContent": {`{"contents":[{"role":"user","parts":[{"text":"ann@example.com"}]}]}`, []string{"x-gateway-provider: google"}},
	} {
		for _, config := range []string{removeMail, hideMail} {
			t.Run(path+config[22:30], func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				a := r.call("POST", path, c.body, append(r.custom(`x-gateway-config: {`+config+`}`), c.headers...)...)
				if r.up.Total() == 0 || !strings.Contains(string(r.up.Seen()[0].Body), "[EMAIL_ADDRESS") {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
				r.expectHidden(t, ann)
			})
		}
	}
}

// However a call ends, its record has no text that a hook redacts: a denial before or after the
// redaction, an error of the provider that repeats the request, a call that reaches no provider.
func TestRedaction_AppliesToTheLogHoweverTheCallEnds(t *testing.T) {
	t.Parallel()
	const deny = `{"id":"deny","deny":true,"contains":{"words":["forbidden"],"operator":"none"}}`
	const remove = `{"id":"remove","pii":{"categories":["EMAIL_ADDRESS"],"redact":true}}`
	const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"forbidden ann@example.com"}]}`
	for name, c := range map[string]struct {
		hooks  string
		status int
	}{
		"denied after the redaction":  {remove + "," + deny, 446},
		"denied before the redaction": {deny + "," + remove, 446},
		"denied in the same hook":     {`{"id":"both","deny":true,"pii":{"categories":["EMAIL_ADDRESS"],"redact":true},"contains":{"words":["forbidden"],"operator":"none"}}`, 446},
		"an error that repeats it":    {remove, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
				out := upstream.JSON(400, []byte(`{"error":{"message":`+quoted("bad request: "+string(s.Body))+`,"type":"invalid_request_error"}}`))
				return &out
			})
			a := r.call("POST", "/v1/chat/completions", body, r.inline(`"input_guardrails":[`+c.hooks+`]`))
			if a.StatusCode != c.status {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			r.journal.one(t)
			r.expectHidden(t, ann)
		})
	}
	for name, headers := range map[string][]string{
		"an unknown provider": {"x-gateway-provider: @nowhere"},
		"an invalid config":   {"x-gateway-config: {"},
		"no target":           nil,
	} {
		r := newRig(t)
		r.save("g1", mailRule, guardrail.Actions{})
		r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
		if a := r.call("POST", "/v1/chat/completions", body, headers...); a.StatusCode < 400 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
		r.journal.one(t)
		r.expectHidden(t, ann)
	}
}

// The results of other checks do not quote what a redaction of the same phase removed.
func TestRedaction_AppliesToTheResultsOfOtherChecks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90) + " "
	for _, order := range []string{`"a":{"id":"wordCount","minWords":1},` + `"b":{"id":"gateway.pii","categories":["EMAIL_ADDRESS"],"redact":true}`, `"b":{"id":"regexReplace","rule":"/ann@[a-z.]+/g"},"a":{"id":"wordCount","minWords":1}`} {
		for _, text := range []string{"I am ann@example.com", long + "ann@example.com"} {
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(chatResponse("I see bob@example.com")))
			a := r.call("POST", "/v1/chat/completions", fmt.Sprintf(textSurfaces[0].request, text), r.inline(`"input_guardrails":[{"id":"in",`+order+`}],"output_guardrails":[{"id":"out",`+strings.ReplaceAll(order, "ann@", "bob@")+`}]`))
			if a.StatusCode != 200 || strings.Contains(a.Text, "bob@e") || strings.Contains(a.Text, "ann@e") {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			row := r.journal.one(t)
			if text := recordedText(&row); strings.Contains(text, "bob@e") || strings.Contains(text, "x ann") {
				t.Errorf("record: %s", text)
			}
			r.expectHidden(t, "ann@e")
		}
	}
}

// Without recorded bodies, the record of the hooks has verdicts, counts and times, but no text.
func TestHooksOnRecord_HaveNoTextWithoutBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.inline(`"input_guardrails":[{"id":"g","wordCount":{"minWords":1},"pii":{"categories":["EMAIL_ADDRESS"]}}]`), "x-gateway-debug: false")
	row := r.journal.one(t)
	for _, want := range []string{`"wordCount":2`, `"verdict":true`, `"execution_time":`} {
		if !strings.Contains(row.Hooks, want) {
			t.Errorf("%s is missing: %s", want, row.Hooks)
		}
	}
	if text := recordedText(&row); strings.Contains(text, "Hello") {
		t.Errorf("record: %s", text)
	}
}

// Two redactions of one phase both apply, to all messages whatever the scope of the hook, in whatever
// way they are attached.
func TestRedactions_DoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	const mail, word = `"pii":{"categories":["EMAIL_ADDRESS"],"redact":true}`, `"regexReplace":{"rule":"/project x/g","redactText":"[PROJECT]"}`
	for name, members := range map[string]string{
		"in one hook":           `"input_guardrails":[{"id":"a","scope":"last_message",` + mail + `,` + word + `}]`,
		"in one hook, in order": `"input_guardrails":[{"id":"a","sequential":true,` + mail + `,` + word + `}]`,
		"in two hooks":          `"input_guardrails":[{"id":"a",` + mail + `},{"id":"b",` + word + `}]`,
		"in two mutators":       `"input_mutators":[{"id":"a",` + word + `},{"id":"b",` + mail + `}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"system","content":"project x of ann@example.com"},{"role":"user","content":"ann@example.com: project x"},{"role":"assistant","content":"project x"},{"role":"user","content":"Hi"}]}`, r.inline(members))
			got := string(r.up.Seen()[0].Body)
			if a.StatusCode != 200 || strings.Contains(got, "project x") || strings.Contains(got, ann) || strings.Count(got, "[PROJECT]") != 3 || strings.Count(got, "[EMAIL_ADDRESS]") != 2 {
				t.Errorf("%d, sent %s", a.StatusCode, got)
			}
		})
	}
}

// In the history of a conversation with Claude, a signed block stays as it is or goes as a whole, and
// no turn or id of a tool call is lost.
func TestRedaction_KeepsSignedHistoryValid(t *testing.T) {
	t.Parallel()
	const plain = `{"type":"thinking","thinking":"I need the weather","signature":"c2lnbmVkMQ=="}`
	const found = `{"type":"thinking","thinking":"ann@example.com asks","signature":"c2lnbmVkMg=="}`
	const secretBlock = `{"type":"redacted_thinking","data":"b3BhcXVl"}`
	body := `{"model":"claude-sonnet-4-5","max_tokens":100,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"Mail ann@example.com"},` +
		`{"role":"assistant","content":[` + plain + `,` + secretBlock + `,{"type":"tool_use","id":"toolu_1","name":"mail","input":{"to":"ann@example.com"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"sent to ann@example.com"}]},` +
		`{"role":"assistant","content":[` + found + `,{"type":"tool_use","id":"toolu_2","name":"mail","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"ann@example.com"}]}]}]}`
	for _, config := range []string{removeMail, hideMail} {
		r := newRig(t)
		p := streamingProviders[slices.IndexFunc(streamingProviders, func(p streamingProvider) bool { return p.name == "anthropic" })]
		r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(200, []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"t","signature":"cw=="},{"type":"text","text":"done"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":5}}`))))
		a := r.call("POST", "/v1/messages", body, append(p.headers(r), `x-gateway-config: {`+config+`}`)...)
		if a.StatusCode != 200 || r.up.Total() != 1 {
			t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
		got := string(r.up.Seen()[0].Body)
		for _, want := range []string{plain, secretBlock, `"id":"toolu_1"`, `"id":"toolu_2"`, `"tool_use_id":"toolu_1"`, `"tool_use_id":"toolu_2"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in %s", want, got)
			}
		}
		if strings.Contains(got, "c2lnbmVkMg==") || strings.Count(got, `"role":`) != 5 {
			t.Errorf("sent %s", got)
		}
		r.expectHidden(t, ann)
	}
}
