package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/domain/record/replay"
	"sluice/internal/kernel/fault"
)

func TestOf(t *testing.T) {
	t.Parallel()
	body := func(text string) record.Body { return record.Body{Bytes: []byte(text), Size: int64(len(text))} }
	for name, c := range map[string]struct {
		change  func(*record.Attempt)
		ask     replay.Change
		want    string // "path body provider config"
		refused string // a part of why
	}{
		"as it was":              {want: `/v1/chat/completions {"model":"m"}  pc-routing-3f9x2a`},
		"another model":          {ask: replay.Change{Model: "n"}, want: `/v1/chat/completions {"model":"n"}  pc-routing-3f9x2a`},
		"a model at a provider":  {ask: replay.Change{Model: "@two/n"}, want: `/v1/chat/completions {"model":"@two/n"}  `},
		"another provider":       {ask: replay.Change{Provider: "@two"}, want: `/v1/chat/completions {"model":"m"} @two `},
		"another config":         {ask: replay.Change{Config: `{"provider":"@two"}`}, want: `/v1/chat/completions {"model":"m"}  {"provider":"@two"}`},
		"both":                   {ask: replay.Change{Config: "pc", Provider: "@two"}, refused: "together with config"},
		"a prompt that was none": {ask: replay.Change{Prompt: "p"}, refused: "did not use a saved prompt"},
		"a stream": {
			change: func(a *record.Attempt) {
				a.Request = body(`{"stream":true,"stream_options":{"include_usage":true},"model":"m"}`)
			},
			want: `/v1/chat/completions {"stream":false,"model":"m"}  pc-routing-3f9x2a`,
		},
		"what the client sent": {
			change: func(a *record.Attempt) { a.ClientRequest, a.Request = body(`{"model":"own"}`), body(`{"contents":[]}`) },
			want:   `/v1/chat/completions {"model":"own"}  pc-routing-3f9x2a`,
		},
		"a saved provider": {
			change: func(a *record.Attempt) { a.ConfigID = "" }, want: `/v1/chat/completions {"model":"m"} @openai-main `,
		},
		"a provider in the model": {
			change: func(a *record.Attempt) { a.ConfigID, a.Request = "", body(`{"model":"@a/m"}`) }, want: `/v1/chat/completions {"model":"@a/m"}  `,
		},
		"another version of the prompt": {
			change: func(a *record.Attempt) { a.Path = "/v1/prompts/support/completions" }, ask: replay.Change{Prompt: "support@2"},
			want: `/v1/prompts/support@2/completions {"model":"m"}  pc-routing-3f9x2a`,
		},
		"credentials of its own": {change: func(a *record.Attempt) { a.ConfigID, a.ProviderID = "", "" }, refused: "used its own credentials"},
		"a config of its own":    {change: func(a *record.Attempt) { a.ConfigID = "inline" }, refused: "an inline config"},
		"no body":                {change: func(a *record.Attempt) { a.Request.Bytes = nil }, refused: "its body is not stored"},
		"a part of a body":       {change: func(a *record.Attempt) { a.Request.Truncated = true }, refused: "LOG_BODY_MAX_KB"},
		"a masked credential": {
			change: func(a *record.Attempt) {
				a.Request = body(`{"model":"m","tools":[{"type":"mcp","headers":{"x-key":"***"}}]}`)
			},
			refused: "tools[0].headers.x-key is masked in the log",
		},
		"stars in a message": {
			change: func(a *record.Attempt) {
				a.Request = body(`{"model":"m","messages":[{"role":"user","content":"***"}]}`)
			},
			want: `/v1/chat/completions {"model":"m","messages":[{"role":"user","content":"***"}]}  pc-routing-3f9x2a`,
		},
		"no JSON":        {change: func(a *record.Attempt) { a.Request = body("hello") }, refused: "not a JSON object"},
		"a file":         {change: func(a *record.Attempt) { a.Endpoint = "uploadFile" }, refused: "uploadFile"},
		"a conversation": {change: func(a *record.Attempt) { a.Endpoint = "realtime" }, refused: "realtime"},
		"a custom log":   {change: func(a *record.Attempt) { a.Source = record.FromAPI }, refused: "served"},
	} {
		a := recordtest.Chat(1)
		a.Request = body(`{"model":"m"}`)
		if c.change != nil {
			c.change(a)
		}
		call, err := replay.NewCall(a, c.ask)
		if c.refused != "" {
			if f := fault.From(err); err == nil || f.HTTPStatus() != 400 || !strings.Contains(f.Text(), c.refused) {
				t.Errorf("%s: %v, want a refusal with %q", name, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join([]string{call.Path, string(call.Body), call.Provider, call.Config}, " "); got != c.want || call.AttemptID != a.ID {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	type diff = replay.Difference
	raw := func(s string) json.RawMessage {
		if s == "" {
			return nil
		}
		return json.RawMessage(s)
	}
	for name, c := range map[string]struct {
		a, b string
		want []diff
		ok   bool
	}{
		"the same":         {`{"a":1,"id":"x","created":1}`, `{"created":2,"a":1,"id":"y"}`, nil, true},
		"a value":          {`{"choices":[{"m":{"c":"hi"}}]}`, `{"choices":[{"m":{"c":"ho"}}]}`, []diff{{"$.choices[0].m.c", raw(`"hi"`), raw(`"ho"`)}}, true},
		"a member more":    {`{}`, `{"a":null}`, []diff{{"$.a", nil, raw("null")}}, true},
		"an element less":  {`[1,2]`, `[1]`, []diff{{"$[1]", raw("2"), nil}}, true},
		"another kind":     {`{"a":{}}`, `{"a":[]}`, []diff{{"$.a", raw("{}"), raw("[]")}}, true},
		"a large number":   {`[12345678901234567890]`, `[12345678901234567891]`, []diff{{"$[0]", raw("12345678901234567890"), raw("12345678901234567891")}}, true},
		"an odd name":      {`{"a.b":1}`, `{"a.b":2}`, []diff{{`$["a.b"]`, raw("1"), raw("2")}}, true},
		"an id further in": {`{"a":{"id":1}}`, `{"a":{"id":2}}`, []diff{{"$.a.id", raw("1"), raw("2")}}, true},
		"no JSON":          {`data: {}`, `{}`, nil, false},
		"nothing":          {``, `{}`, nil, false},
	} {
		got, more, ok := replay.Differences([]byte(c.a), []byte(c.b))
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok || more {
			t.Errorf("%s (-want +got), ok %v, more %v:\n%s", name, ok, more, diff)
		}
	}
	many, long := strings.Repeat("1,", 500)+"1", strings.Repeat("x", 2000)
	got, more, _ := replay.Differences([]byte("["+many+"]"), []byte(`["`+long+`"]`))
	if len(got) != 100 || !more || len(got[0].Replay) > 600 || !json.Valid(got[0].Replay) {
		t.Errorf("%d differences, more %v, the first %d bytes", len(got), more, len(got[0].Replay))
	}
}

// Any text differs from itself in nothing, and nothing makes the comparison fail.
func TestDifferencesOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.SampledFrom([]byte(`{}[]",:0a `)), 0, 30).Draw(t, "a")
		b := rapid.SliceOfN(rapid.SampledFrom([]byte(`{}[]",:0a `)), 0, 30).Draw(t, "b")
		if got, _, ok := replay.Differences(a, a); len(got) > 0 || ok && !json.Valid(a) {
			t.Fatalf("%s differs from itself in %v", a, got)
		}
		replay.Differences(a, b)
		replay.Text(a)
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	for response, want := range map[string]string{
		`{"choices":[{"message":{"role":"assistant","content":"Hello"}}]}`:                           "Hello",
		`{"choices":[{"text":"once"},{"text":"twice"}]}`:                                             "once\ntwice",
		`{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","input":{}}]}`:  "Hi",
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"So"}]},{"id":"rs"}]}`: "So",
		`{"data":[{"embedding":[0.1]}]}`:                                                             "",
		`data: {}`:                                                                                   "",
	} {
		if got := replay.Text([]byte(response)); got != want {
			t.Errorf("%s says %q, want %q", response, got, want)
		}
	}
}
