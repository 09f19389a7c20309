package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// targets writes a fallback config over the rig's upstream: one target per model.
func (r *rig) targets(extra string, models ...string) string {
	var list []string
	for _, m := range models {
		list = append(list, fmt.Sprintf(`{"provider":"openai","api_key":"sk-up","custom_host":"%s/v1","override_params":{"model":%q}}`, r.up.URL(), m))
	}
	return fmt.Sprintf(`{"strategy":{"mode":"fallback"%s},"targets":[%s]}`, extra, strings.Join(list, ","))
}

func TestFallback(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		models []string
		stream bool
		index  string
		trail  []record.Outcome
	}{
		{"a server error", []string{"fault:status@500", "gpt-4o"}, false, "config.targets[1]", []record.Outcome{record.Failed, record.OK}},
		{"malformed JSON", []string{"fault:garbage-json", "gpt-4o"}, false, "config.targets[1]", []record.Outcome{record.Invalid, record.OK}},
		{"an error with a status of success", []string{"fault:error-200", "gpt-4o"}, false, "config.targets[1]", []record.Outcome{record.Invalid, record.OK}},
		{"a web page", []string{"fault:html", "gpt-4o"}, false, "config.targets[1]", []record.Outcome{record.Invalid, record.OK}},
		{"a cut answer", []string{"fault:cut-body", "gpt-4o"}, false, "config.targets[1]", []record.Outcome{record.Unreachable, record.OK}},
		{"an error as the first event", []string{"fault:error-first", "gpt-4o"}, true, "config.targets[1]", []record.Outcome{record.Failed, record.OK}},
		{"a stream without events", []string{"fault:no-events", "gpt-4o"}, true, "config.targets[1]", []record.Outcome{record.Unreachable, record.OK}},
		{"two bad ones", []string{"fault:status@500", "fault:reset", "gpt-4o"}, false, "config.targets[2]", []record.Outcome{record.Failed, record.Unreachable, record.OK}},
		{"all bad: the last answers", []string{"fault:status@500", "fault:status@503"}, false, "config.targets[1]", []record.Outcome{record.Failed, record.Failed}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			body := hello
			if c.stream {
				body = strings.Replace(hello, "{", `{"stream":true,`, 1)
			}
			a := r.call("POST", "/v1/chat/completions", body, "x-gateway-config: "+r.targets("", c.models...))
			if got := a.Header.Get("x-gateway-last-used-option-index"); got != c.index {
				t.Errorf("answered by %s with %d %s", got, a.StatusCode, a.Text)
			}
			rows := r.journal.all()
			if len(rows) != len(c.trail) {
				t.Fatalf("%d records, want %d", len(rows), len(c.trail))
			}
			for i, row := range rows {
				if row.Outcome != c.trail[i] || row.TraceID != rows[0].TraceID || row.RequestID != rows[0].RequestID || int(row.Number) != i {
					t.Errorf("record %d: %s, number %d, trace %s", i, row.Outcome, row.Number, row.TraceID)
				}
			}
		})
	}
}

// An endpoint that one target cannot serve moves the fallback on, whatever its
// status list says.
func TestFallbackOverUnsupported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cfg := fmt.Sprintf(`{"strategy":{"mode":"fallback","on_status_codes":[429]},"targets":[{"provider":"deepseek","api_key":"k"},{"provider":"openai","api_key":"k","custom_host":"%s/v1"}]}`, r.up.URL())
	a := r.call("POST", "/v1/embeddings", `{"model":"text-embedding-3-small","input":"x"}`, "x-gateway-config: "+cfg)
	if a.StatusCode != 200 || a.Header.Get("x-gateway-last-used-option-index") != "config.targets[1]" {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	fail := upstream.OpenAIError(503, "server_error", "", "later")
	limit := upstream.Response{Status: 429, Header: []upstream.Field{{Name: "retry-after-ms", Value: "20"}}}
	long := upstream.Response{Status: 429, Header: []upstream.Field{{Name: "retry-after", Value: "70"}}}
	cases := []struct {
		name    string
		replies []upstream.Response
		retry   string
		status  int
		count   string
		calls   int
	}{
		{"none configured", []upstream.Response{fail}, ``, 503, "0", 1},
		{"first try good", nil, `"retry":{"attempts":2},`, 200, "0", 1},
		{"retry-after is waited for", []upstream.Response{limit}, `"retry":{"attempts":2,"use_retry_after_headers":true},`, 200, "1", 2},
		{"a wait that is too long is refused", []upstream.Response{long}, `"retry":{"attempts":2,"use_retry_after_header":true},`, 429, "-1", 1},
		{"a status that is not listed", []upstream.Response{fail}, `"retry":{"attempts":2,"on_status_codes":[429]},`, 503, "0", 1},
		{"second try good", []upstream.Response{fail}, `"retry":{"attempts":1},`, 200, "1", 2},
		{"used up", []upstream.Response{fail, fail}, `"retry":{"attempts":1},`, 503, "-1", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.InTurn(c.replies...))
			cfg := fmt.Sprintf(`{%s"provider":"openai","api_key":"k","custom_host":"%s/v1"}`, c.retry, r.up.URL())
			a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+cfg)
			if got := a.Header.Get("x-gateway-retry-attempt-count"); a.StatusCode != c.status || got != c.count || len(r.up.Seen()) != c.calls {
				t.Errorf("%d after %s retries and %d calls: %s", a.StatusCode, got, len(r.up.Seen()), a.Text)
			}
			r.journal.one(t)
		})
	}
}

// A stream that dies goes on at the next target when the config says so: one
// answer, one id, one usage, one mark.
func TestContinueStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := strings.Replace(hello, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1)
	a := r.call("POST", "/v1/chat/completions", body, "x-gateway-config: "+strings.Replace(r.targets("", "fault:cut-stream@4", "gpt-4o"), `{"strategy"`, `{"continue_stream":true,"strategy"`, 1))
	var ids = map[string]bool{}
	usages, marks, text := 0, 0, ""
	for ev := range strings.SplitSeq(a.Text, "\n\n") {
		data, ok := strings.CutPrefix(ev, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			ID      string
			Choices []struct{ Delta struct{ Content string } }
			Usage   *struct{}
			Mark    *struct{ Type string } `json:"gateway_event"`
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		ids[chunk.ID] = true
		if chunk.Usage != nil {
			usages++
		}
		if chunk.Mark != nil && chunk.Mark.Type == "stream_continued" {
			marks++
		}
		for _, ch := range chunk.Choices {
			text += ch.Delta.Content
		}
	}
	if len(ids) != 1 || usages != 1 || marks != 1 || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") || !strings.Contains(text, "You ") {
		t.Errorf("%d ids, %d usages, %d marks:\n%s", len(ids), usages, marks, a.Text)
	}
	rows := r.journal.all()
	if len(rows) != 2 || rows[0].Outcome != record.Truncated || !rows[1].Continued || rows[1].Outcome != record.OK {
		t.Errorf("records %+v", rows)
	}
	second := string(r.up.Seen()[1].Body)
	if !strings.Contains(second, `{"role":"assistant","content":"You `) || !json.Valid([]byte(second)) {
		t.Errorf("the second target was sent %s", second)
	}
}

// Without another target the reader of a dead stream is told.
func TestContinueStreamWithoutTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := strings.Replace(hello, "{", `{"stream":true,`, 1)
	cfg := strings.Replace(r.targets("", "fault:cut-stream@4", "fault:status@500"), `{"strategy"`, `{"continue_stream":true,"strategy"`, 1)
	a := r.call("POST", "/v1/chat/completions", body, "x-gateway-config: "+cfg)
	if !strings.Contains(a.Text, `data: {"error":{`) || strings.Contains(a.Text, "[DONE]") {
		t.Errorf("%s", a.Text)
	}
}

func TestSavedProviders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	past := time.Now().Add(-time.Hour)
	account := func(slug string, change func(*credential.Account)) {
		a := &credential.Account{Slug: slug, Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"}}
		if change != nil {
			change(a)
		}
		r.dir.accounts[slug] = a
	}
	account("good", nil)
	account("renewed", func(a *credential.Account) { a.Status = "exhausted" }) // the worker has not come to it since its reset
	account("spent", func(a *credential.Account) { a.Kind, a.RecordID = credential.ProviderKind, ident.NewID() })
	spent := r.limited(credential.ProviderKind, r.dir.accounts["spent"].RecordID, quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}}).Budgets[0]
	spent.Amount = spent.Limit
	if i, _, _ := r.limiter.Take(time.Now(), []quota.Hold{spent}); i >= 0 {
		t.Fatal("the budget is used up already")
	}
	account("old", func(a *credential.Account) { a.ExpiresAt = &past })
	account("picky", func(a *credential.Account) {
		a.AllModels, a.Models = false, []credential.Model{{Slug: "gpt-4o", Enabled: true}}
	})
	r.dir.config(t, "pc-good", `{"provider":"@good"}`)
	cases := []struct {
		name    string
		model   string
		headers []string
		status  int
		message string
	}{
		{"by provider header", "gpt-4o", []string{"x-gateway-provider: @good"}, 200, "choices"},
		{"by virtual key", "gpt-4o", []string{"x-gateway-virtual-key: good"}, 200, "choices"},
		{"by model", "@good/gpt-4o", nil, 200, "choices"},
		{"by saved config", "gpt-4o", []string{"x-gateway-config: pc-good"}, 200, "choices"},
		{"key as a bearer token", "@good/gpt-4o", []string{"x-gateway-api-key", "authorization: Bearer " + key}, 200, "choices"},
		{"key as x-api-key", "@good/gpt-4o", []string{"x-gateway-api-key", "x-api-key: " + key}, 200, "choices"},
		{"key of an Azure client", "@good/gpt-4o", []string{"x-gateway-api-key", "api-key: " + key}, 200, "choices"},
		{"key of a Google client", "@good/gpt-4o", []string{"x-gateway-api-key", "x-goog-api-key: " + key}, 200, "choices"},
		{"a provider's key beside it", "@good/gpt-4o", []string{"api-key: sk-azure", "x-goog-api-key: AIza"}, 200, "choices"},
		{"a provider's key alone", "@good/gpt-4o", []string{"x-gateway-api-key", "x-goog-api-key: AIza"}, 401, "unknown API key; if Authorization contains a provider key, send the gateway key in x-gateway-api-key"},
		{"pass-through target: the header comes before the model", "@spent/gpt-4o", []string{"x-gateway-provider: @good", `x-gateway-config: {"passthrough":true}`}, 200, "choices"},
		{"used up", "@spent/gpt-4o", nil, 412, "virtual_key_exhaust_error"},
		{"used up until its reset", "@renewed/gpt-4o", nil, 200, "choices"},
		{"expired", "@old/gpt-4o", nil, 401, "virtual_key_expired_error"},
		{"model allowed", "@picky/gpt-4o", nil, 200, "choices"},
		{"model not allowed", "@picky/o3", nil, 412, "model_not_allowed_error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := r.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", c.model, 1), c.headers...)
			if a.StatusCode != c.status || !strings.Contains(a.Text, c.message) {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
	for _, s := range r.up.Seen() {
		auth := ""
		for _, f := range s.Header {
			if strings.EqualFold(f.Name, "authorization") {
				auth = f.Value
			}
			if strings.Contains(f.Value, key) {
				t.Errorf("the gateway key went upstream in %s", f.Name)
			}
		}
		if auth != "Bearer sk-saved" || !strings.Contains(string(s.Body), `"model":"gpt-4o"`) {
			t.Errorf("sent %s with %s", s.Body, auth)
		}
	}
}

// An error as the first event is told in the words of the surface, whatever keeps the
// stream open before it, and nobody waits for the rest of the stream.
func TestFirstEventError(t *testing.T) {
	t.Parallel()
	const failed = "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded, come back"}}` + "\n\n"
	for name, chunks := range map[string][]string{"at once": {failed}, "behind a ping": {"event: ping\ndata: {\"type\": \"ping\"}\n\n", failed}} {
		for path, body := range map[string]string{
			"/v1/messages":         `{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"x"}]}`,
			"/v1/chat/completions": `{"model":"claude-opus-4-5","stream":true,"messages":[{"role":"user","content":"x"}]}`,
			"/v1/responses":        `{"model":"claude-opus-4-5","stream":true,"input":"x"}`,
		} {
			r := newRig(t)
			e := events(chunks...)
			e.End = upstream.Hang
			r.up.Handle("/v1/messages", upstream.Always(e))
			a := r.call("POST", path, body, "x-gateway-provider: anthropic", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL()+"/v1")
			if a.StatusCode != 529 || !strings.Contains(a.Text, `"type":"overloaded_error"`) || !strings.Contains(a.Text, `"message":"anthropic error: Overloaded, come back"`) {
				t.Errorf("%s, %s: %d %s", path, name, a.StatusCode, a.Text)
			}
			if row := r.journal.one(t); !strings.Contains(string(row.Response.Bytes), "come back") || row.Outcome != record.Failed {
				t.Errorf("%s, %s: on record %s %s", path, name, row.Outcome, row.Response.Bytes)
			}
		}
	}
}
