package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// failing is a provider with an error in its own shape: CODE is its code, "" or `,"code":…`.
type failing struct {
	name            string
	p               speaker
	complete, event string
	typ             string // of that error; "" where it has none
}

var cohereSpeaker = speaker{
	id: "cohere", base: "", path: "/v2/chat", stream: "/v2/chat",
	events: []string{
		"event: message-start\ndata: " + `{"id":"c1","type":"message-start","delta":{"message":{"role":"assistant","content":[]}}}` + "\n\n",
		"event: content-start\ndata: " + `{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}` + "\n\n",
		"event: content-delta\ndata: " + `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hel"}}}}` + "\n\n",
		"",
	},
}

var failings = []failing{
	{"openai", speakers[0], `{"error":{"message":"REASON","type":"a_type"CODE,"param":null}}`, `data: {"error":{"message":"REASON","type":"a_type"CODE,"param":null}}`, "a_type"},
	{
		"openai inside a chunk", speakers[0], `{"error":{"message":"REASON","type":"a_type"CODE}}`,
		`data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","error":{"message":"REASON","type":"a_type"CODE},"choices":[]}`, "a_type",
	},
	{"openai without a type", speakers[0], `{"error":{"message":"REASON"CODE}}`, `data: {"error":{"message":"REASON"CODE}}`, ""},
	{"flat", speakers[0], `{"object":"error","message":"REASON","type":"a_type"CODE}`, `data: {"object":"error","message":"REASON","type":"a_type"CODE}`, "a_type"},
	{"responses", responseSpeaker, `{"error":{"message":"REASON","type":"a_type"CODE}}`, "event: error\n" + `data: {"type":"error","message":"REASON"CODE,"param":null,"sequence_number":0}`, ""},
	{"responses, nested", responseSpeaker, `{"error":{"message":"REASON","type":"a_type"CODE}}`, "event: error\n" + `data: {"type":"error","sequence_number":0,"error":{"type":"a_type","message":"REASON"CODE}}`, "a_type"},
	{
		"anthropic", speakers[1], `{"type":"error","error":{"type":"overloaded_error","message":"REASON"CODE}}`,
		"event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"REASON"CODE}}`, "overloaded_error",
	},
	{"anthropic, flat", speakers[1], `{"message":"REASON","type":"a_type"CODE}`, "event: error\n" + `data: {"message":"REASON","type":"a_type"CODE}`, "a_type"},
	{"google", speakers[2], `{"error":{"message":"REASON","status":"UNAVAILABLE"CODE}}`, `data: {"error":{"message":"REASON","status":"UNAVAILABLE"CODE}}`, "UNAVAILABLE"},
	{"cohere", cohereSpeaker, `{"id":"x","message":"REASON"CODE}`, `data: {"id":"x","message":"REASON"CODE}`, ""},
}

// The code of an error is the provider's as a string, or null where it sent none, whatever the
// provider, the surface and the position of the error.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	codes := map[string]struct {
		sent string
		want any
	}{"a number": {`,"code":500`, "500"}, "another number": {`,"code":20012`, "20012"}, "a string": {`,"code":"its_code"`, "its_code"}, "none": {"", nil}, "null": {`,"code":null`, nil}}
	for surface, s := range surfaces {
		for _, f := range failings {
			if f.p.id == "openai" && surface != "responses" {
				continue
			}
			for kind, c := range codes {
				for _, at := range []string{"whole", "first event", "later event", "later event in pieces"} {
					t.Run(fmt.Sprintf("%s to %s, %s, %s", surface, f.name, kind, at), func(t *testing.T) {
						t.Parallel()
						e := errorAt(t, surface, s, f, c.sent, at)
						want := c.want
						if want == nil && f.typ != "" && surface == "responses" && strings.HasPrefix(at, "later") {
							if want = f.typ; f.p.id == "openai" { // relayed as it came
								want = nil
							}
						}
						if typ, _ := e["type"].(string); typ != "" && typ[0] >= '0' && typ[0] <= '9' {
							t.Errorf("type %q is a number", typ)
						}
						if e["code"] != want {
							t.Errorf("code %#v, want %#v", e["code"], want)
						}
					})
				}
			}
		}
	}
}

// errorAt is the one error that the caller gets.
func errorAt(t *testing.T, surface string, s surface, f failing, code, at string) map[string]any {
	t.Helper()
	r := newRig(t)
	event := strings.Replace(f.event, "CODE", code, 1) + "\n\n"
	body := strings.Replace(s.body, "{", `{"stream":true,`, 1)
	first := f.p.events[:min(len(f.p.events)-1, 3)]
	switch at {
	case "whole":
		body = s.body
		r.up.Handle(f.p.path, upstream.Always(upstream.JSON(500, []byte(strings.Replace(f.complete, "CODE", code, 1)))))
	case "first event":
		r.up.Handle(f.p.stream, upstream.Always(events(event)))
	case "later event":
		r.up.Handle(f.p.stream, upstream.Always(events(append(append([]string{}, first...), event)...)))
	default:
		cut := strings.LastIndex(event, "}") // behind the code
		r.up.Handle(f.p.stream, upstream.Always(events(append(append([]string{}, first...), event[:8], event[8:cut], event[cut:])...)))
	}
	a := r.call("POST", s.path, body, r.as(f.p)...)
	if strings.HasPrefix(at, "later") {
		list := errorsIn(surface, a.Text)
		if len(list) != 1 || !strings.Contains(fmt.Sprint(list[0]["message"]), "REASON") {
			t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
		return list[0]
	}
	var complete struct{ Error map[string]any }
	if json.Unmarshal([]byte(a.Text), &complete) != nil || a.StatusCode < 400 || !strings.Contains(fmt.Sprint(complete.Error["message"]), "REASON") {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if strings.Contains(a.Text, "sequence_number") {
		t.Errorf("an event's number in %s", a.Text)
	}
	return complete.Error
}

// A turn of Gemini's that failed before it began is an error with its status, whole and streamed,
// on every surface, although it comes with usage.
func TestFailedTurnBeforeItBegan(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for word, status := range map[string]int{"MALFORMED_FUNCTION_CALL": 502, "MISSING_THOUGHT_SIGNATURE": 400} {
			body := `{"candidates":[{"content":{},"finishReason":"` + word + `","finishMessage":"REASON"}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`
			r := newRig(t)
			p := speakers[2]
			r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(body))))
			r.up.Handle(p.stream, upstream.Always(events("data: "+body+"\n\n")))
			for _, call := range []string{s.body, strings.Replace(s.body, "{", `{"stream":true,`, 1)} {
				a := r.call("POST", s.path, call, r.as(p)...)
				var complete struct{ Error map[string]any }
				_ = json.Unmarshal([]byte(a.Text), &complete)
				if a.StatusCode != status || complete.Error["code"] != nil || name != "messages" && complete.Error["type"] != word || !strings.Contains(fmt.Sprint(complete.Error["message"]), "REASON") {
					t.Errorf("%s, %s: %d %s", name, word, a.StatusCode, a.Text)
				}
			}
		}
	}
}
