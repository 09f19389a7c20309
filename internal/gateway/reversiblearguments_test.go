package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// argumentsSurface is an API, and how a provider with the same API streams the arguments of a tool call.
type argumentsSurface struct {
	path, request string // of a client
	provider      func(r *rig) []string
	upstream      string // path of the provider
	complete      func(arguments string) string
	events        func(arguments string) []string
	read          func(t *testing.T, body string, stream bool) []string // the arguments in each place of a response
}

var argumentsSurfaces = []argumentsSurface{
	{
		path: "/v1/messages", request: `{"model":"claude-sonnet-4-5","stream":%v,"max_tokens":100,"messages":[{"role":"user","content":%s}]}`,
		provider: func(r *rig) []string { return streamingProviders[1].headers(r) }, upstream: "/v1/messages",
		complete: func(arguments string) string {
			return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":` + arguments + `}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":9}}`
		},
		events: func(arguments string) []string {
			event := func(kind, rest string) string {
				return "event: " + kind + "\ndata: {\"type\":\"" + kind + `",` + rest + "}\n\n"
			}
			out := []string{
				event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}`),
				event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`),
			}
			for _, c := range strings.Split(arguments, "") {
				out = append(out, event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":`+quoted(c)+`}`))
			}
			return append(out, event("content_block_stop", `"index":0`),
				event("message_delta", `"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}`), "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
		},
		read: func(t *testing.T, body string, stream bool) []string {
			if !stream {
				var m struct {
					Content []struct{ Input json.RawMessage }
				}
				decode(t, body, &m)
				return []string{string(m.Content[0].Input)}
			}
			var b strings.Builder
			for _, data := range dataLines(body) {
				var e struct {
					Delta struct {
						JSON string `json:"partial_json"`
					}
				}
				decode(t, data, &e)
				b.WriteString(e.Delta.JSON)
			}
			return []string{b.String()}
		},
	},
	{
		path: "/v1/responses", request: `{"model":"gpt-4o-mini","stream":%v,"store":false,"input":%s}`,
		provider: func(r *rig) []string { return r.custom() }, upstream: "/v1/responses",
		complete: func(arguments string) string { return responseWithCall("completed", arguments) },
		events: func(arguments string) []string {
			event := func(kind, rest string) string {
				return "event: " + kind + "\ndata: {\"type\":\"" + kind + `",` + rest + "}\n\n"
			}
			item := func(status, arguments string) string {
				return fmt.Sprintf(`"output_index":0,"item":{"id":"fc_1","type":"function_call","status":%q,"call_id":"call_1","name":"f","arguments":%s}`, status, quoted(arguments))
			}
			out := []string{event("response.created", `"response":`+responseWithCall("in_progress", "")), event("response.output_item.added", item("in_progress", ""))}
			for _, c := range strings.Split(arguments, "") {
				out = append(out, event("response.function_call_arguments.delta", `"item_id":"fc_1","output_index":0,"delta":`+quoted(c)))
			}
			return append(out, event("response.function_call_arguments.done", `"item_id":"fc_1","output_index":0,"arguments":`+quoted(arguments)),
				event("response.output_item.done", item("completed", arguments)), event("response.completed", `"response":`+responseWithCall("completed", arguments)))
		},
		read: func(t *testing.T, body string, stream bool) (out []string) {
			type response struct{ Output []struct{ Arguments string } }
			if !stream {
				var m response
				decode(t, body, &m)
				return []string{m.Output[0].Arguments}
			}
			var b strings.Builder
			for _, data := range dataLines(body) {
				var e struct {
					Type, Delta, Arguments string
					Item                   struct{ Arguments string }
					Response               response
				}
				decode(t, data, &e)
				b.WriteString(e.Delta)
				switch e.Type {
				case "response.function_call_arguments.done":
					out = append(out, e.Arguments)
				case "response.output_item.done":
					out = append(out, e.Item.Arguments)
				case "response.completed":
					out = append(out, e.Response.Output[0].Arguments)
				}
			}
			return append(out, b.String())
		},
	},
}

func responseWithCall(status, arguments string) string {
	output := ""
	if status == "completed" {
		output = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"f","arguments":` + quoted(arguments) + `}`
	}
	return `{"id":"resp_1","object":"response","created_at":1,"status":"` + status + `","model":"gpt-4o-mini","output":[` + output + `],"usage":{"input_tokens":5,"output_tokens":9,"total_tokens":14}}`
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// dataLines returns the JSON of the events of a stream.
func dataLines(stream string) (out []string) {
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != "[DONE]" {
			out = append(out, data)
		}
	}
	return out
}

// A value with characters that JSON escapes is restored in tool arguments of Messages and Responses, cut
// after each character and complete: they parse wherever they stand.
func TestReversibleRedaction_RestoresToolArgumentsOfEachAPI(t *testing.T) {
	t.Parallel()
	const secret = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----"
	token := regexp.MustCompile(`\[[A-Z_]+_[0-9a-f]{6}\]`)
	for _, s := range argumentsSurfaces {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", s.path, stream), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle(s.upstream, func(seen upstream.Seen) *upstream.Response {
					arguments := fmt.Sprintf(`{"key":"%s","n":1}`, token.FindString(string(seen.Body)))
					out := upstream.JSON(200, []byte(s.complete(arguments)))
					if stream {
						out = events(s.events(arguments)...)
					}
					return &out
				})
				a := r.call("POST", s.path, fmt.Sprintf(s.request, stream, quoted("use "+secret)),
					append(s.provider(r), `x-gateway-config: {"input_guardrails":[{"id":"hide","gateway.secrets":{"redact":"reversible"}}]}`)...)
				if a.StatusCode != 200 {
					t.Fatalf("%d %s", a.StatusCode, a.Text)
				}
				for _, arguments := range s.read(t, a.Text, stream) {
					var got struct{ Key string }
					if err := json.Unmarshal([]byte(arguments), &got); err != nil || got.Key != secret {
						t.Errorf("%v, %q in %s", err, got.Key, a.Text)
					}
				}
				r.journal.one(t)
				r.expectHidden(t, "MIIEvQIBADANBgkqhkiG9w0")
			})
		}
	}
}
