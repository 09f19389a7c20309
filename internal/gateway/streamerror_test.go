package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// responseSpeaker answers on OpenAI's endpoint for responses.
var responseSpeaker = speaker{
	id: "openai", base: "/v1", path: "/v1/responses", stream: "/v1/responses",
	response: `{"id":"resp_1","object":"response","status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`,
	events: []string{
		"event: response.created\ndata: " + `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","store":true,"output":[],"error":null,"usage":null}}` + "\n\n",
		"event: response.output_item.added\ndata: " + `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}}` + "\n\n",
		"event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hel"}` + "\n\n",
		"event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"lo"}` + "\n\n",
	},
}

// errorShapes are error events as servers write them, known ones and others. REASON is the
// text that the caller has to see.
var errorShapes = map[string]string{
	"openai":                   `data: {"error":{"message":"REASON","type":"server_error","param":null,"code":null}}`,
	"openai, named":            "event: error\n" + `data: {"error":{"message":"REASON","type":"server_error","param":null,"code":"server_error"}}`,
	"a text":                   `data: {"error":"REASON"}`,
	"a text, named":            "event: error\n" + `data: {"error":"REASON"}`,
	"anthropic":                "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"REASON"}}`,
	"anthropic, another type":  "event: error\n" + `data: {"type":"error","error":{"type":"server_error","message":"REASON"}}`,
	"anthropic, not named":     `data: {"type":"error","error":{"type":"overloaded_error","message":"REASON"}}`,
	"responses":                "event: error\n" + `data: {"type":"error","code":"server_error","message":"REASON","param":null,"sequence_number":2}`,
	"flat, named":              "event: error\n" + `data: {"code":500,"message":"REASON","type":"server_error"}`,
	"flat, named, without gap": "event:error\n" + `data:{"code":500,"message":"REASON","type":"server_error"}`,
	"flat":                     `data: {"code":500,"message":"REASON","type":"server_error"}`,
	"vllm":                     `data: {"object":"error","message":"REASON","type":"BadRequestError","param":null,"code":400}`,
	"fastapi":                  `data: {"detail":"REASON"}`,
	"google":                   `data: {"error":{"code":503,"message":"REASON","status":"UNAVAILABLE"}}`,
	"unknown, named":           "event: error\n" + `data: {"oops":{"why":"REASON"}}`,
	"a plain text, named":      "event: error\ndata: REASON",
	"a JSON text, named":       "event: error\n" + `data: "REASON"`,
}

// anthropicTypes are those that clients of messages know.
var anthropicTypes = map[string]bool{
	"invalid_request_error": true, "authentication_error": true, "billing_error": true, "permission_error": true, "not_found_error": true,
	"request_too_large": true, "rate_limit_error": true, "api_error": true, "timeout_error": true, "overloaded_error": true,
}

// errorsIn are the errors of a stream, in the shape of its surface.
func errorsIn(surface, stream string) (list []map[string]any) {
	for block := range strings.SplitSeq(stream, "\n\n") {
		_, data, ok := strings.Cut(block, "data: ")
		var ev map[string]any
		if !ok || json.Unmarshal([]byte(data), &ev) != nil {
			continue
		}
		named := strings.HasPrefix(block, "event: error\n")
		inner, _ := ev["error"].(map[string]any)
		switch surface {
		case "responses":
			if ev["type"] == "error" {
				if inner == nil {
					inner = ev
				}
				list = append(list, inner)
			}
		case "messages":
			if named && ev["type"] == "error" && inner != nil {
				list = append(list, inner)
			}
		default:
			if inner != nil {
				list = append(list, inner)
			}
		}
	}
	return list
}

// An error that a provider puts into a stream reaches the caller once, with its reason and in
// the shape of the surface, whatever the provider's shape is. Nothing follows it, and the call
// is on record as one that failed.
func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range append([]speaker{responseSpeaker}, speakers...) {
			if p.id == "openai" && name != "responses" {
				continue
			}
			for shape, text := range errorShapes {
				for _, oneRead := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s to %s, %s, in one read %t", name, p.id, shape, oneRead), func(t *testing.T) {
						t.Parallel()
						errorInStream(t, name, s, p, text, oneRead)
					})
				}
			}
		}
	}
}

func errorInStream(t *testing.T, name string, s surface, p speaker, text string, oneRead bool) {
	t.Helper()
	r := newRig(t)
	text += "\n\n"
	first := p.events[:min(len(p.events)-1, 3)]
	chunks := append(append([]string{}, first...), text)
	if !oneRead {
		chunks = append(append([]string{}, first...), text[:9], text[9:20], text[20:])
	}
	r.up.Handle(p.stream, upstream.Always(events(chunks...)))
	a := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
	list := errorsIn(name, a.Text)
	if len(list) != 1 || !strings.Contains(fmt.Sprint(list[0]["message"]), "REASON") {
		t.Fatalf("errors %v in\n%s", list, a.Text)
	}
	if typ := fmt.Sprint(list[0]["type"]); name == "messages" && !anthropicTypes[typ] {
		t.Errorf("type %s", typ)
	}
	if n := strings.Count(a.Text, "event: error") + strings.Count(a.Text, "event:error"); n > 1 || name == "messages" && n != 1 {
		t.Errorf("%d events are named error:\n%s", n, a.Text)
	}
	if strings.Contains(a.Text, "[DONE]") || strings.Contains(a.Text, "message_stop") || strings.Contains(a.Text, "response.completed") {
		t.Errorf("an end follows the error:\n%s", a.Text)
	}
	if row := r.journal.one(t); row.Outcome != record.Failed || row.Status < 400 || !strings.Contains(row.Error, "REASON") {
		t.Errorf("on record as %s, status %d, %q", row.Outcome, row.Status, row.Error)
	}
}

// A stream into which a provider puts an error has failed, also where the provider ends it as
// if it had not: a breaker counts it.
func TestErrorBeforeTheEndOfAStream(t *testing.T) {
	t.Parallel()
	const failure = `data: {"error":{"message":"REASON","type":"server_error","code":500}}` + "\n\n"
	finish := `data: {"id":"c1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"error"}]}` + "\n\n"
	for name, tail := range map[string][]string{"and its mark": {failure, "data: [DONE]\n\n"}, "behind a reason": {finish, failure}, "alone": {failure}} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.Always(events(append([]string{chunk(`{"role":"assistant","content":"Hel"}`)}, tail...)...)))
		cfg := r.targets(`,"cb_config":{"failure_threshold":1,"cooldown_interval":60000}`, "gpt-4o", "gpt-4o")
		var a callResult
		for range 3 {
			a = r.call("POST", "/v1/chat/completions", streamedChat, "x-gateway-config: "+cfg)
		}
		if n := strings.Count(a.Text, "[DONE]"); n != strings.Count(strings.Join(tail, ""), "[DONE]") || strings.Count(a.Text, `"error":{`) != 1 {
			t.Errorf("%s: %s", name, a.Text)
		}
		for _, row := range r.journal.all() {
			if row.Outcome != record.Failed || row.Status != 500 {
				t.Errorf("%s: on record as %s with %d", name, row.Outcome, row.Status)
			}
		}
		if open := r.gateway.Engine.OpenBreakers(); len(open) != 1 {
			t.Errorf("%s: %d open circuits", name, len(open))
		}
	}
}

// The error with which the gateway ends a stream of a response that its provider cut has the
// number that follows those before it.
func TestCutResponseIsNumberedOn(t *testing.T) {
	t.Parallel()
	for n := 1; n <= len(responseSpeaker.events); n++ {
		r := newRig(t)
		cut := events(responseSpeaker.events[:n]...)
		cut.End = upstream.Cut
		r.up.Handle("/v1/responses", upstream.Always(cut))
		a := r.call("POST", "/v1/responses", strings.Replace(surfaces["responses"].body, "{", `{"stream":true,`, 1), r.as(responseSpeaker)...)
		list := errorsIn("responses", a.Text)
		if len(list) != 1 || list[0]["sequence_number"] != float64(n) {
			t.Errorf("after %d events: %s", n, a.Text)
		}
		if row := r.journal.one(t); row.Outcome != record.Truncated || row.Status != 502 {
			t.Errorf("on record as %s with %d", row.Outcome, row.Status)
		}
	}
}

// A whole answer that says that it failed reaches the caller as it came, and is a failure to
// everything else: a fallback goes on, a breaker and analytics count it.
func TestFailedAnswerOfSuccess(t *testing.T) {
	t.Parallel()
	const failed = `{"id":"resp_1","object":"response","status":"failed","model":"m-1","output":[],"error":{"code":"server_error","message":"REASON"},"usage":{"input_tokens":70,"output_tokens":1400,"total_tokens":1470}}`
	const choice = `{"id":"c","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hel"},"finish_reason":"error","error":{"code":502,"message":"REASON"}}],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`
	for _, c := range []struct {
		name, surface, body string
		p                   speaker
		status              int32
	}{
		{"a response", "responses", failed, responseSpeaker, 500},
		{"a response that met a rate limit", "responses", strings.Replace(failed, "server_error", "rate_limit_exceeded", 1), responseSpeaker, 429},
		{"a response without a reason", "responses", strings.Replace(failed, `{"code":"server_error","message":"REASON"}`, "null", 1), responseSpeaker, 500},
		{"a response without output", "responses", strings.Replace(failed, `"output":[],`, "", 1), responseSpeaker, 500},
		{"a chat", "chat", choice, speakers[0], 502},
		{"a chat that only says so", "chat", strings.Replace(choice, `,"error":{"code":502,"message":"REASON"}`, "", 1), speakers[0], 500},
		{"a chat with an error beside", "chat", strings.Replace(choice, `"choices"`, `"error":{"message":"REASON","code":503},"choices"`, 1), speakers[0], 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.p.path, upstream.Always(upstream.JSON(200, []byte(c.body))))
			a := r.call("POST", surfaces[c.surface].path, surfaces[c.surface].body, r.as(c.p)...)
			want := strings.Replace(c.body, `"code":503`, `"code":"503"`, 1) // of an error, a code is a string
			if a.StatusCode != 200 || !strings.HasPrefix(a.Text, strings.TrimSuffix(want, "}")) {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			row := r.journal.one(t)
			if row.Outcome != record.Failed || row.Status != c.status || row.Error == "" || row.Usage.OutputTokens != 1400 || row.Spend.State != "settled" {
				t.Errorf("on record as %s with %d, %q, usage %+v, %+v", row.Outcome, row.Status, row.Error, row.Usage, row.Spend)
			}
		})
		t.Run(c.name+", with a fallback", func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.p.path, upstream.InTurn(upstream.JSON(200, []byte(c.body)), upstream.JSON(200, []byte(c.p.response))))
			target := `{"provider":"` + c.p.id + `","api_key":"k","custom_host":"` + r.up.URL() + c.p.base + `"}`
			a := r.call("POST", surfaces[c.surface].path, surfaces[c.surface].body, `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[`+target+`,`+target+`]}`)
			if a.StatusCode != 200 || !strings.Contains(a.Text, `"Hello"`) || len(r.journal.some(t, 2)) != 2 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}
