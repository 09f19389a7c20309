package gateway_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// provider is an upstream of one dialect that streams a text.
type streamingProvider struct {
	name    string
	model   string
	path    string // of the upstream
	headers func(r *rig) []string
	// events returns the stream of a response whose text arrives in these parts.
	events func(parts []string) upstream.Response
}

// streamingProviders are the upstream dialects.
var streamingProviders = []streamingProvider{
	{"openai", "gpt-4o-mini", "/v1/chat/completions", func(r *rig) []string { return r.custom() }, func(parts []string) upstream.Response {
		var out []string
		for _, p := range parts {
			out = append(out, fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`+"\n\n", quoted(p)))
		}
		return events(append(out,
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n",
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":900,"total_tokens":905}}`+"\n\n", "data: [DONE]\n\n")...)
	}},
	{"anthropic", "claude-sonnet-4-5", "/v1/messages", func(r *rig) []string {
		return []string{"x-gateway-provider: anthropic", "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + "/v1"}
	}, func(parts []string) upstream.Response {
		out := []string{"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}` + "\n\n",
			"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"}
		for _, p := range parts {
			out = append(out, "event: content_block_delta\ndata: "+fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, quoted(p))+"\n\n")
		}
		return events(append(out, "event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":0}`+"\n\n",
			"event: message_delta\ndata: "+`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":900}}`+"\n\n",
			"event: message_stop\ndata: "+`{"type":"message_stop"}`+"\n\n")...)
	}},
	{"google", "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent", func(r *rig) []string { return r.gemini() }, func(parts []string) upstream.Response {
		var out []string
		for _, p := range parts {
			out = append(out, fmt.Sprintf(`data: {"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"index":0}],"modelVersion":"gemini-2.5-flash"}`+"\n\n", quoted(p)))
		}
		return events(append(out, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":900,"totalTokenCount":905}}`+"\n\n")...)
	}},
	{"bedrock", "amazon.nova-pro-v1:0", "/model/amazon.nova-pro-v1%3A0/converse-stream", func(r *rig) []string {
		return []string{"x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret", "x-gateway-custom-host: " + r.up.URL()}
	}, func(parts []string) upstream.Response {
		out := [][]byte{frame("messageStart", `{"role":"assistant"}`)}
		for _, p := range parts {
			out = append(out, frame("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":0,"delta":{"text":%s}}`, quoted(p))))
		}
		out = append(out, frame("contentBlockStop", `{"contentBlockIndex":0}`), frame("messageStop", `{"stopReason":"end_turn"}`), frame("metadata", `{"usage":{"inputTokens":5,"outputTokens":900,"totalTokens":905},"metrics":{"latencyMs":1}}`))
		response := upstream.Response{Header: []upstream.Field{{Name: "Content-Type", Value: "application/vnd.amazon.eventstream"}}, Framing: upstream.Chunked}
		for _, b := range out {
			response.Chunks = append(response.Chunks, upstream.Chunk{Bytes: b})
		}
		return response
	}},
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// frame returns a message in Amazon's framing.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (2026-11-28).
func frame(event, payload string) []byte {
	var head []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		head = append(append(head, byte(len(h[0]))), h[0]...)
		head = append(head, 7)
		head = binary.BigEndian.AppendUint16(head, uint16(len(h[1])))
		head = append(head, h[1]...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(12+len(head)+len(payload)+4))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, head...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// streamingSurfaces are the APIs that stream, with what ends a denied stream.
var streamingSurfaces = []struct {
	path, request string
	end           []string
}{
	{"/v1/chat/completions", `{"model":%q,"stream":true,"max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`, []string{`"finish_reason":"content_filter"`, "data: [DONE]\n\n"}},
	{"/v1/messages", `{"model":%q,"stream":true,"max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`, []string{`"stop_reason":"refusal"`, `"type":"message_stop"`}},
	{"/v1/responses", `{"model":%q,"stream":true,"store":false,"max_output_tokens":100,"input":"Hi"}`, []string{`"type":"response.incomplete"`, `"reason":"content_filter"`}},
}

const (
	planted = "sk-FORBIDDEN-QUXZ"
	before  = "The key is "
	after   = ", but keep it to yourself, please, and do not write it down anywhere."
)

// splits returns the text in two parts for each place of the secret where it can be cut, and in single
// characters.
func splits() [][]string {
	text := before + planted + after
	out := [][]string{strings.Split(text, ""), {text}}
	for at := len(before); at <= len(before)+len(planted); at++ {
		out = append(out, []string{text[:at], text[at:]})
	}
	return out
}

// A denied stream releases no byte of what the guardrail found, wherever the provider cuts it, and ends
// as its client expects. The log has the denial and the tokens of the provider.
func TestDeniedStream_ReleasesNothingAndEndsAsItsClientExpects(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			for _, mode := range []string{"window", "hold"} {
				t.Run(p.name+s.path+" "+mode, func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					config := fmt.Sprintf(`x-gateway-config: {"output_guardrails":[{"id":"g1","deny":true,"stream":%q,"contains":{"words":[%q],"operator":"none"}}]}`, mode, planted)
					for i, parts := range splits() {
						r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, parts)))
						a := r.call("POST", s.path, fmt.Sprintf(s.request, p.model), append(p.headers(r), config)...)
						if a.StatusCode != 200 || strings.Contains(a.Text, "sk-") || strings.Contains(a.Text, "FORBIDDEN") || strings.Contains(a.Text, "QUXZ") {
							t.Fatalf("split %d: %d %s", i, a.StatusCode, a.Text)
						}
						for _, end := range s.end {
							if !strings.Contains(a.Text, end) {
								t.Fatalf("split %d: the stream lacks %s: %s", i, end, a.Text)
							}
						}
						rows := r.journal.some(t, i+1)
						if row := rows[i]; row.Status != 446 || row.Usage.OutputTokens != 900 || !strings.Contains(row.Hooks, `"deny":true`) {
							t.Fatalf("split %d: record %d %s, usage %+v, hooks %s", i, row.Status, row.Outcome, row.Usage, row.Hooks)
						}
					}
				})
			}
		}
	}
}

// upstreamPath returns the path that a call of a surface is sent to.
func (p *streamingProvider) upstreamPath(surface string) string {
	if p.name == "openai" && surface == "/v1/responses" {
		return surface
	}
	return p.path
}

// eventsFor returns the stream of the upstream for a call of a surface.
func (p *streamingProvider) eventsFor(surface string, parts []string) upstream.Response {
	if p.name != "openai" || surface != "/v1/responses" {
		return p.events(parts)
	}
	out := []string{responsesEvent(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"gpt-4o-mini","output":[]}}`),
		responsesEvent(`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`),
		responsesEvent(`{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`)}
	n := 3
	for _, part := range parts {
		out = append(out, responsesEvent(fmt.Sprintf(`{"type":"response.output_text.delta","sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s}`, n, quoted(part))))
		n++
	}
	text := quoted(strings.Join(parts, ""))
	content := `{"type":"output_text","text":` + text + `,"annotations":[]}`
	item := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[` + content + `]}`
	return events(append(out,
		responsesEvent(fmt.Sprintf(`{"type":"response.output_text.done","sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"text":%s}`, n, text)),
		responsesEvent(fmt.Sprintf(`{"type":"response.content_part.done","sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"part":%s}`, n+1, content)),
		responsesEvent(fmt.Sprintf(`{"type":"response.output_item.done","sequence_number":%d,"output_index":0,"item":%s}`, n+2, item)),
		responsesEvent(fmt.Sprintf(`{"type":"response.completed","sequence_number":%d,"response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-4o-mini","output":[%s],"usage":{"input_tokens":5,"output_tokens":900,"total_tokens":905}}}`, n+3, item)))...)
}

func responsesEvent(data string) string {
	var head struct{ Type string }
	if err := json.Unmarshal([]byte(data), &head); err != nil {
		panic(err)
	}
	return "event: " + head.Type + "\ndata: " + data + "\n\n"
}

// A stream that passes its guardrails is equal, byte for byte, to one without guardrails, apart from
// the event with the results, which only callers without strict format receive.
func TestBenignStream_IsByteEqual(t *testing.T) {
	t.Parallel()
	for _, p := range streamingProviders {
		for _, s := range streamingSurfaces {
			for _, mode := range []string{"window", "hold", "report"} {
				t.Run(p.name+s.path+" "+mode, func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					r.up.Handle(p.upstreamPath(s.path), upstream.Always(p.eventsFor(s.path, strings.Split(before+after, " "))))
					config := fmt.Sprintf(`x-gateway-config: {"output_guardrails":[{"id":"g1","deny":true,"stream":%q,"contains":{"words":[%q],"operator":"none"}}]}`, mode, planted)
					plain := stable(r.call("POST", s.path, fmt.Sprintf(s.request, p.model), p.headers(r)...).Text)
					judged := stable(r.call("POST", s.path, fmt.Sprintf(s.request, p.model), append(p.headers(r), config)...).Text)
					if plain != judged {
						t.Errorf("without\n%s\nwith\n%s", plain, judged)
					}
					loose := r.call("POST", s.path, fmt.Sprintf(s.request, p.model), append(p.headers(r), config, "x-gateway-strict-open-ai-compliance: false")...)
					if !strings.Contains(loose.Text, `"hook_results":{"after_request_hooks":[{"verdict":true`) {
						t.Errorf("no results after the stream: %s", loose.Text)
					}
				})
			}
		}
	}
}

// generated are ids and times that the gateway makes for translated streams.
var generated = regexp.MustCompile(`"(id|item_id|response_id)":"[A-Za-z0-9_-]+"|"(created|created_at)":[0-9]+`)

// stable replaces what differs between two equal calls.
func stable(text string) string { return generated.ReplaceAllString(text, `"$1$2":0`) }

// Signs that no one sees, however many are between the letters of a word, do not get it through a window:
// they count in no window. Strokes through letters hide no word either.
func TestGuardrailStreams_FindWordsWithSignsInside(t *testing.T) {
	t.Parallel()
	for name, sign := range map[string]string{"zero-width": "\u200c", "selector": "\ufe0f", "stroke": "\u0336", "ring": "\u20d8"} {
		for _, n := range []int{1, 30, 2000} {
			for _, p := range streamingProviders[:2] {
				r := newRig(t)
				var parts []string
				for _, letter := range "forbidden" {
					parts = append(parts, string(letter), strings.Repeat(sign, n))
				}
				r.up.Handle(p.upstreamPath("/v1/chat/completions"), upstream.Always(p.events(append(parts, " and more text"))))
				body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`, p.model)
				config := `x-gateway-config: {"output_guardrails":[{"id":"g1","deny":true,"contains":{"words":["forbidden"],"operator":"none"}}]}`
				a := r.call("POST", "/v1/chat/completions", body, append(p.headers(r), config)...)
				if !strings.Contains(a.Text, "content_filter") || strings.Count(a.Text, `"content":`) > 1 {
					t.Errorf("%s, %d times, %s: %.300s", name, n, p.name, a.Text)
				}
			}
		}
	}
}
