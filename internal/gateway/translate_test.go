package gateway_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
	"sluice/internal/test/upstream"
)

// gemini are the headers that send a call to the rig's upstream as if it were Google.
func (r *rig) gemini(more ...string) []string {
	return append([]string{"x-gateway-provider: google", "authorization: Bearer AIza-upstream", "x-gateway-custom-host: " + r.up.URL()}, more...)
}

const (
	geminiPath     = "/v1beta/models/gemini-2.5-flash:generateContent"
	geminiStream   = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
	geminiResponse = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6},"modelVersion":"gemini-2.5-flash"}`
	ask = `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Hello there"}]}`
)

func events(texts ...string) upstream.Response {
	p := make([]upstream.Chunk, len(texts))
	for i, t := range texts {
		p[i] = upstream.Chunk{Bytes: []byte(t)}
	}
	return upstream.Response{Header: []upstream.Field{{Name: "Content-Type", Value: "text/event-stream"}}, Framing: upstream.Chunked, Chunks: p}
}

func TestTranslatedChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	a := r.call("POST", "/v1/chat/completions", ask, r.gemini()...)
	for _, want := range []string{`"object":"chat.completion"`, `"content":"Hello"`, `"finish_reason":"stop"`, `"total_tokens":6`, `"provider":"google"`, `"id":"chatcmpl-`} {
		if a.StatusCode != 200 || !strings.Contains(a.Text, want) {
			t.Errorf("%d without %s: %s", a.StatusCode, want, a.Text)
		}
	}
	if got := a.Header.Get("content-type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if a.Header.Get("x-gateway-dropped-params") != "" {
		t.Errorf("dropped %q", a.Header.Get("x-gateway-dropped-params"))
	}
	row := r.journal.one(t)
	if row.Usage.TotalTokens != 6 || row.ResponseModel != "gemini-2.5-flash" || row.Provider != "google" || row.Outcome != "ok" {
		t.Errorf("record %+v", row)
	}
	if body := string(r.up.Seen()[0].Body); !strings.Contains(body, `"contents":[{"role":"user","parts":[{"text":"Hello there"}]}]`) || strings.Contains(body, "messages") {
		t.Errorf("sent %s", body)
	}
}

func TestTranslatedStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiStream, upstream.Always(events(
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]},"index":0}],"modelVersion":"gemini-2.5-flash"}`+"\n\n",
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}`+"\n\n",
	)))
	body := strings.Replace(ask, "{", `{"stream":true,`, 1)
	a := r.call("POST", "/v1/chat/completions", body, r.gemini()...)
	if a.StatusCode != 200 || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") || !strings.Contains(a.Text, `"content":"Hel"`) || !strings.Contains(a.Text, `"content":"lo"`) {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if strings.Contains(a.Text, `"usage"`) {
		t.Errorf("usage that was not asked for: %s", a.Text)
	}
	if row := r.journal.one(t); row.Usage.TotalTokens != 6 || row.Outcome != "ok" || !row.Stream {
		t.Errorf("record %+v", row)
	}
}

// A stream that the provider cuts, or that holds an error, ends in an error event and
// never in [DONE].
func TestTranslatedStreamBreaks(t *testing.T) {
	t.Parallel()
	first := `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]},"index":0}]}` + "\n\n"
	cases := []struct {
		name, outcome string
		response      upstream.Response
	}{
		{"cut", "truncated", func() upstream.Response { e := events(first); e.End = upstream.Cut; return e }()},
		{"error", "failed", events(first, `data: {"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}`+"\n\n")},
		{"garbage", "truncated", events(first, "data: <html>\n\n")},
		{"calls without end", "truncated", events(first,
			`data: {"candidates":[{"content":{"parts":[`+strings.Repeat(`{"functionCall":{"name":"f","args":{}}},`, 20_000)+`{"text":"!"}]},"finishReason":"STOP"}]}`+"\n\n")},
	}
	for _, c := range cases {
		r := newRig(t)
		r.up.Handle(geminiStream, upstream.Always(c.response))
		a := r.call("POST", "/v1/chat/completions", strings.Replace(ask, "{", `{"stream":true,`, 1), r.gemini()...)
		if !strings.Contains(a.Text, `data: {"error":`) || strings.Contains(a.Text, "[DONE]") {
			t.Errorf("%s: %s", c.name, a.Text)
		}
		if row := r.journal.one(t); string(row.Outcome) != c.outcome {
			t.Errorf("%s: record %s %s", c.name, row.Outcome, row.Error)
		}
	}
}

// An answer that cannot be read, an error status and an error as the first event let
// the next target answer, in its own shape.
func TestTranslatedFallback(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]upstream.Response{
		"garbage": upstream.JSON(200, []byte(`{"candidates":7}`)), "status": upstream.JSON(503, []byte(`{"error":{"code":503,"message":"busy"}}`)),
		"page": {Header: []upstream.Field{{Name: "Content-Type", Value: "text/html"}}, Chunks: []upstream.Chunk{{Bytes: []byte("<html>")}}},
	} {
		r := newRig(t)
		r.up.Handle(geminiPath, upstream.Always(bad))
		config := `{"strategy":{"mode":"fallback"},"targets":[` +
			`{"provider":"google","api_key":"k","custom_host":"` + r.up.URL() + `"},` +
			`{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","override_params":{"model":"gpt-4o-mini"}}]}`
		a := r.call("POST", "/v1/chat/completions", ask, "x-gateway-config: "+config)
		if a.StatusCode != 200 || a.Header.Get("x-gateway-last-used-option-index") != "config.targets[1]" || !strings.Contains(a.Text, `"choices"`) {
			t.Errorf("%s: %d %s %s", name, a.StatusCode, a.Header.Get("x-gateway-last-used-option-index"), a.Text)
		}
	}
}

// What the target cannot carry is named in a header and on record; a caller who asks
// for it is refused instead, before anything is sent.
func TestDroppedParams(t *testing.T) {
	t.Parallel()
	body := strings.Replace(ask, "{", `{"logit_bias":{"1":2},"x_mine":true,`, 1)
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	a := r.call("POST", "/v1/chat/completions", body, r.gemini()...)
	const dropped = "logit_bias, x_mine"
	if got := a.Header.Get("x-gateway-dropped-params"); a.StatusCode != 200 || got != dropped {
		t.Errorf("%d dropped %q", a.StatusCode, got)
	}
	if row := r.journal.one(t); row.Dropped != dropped {
		t.Errorf("record %q", row.Dropped)
	}
	a = r.call("POST", "/v1/chat/completions", body, r.gemini("x-gateway-strict-params: true")...)
	if a.StatusCode != http.StatusBadRequest || !strings.Contains(a.Text, dropped) || r.up.Total() != 1 {
		t.Errorf("%d %s after %d calls", a.StatusCode, a.Text, r.up.Total())
	}
}

// Names of lost fields are the caller's own words: they may be as long as a body, and as
// many. What is said of them is short all the same, and the answer is given.
func TestDroppedParamsAreBounded(t *testing.T) {
	t.Parallel()
	many := make([]string, 2000)
	for i := range many {
		many[i] = `"field` + strconv.Itoa(i) + `":1`
	}
	for name, c := range map[string]struct{ fields, dropped string }{
		"long": {`"` + strings.Repeat("x", 5000) + `":1`, "..."},
		"many": {strings.Join(many, ","), "field0, field1, "},
	} {
		body := strings.Replace(ask, "{", "{"+c.fields+",", 1)
		r := newRig(t)
		r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
		a := r.call("POST", "/v1/chat/completions", body, r.gemini()...)
		got := a.Header.Get("x-gateway-dropped-params")
		if a.StatusCode != 200 || !strings.HasPrefix(got, c.dropped) || !strings.HasSuffix(got, "...") || len(got) > 4200 {
			t.Errorf("%s: %d dropped %d bytes: %.80q", name, a.StatusCode, len(got), got)
		}
		if row := r.journal.one(t); row.Dropped != got {
			t.Errorf("%s: record of %d bytes", name, len(row.Dropped))
		}
		a = r.call("POST", "/v1/chat/completions", body, r.gemini("x-gateway-strict-params: true")...)
		if a.StatusCode != http.StatusBadRequest || len(a.Text) > 5000 {
			t.Errorf("%s: %d with %d bytes", name, a.StatusCode, len(a.Text))
		}
	}
}

// A call for a stream that the provider answers whole is streamed all the same.
func TestWholeAnswerToStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiStream, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	a := r.call("POST", "/v1/chat/completions", strings.Replace(ask, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1), r.gemini()...)
	if !strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream") || !strings.Contains(a.Text, `"content":"Hello"`) || !strings.Contains(a.Text, `"total_tokens":6`) || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") {
		t.Errorf("%s %s", a.Header.Get("content-type"), a.Text)
	}
}

// What the config changes is changed in the caller's words.
func TestTranslatedParams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	config := `{"provider":"google","api_key":"k","custom_host":"` + r.up.URL() + `","override_params":{"temperature":0.5},"default_params":{"max_tokens":77},"drop_params":["stop"]}`
	a := r.call("POST", "/v1/chat/completions", strings.Replace(ask, "{", `{"temperature":1,"stop":"x",`, 1), "x-gateway-config: "+config)
	body := string(r.up.Seen()[0].Body)
	if a.StatusCode != 200 || !strings.Contains(body, `"temperature":0.5`) || !strings.Contains(body, `"maxOutputTokens":77`) || strings.Contains(body, "stopSequences") {
		t.Errorf("%d %s", a.StatusCode, body)
	}
}

// Callers of messages have names of tools that are longer than other providers take: these get
// shorter ones, and the callers their own, in a stream and whole. Thoughts come with the name of
// who signed them.
func TestTranslatedNames(t *testing.T) {
	t.Parallel()
	long := "mcp__a_server_with_a_long_name__" + strings.Repeat("a_tool_with_a_long_name_", 2)
	short, _ := toolcalls.ShortNames(&llm.Call{Tools: []llm.Tool{{Name: long}}})
	responseBody := `{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"` + short.Tools[0].Name + `","args":{}}}]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}`
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(responseBody))))
	r.up.Handle(geminiStream, upstream.Always(events("data: "+responseBody+"\n\n")))
	body := `{"model":"gemini-2.5-flash","max_tokens":9,"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"` + long + `","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}],"tools":[{"name":"` + long + `","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"` + long + `"}}`
	for i, sent := range []string{body, strings.Replace(body, "{", `{"stream":true,`, 1)} {
		a := r.call("POST", "/v1/messages", sent, r.gemini()...)
		if a.StatusCode != 200 || strings.Count(a.Text, `"name":"`+long+`"`) != 1 || !strings.Contains(a.Text, `"__thought__gemini:c2ln"`) || !strings.Contains(a.Text, `"tool_use"`) {
			t.Errorf("%d %s", a.StatusCode, a.Text)
		}
		if got := string(r.up.Seen()[i].Body); strings.Contains(got, long) || strings.Count(got, short.Tools[0].Name) != 4 {
			t.Errorf("sent %s", got)
		}
	}
	if n := len(short.Tools[0].Name); n != 64 {
		t.Errorf("%q has %d letters", short.Tools[0].Name, n)
	}
}

// Callers of messages must limit the answer and do so as Claude may: a model of which the
// catalog knows that it gives less gets its own limit, and the header says so.
func TestTranslatedLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	for limit, want := range map[string]string{"128000": `"maxOutputTokens":65536`, "9": `"maxOutputTokens":9`} {
		a := r.call("POST", "/v1/messages", `{"model":"gemini-2.5-flash","max_tokens":`+limit+`,"messages":[{"role":"user","content":"Hello"}]}`, r.gemini()...)
		seen := r.up.Seen()
		if got := string(seen[len(seen)-1].Body); a.StatusCode != 200 || !strings.Contains(got, want) {
			t.Errorf("%d, sent %s", a.StatusCode, got)
		}
		if dropped := a.Header.Get("x-gateway-dropped-params"); (dropped == "max_tokens") != (limit == "128000") {
			t.Errorf("%s: dropped %q", limit, dropped)
		}
	}
}

// A query is in the words of the caller's surface. It goes where they are spoken: Google
// answers 400 to parameters that it does not know, and Claude's coding agents send one.
func TestForeignQueryStays(t *testing.T) {
	t.Parallel()
	const vertex = "x-gateway-provider: vertex-ai\nx-gateway-vertex-region: global\nx-gateway-vertex-project-id: p"
	for _, c := range []struct{ path, model, target, want string }{
		{"/v1/messages", "claude-sonnet-4-5", "x-gateway-provider: anthropic", "/messages?beta=true"},
		{"/v1/messages", "gpt-5", "x-gateway-provider: openai", "/chat/completions"},
		{"/v1/messages", "gemini-2.5-flash", "x-gateway-provider: google", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"/v1/messages", "anthropic.claude-sonnet-4-5", vertex, "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5:rawPredict"},
		{"/v1/chat/completions", "gpt-5", "x-gateway-provider: openai", "/chat/completions?beta=true"},
		{"/v1/chat/completions", "gemini-2.5-flash", "x-gateway-provider: google", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"/v1/chat/completions", "claude-sonnet-4-5", "x-gateway-provider: anthropic", "/messages"},
	} {
		r := newRig(t)
		headers := append(strings.Split(c.target, "\n"), "authorization: Bearer upstream", "x-gateway-custom-host: "+r.up.URL())
		r.call("POST", c.path+"?beta=true", `{"model":"`+c.model+`","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`, headers...)
		if seen := r.up.Seen(); len(seen) != 1 || seen[0].Target != c.want {
			t.Errorf("%s of %s went to %q, want %s", c.path, c.model, targets(seen), c.want)
		}
	}
}

func targets(seen []upstream.Seen) (list []string) {
	for _, s := range seen {
		list = append(list, s.Target)
	}
	return list
}

// An error as the first event of a stream has the provider's status on every surface, though
// its words may have none for it: retries and fallback go by that.
func TestFirstEventKeepsItsStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiStream, upstream.Always(events(`data: {"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}`+"\n\n")))
	for path, members := range map[string]string{"/v1/chat/completions": `"messages":[{"role":"user","content":"x"}]`, "/v1/messages": `"max_tokens":9,"messages":[{"role":"user","content":"x"}]`, "/v1/responses": `"input":"x"`} {
		a := r.call("POST", path, `{"model":"gemini-2.5-flash","stream":true,`+members+`}`, r.gemini()...)
		if a.StatusCode != 429 || !strings.Contains(a.Text, "Quota") {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Text)
		}
	}
}
