package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// surface is a way in which callers speak, with a request of it.
type surface struct {
	path, body string
	buffered   []string // what a whole answer holds
	end        string   // how a stream ends
}

var surfaces = map[string]surface{
	"chat": {
		"/v1/chat/completions", `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
		[]string{`"object":"chat.completion"`, `"content":"Hello"`, `"total_tokens":6`}, "data: [DONE]\n\n",
	},
	"messages": {
		"/v1/messages", `{"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
		[]string{`"type":"message"`, `"text":"Hello"`, `"input_tokens":4`, `"stop_reason":"end_turn"`}, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	"responses": {
		"/v1/responses", `{"model":"m-1","max_output_tokens":64,"input":"Hello there"}`,
		[]string{`"object":"response"`, `"text":"Hello"`, `"total_tokens":6`, `"status":"completed"`}, "",
	},
}

// speaker is a provider and what it answers.
type speaker struct {
	id, base     string // provider and the path of the custom host
	path, stream string
	response     string
	events       []string
}

var speakers = []speaker{
	{
		"cerebras", "/v1", "/v1/chat/completions", "/v1/chat/completions",
		`{"id":"c1","object":"chat.completion","created":1700000000,"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}`,
		[]string{
			`data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}` + "\n\n",
			`data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}` + "\n\n",
			`data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}` + "\n\n",
			"data: [DONE]\n\n",
		},
	},
	{
		"anthropic", "/v1", "/v1/messages", "/v1/messages",
		`{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":4,"output_tokens":2}}`,
		[]string{
			"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"output_tokens":1}}}` + "\n\n",
			"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}` + "\n\n",
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}` + "\n\n",
			"event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n",
			"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}` + "\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		},
	},
	{
		"google", "", "/v1beta/models/m-1:generateContent", "/v1beta/models/m-1:streamGenerateContent", geminiResponse,
		[]string{
			`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]},"index":0}],"modelVersion":"m-1"}` + "\n\n",
			`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}` + "\n\n",
		},
	},
}

func (r *rig) as(s speaker) []string {
	return []string{"x-gateway-provider: " + s.id, "authorization: Bearer key-of-provider", "x-gateway-custom-host: " + r.up.URL() + s.base}
}

// Every surface reaches every kind of provider, whole and streamed, and what was used
// is on record.
func TestSurfacesReachAllProviders(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range speakers {
			t.Run(name+" to "+p.id, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(p.response))))
				a := r.call("POST", s.path, s.body, r.as(p)...)
				for _, want := range s.buffered {
					if a.StatusCode != 200 || !strings.Contains(a.Text, want) {
						t.Errorf("%d without %s: %s", a.StatusCode, want, a.Text)
					}
				}
				if row := r.journal.one(t); row.Usage.InputTokens != 4 || row.Usage.OutputTokens != 2 || row.Outcome != "ok" {
					t.Errorf("record %+v", row)
				}
			})
			t.Run(name+" to "+p.id+" streamed", func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle(p.stream, upstream.Always(events(p.events...)))
				a := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
				if a.StatusCode != 200 || !strings.HasSuffix(a.Text, s.end) || !strings.Contains(a.Text, `"Hel"`) || !strings.Contains(a.Text, `"lo"`) {
					t.Errorf("%d %s", a.StatusCode, a.Text)
				}
				if s.end == "" && !strings.Contains(a.Text, "event: response.completed\n") {
					t.Errorf("no end: %s", a.Text)
				}
				if row := r.journal.one(t); row.Usage.InputTokens != 4 || row.Usage.OutputTokens != 2 || row.Outcome != "ok" {
					t.Errorf("record %+v", row)
				}
			})
		}
	}
}

// Where the provider speaks the surface itself, no byte changes on either way.
func TestNativeMessagesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := speakers[1]
	sent := `{ "max_tokens":64,"messages" : [{"content":[{"text":"Hi","type":"text","cache_control":{"type":"ephemeral"}}],"role":"user"}], "model":"m-1","x_new":{"b":1,"a":2} }`
	response := `{ "id":"msg_1", "content":[{"type":"thinking","thinking":"…","signature":"c2ln"}],"model":"m-1","usage":{"input_tokens":4,"output_tokens":2},"stop_reason":"end_turn","type":"message","role":"assistant"}`
	r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(response))))
	a := r.call("POST", "/v1/messages", sent, r.as(p)...)
	if got := string(r.up.Seen()[0].Body); got != sent {
		t.Errorf("sent %s", got)
	}
	if !strings.HasPrefix(a.Text, strings.TrimSuffix(response, "}")) {
		t.Errorf("answered %s", a.Text)
	}
}

// A fallback list may mix providers that speak the surface with others.
func TestFallbackMixesShapes(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		r := newRig(t)
		var targets []string
		for i, p := range speakers {
			response := upstream.JSON(503, []byte(`{"error":{"message":"busy","type":"overloaded_error"}}`))
			if i == len(speakers)-1 {
				response = upstream.JSON(200, []byte(p.response))
			}
			r.up.Handle(p.path, upstream.Always(response))
			targets = append(targets, `{"provider":"`+p.id+`","api_key":"k","custom_host":"`+r.up.URL()+p.base+`"}`)
		}
		a := r.call("POST", s.path, s.body, `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[`+strings.Join(targets, ",")+`]}`)
		for _, want := range s.buffered {
			if a.StatusCode != 200 || !strings.Contains(a.Text, want) {
				t.Errorf("%s: %d without %s: %s", name, a.StatusCode, want, a.Text)
			}
		}
	}
}

// Errors of any provider come in the shape of the caller's surface.
func TestErrorsInTheCallersShape(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range speakers {
			r := newRig(t)
			r.up.Handle(p.path, upstream.Always(upstream.JSON(429, []byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`))))
			a := r.call("POST", s.path, s.body, r.as(p)...)
			want := `{"error":{"code":null,"message":"` + p.id + ` error: slow down"`
			if name == "messages" {
				want = `{"type":"error","error":{"type":"rate_limit_error","message":"` + p.id + ` error: slow down"}`
			}
			if a.StatusCode != 429 || !strings.HasPrefix(a.Text, want) {
				t.Errorf("%s to %s: %d %s", name, p.id, a.StatusCode, a.Text)
			}
		}
	}
}

// A translated stream that breaks ends in the error event of its surface.
func TestBrokenStreamsInTheCallersShape(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"chat": "data: {\"error\":", "messages": "event: error\ndata: {", "responses": "event: response.failed\ndata: {",
	} {
		for _, p := range speakers {
			r := newRig(t)
			cut := events(p.events[:len(p.events)/2]...)
			cut.End = upstream.Cut
			r.up.Handle(p.stream, upstream.Always(cut))
			s := surfaces[name]
			a := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
			if !strings.Contains(a.Text, want) || s.end != "" && strings.HasSuffix(a.Text, s.end) || strings.Contains(a.Text, "response.completed") {
				t.Errorf("%s to %s: %s", name, p.id, a.Text)
			}
			if row := r.journal.one(t); row.Outcome != "truncated" {
				t.Errorf("%s to %s: record %s", name, p.id, row.Outcome)
			}
			if n := strings.Count(a.Text, `"sequence_number":`); name == "responses" && !strings.Contains(a.Text, fmt.Sprintf(`"sequence_number":%d`, n-1)) {
				t.Errorf("%s to %s: %d events are not numbered from 0 on: %s", name, p.id, n, a.Text)
			}
		}
	}
}

// Errors on messages, the gateway's own and the provider's, name the request.
func TestMessagesErrorsNameTheRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	local := r.call("POST", "/v1/messages", `{"model":"m-1","max_tokens":1}`, r.as(speakers[2])...)
	r.up.Handle(speakers[2].path, upstream.Always(upstream.JSON(500, []byte(`{"error":{"message":"no"}}`))))
	theirs := r.call("POST", "/v1/messages", surfaces["messages"].body, r.as(speakers[2])...)
	for _, a := range []callResult{local, theirs} {
		if want := `"request_id":"` + a.Header.Get("x-gateway-request-id") + `"`; a.StatusCode < 400 || !strings.Contains(a.Text, want) || !strings.Contains(a.Text, `"type":"error"`) {
			t.Errorf("%d without %s: %s", a.StatusCode, want, a.Text)
		}
	}
}
