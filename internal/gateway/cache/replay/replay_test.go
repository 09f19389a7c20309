package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/dialect/responses"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/replay"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

const maxBytes = 1 << 20

var now = replay.Options{Now: time.Unix(1800000000, 0), IncludeUsage: true}

// bodies are complete responses with much of what providers send.
var bodies = map[llm.Endpoint]string{
	llm.ChatComplete: `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1","provider":"openai",
		"choices":[{"index":0,"message":{"role":"assistant","content":"It is 5 °C.\n😀","refusal":null,"reasoning_content":"hm, \"hm\"",
		"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","index":1}},{"type":"url_citation","url_citation":{"index":1}}],
		"content_blocks":[{"type":"thinking","thinking":"hm","signature":"Eq=="},{"type":"redacted_thinking","data":"Em"},{"type":"text","text":"It is"}],
		"reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"signature":null},{"type":"reasoning.encrypted","data":"x","index":0}],
		"tool_calls":[{"id":"call_abcdefghijklmnop","type":"function","function":{"name":"get","arguments":"{\"a\":\"b\"}","thought_signature":"Cp"}},
		{"id":"call_bbbbbbbbbbbbbbbb__thought__CpQB","type":"custom","custom":{"name":"sql","input":"SELECT 1"}}]},
		"logprobs":{"content":[{"token":"It","logprob":-0.1,"bytes":[1],"top_logprobs":[]}],"refusal":null},"finish_reason":"tool_calls"},
		{"index":1,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"3GFHvTXTg","type":"function","function":{"name":"get","arguments":""}}]},"logprobs":null,"finish_reason":"stop"}],
		"citations":["https://a.example"],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1"}`,
	llm.Complete: `{"id":"cmpl-uqkvlQyYK7bGYrRHQ0eXlWi7","object":"text_completion","created":1589478378,"model":"m",
		"choices":[{"text":"\n\nThis is","index":0,"logprobs":{"tokens":["a"],"top_logprobs":null},"finish_reason":"length"},{"text":"","index":1,"logprobs":null,"finish_reason":"stop"}],
		"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`,
	llm.Messages: `{"id":"msg_014p7gG3wDgGV9EUtLvnow3U","type":"message","role":"assistant","model":"claude-opus-4-5","content":[
		{"type":"thinking","thinking":"I need to\nthink","signature":"EqQBCgIYAhIM"},{"type":"redacted_thinking","data":"EmwKAhgB"},
		{"type":"text","text":"Let me \"look\" 😀","citations":[{"type":"web_search_result_location","cited_text":"x","index":1},{"type":"x","index":1}]},
		{"type":"tool_use","id":"toolu_01T1x1fJ34qAmk2tNTrN7Up6","name":"get_weather","input":{"location": "San \"Francisco\"", "n":[1.50,null]}},
		{"type":"tool_use","id":"toolu_02T1x1fJ34qAmk2tNTrN7Up6","name":"get_time","input":{}},
		{"type":"server_tool_use","id":"srvtoolu_014hJH82Qum7Td6UV8gDXThB","name":"web_search","input":{"query":"q"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_014hJH82Qum7Td6UV8gDXThB","content":[{"type":"web_search_result","encrypted_content":"Ev"}]}],
		"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":472,"output_tokens":89,"server_tool_use":{"web_search_requests":1}}}`,
	llm.CreateModelResponse: `{"id":"resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b","object":"response","created_at":1741476542,"completed_at":1741476543,"status":"completed","error":null,
		"incomplete_details":null,"instructions":null,"model":"gpt-4.1","output":[
		{"type":"reasoning","id":"rs_67ccd2bf17f0819081ff3bb2cf6508e6","summary":[{"type":"summary_text","text":"Two cities"}],"encrypted_content":"gAAA"},
		{"type":"message","id":"msg_67ccd2bf17f0819081ff3bb2cf6508e6","status":"completed","role":"assistant","content":[{"type":"output_text","text":"In a \"forest\"","annotations":[{"type":"file_citation","index":3,"file_id":"f"}],"logprobs":[]}]},
		{"type":"function_call","id":"fc_67ca09c6bedc8190a7abfec07b1a1332","call_id":"call_unLAR8MvFNptuiZK6K6HCy5k","name":"get","arguments":"{\"a\":1}","status":"completed"},
		{"type":"custom_tool_call","id":"ctc_67ca09c6bedc8190a7abfec07b1a1332","call_id":"call_vnLAR8MvFNptuiZK6K6HCy5k","name":"sql","input":"SELECT 1","status":"completed"},
		{"type":"web_search_call","id":"ws_67ccf18f64008190a39b619f4c8455ef","status":"completed","action":{"type":"search","query":"q"}}],
		"parallel_tool_calls":true,"usage":{"input_tokens":36,"output_tokens":87,"total_tokens":123},"metadata":{}}`,
}

// decode decodes JSON without its ids and times.
func decode(t testing.TB, body []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return withoutIDs(v)
}

func withoutIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"id", "call_id", "tool_use_id", "created", "created_at", "completed_at"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = withoutIDs(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withoutIDs(v[i])
		}
	}
	return v
}

// events returns the data of the events, and checks that each has the form of the surface.
func events(t testing.TB, ep llm.Endpoint, stream []byte) []string {
	t.Helper()
	var list []string
	for _, ev := range strings.Split(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		name, data, named := strings.Cut(ev, "\n")
		if !named {
			data = name
		}
		data, ok := strings.CutPrefix(data, "data: ")
		isChoices := ep == llm.ChatComplete || ep == llm.Complete
		switch {
		case !ok || named == isChoices:
			t.Errorf("event %q", ev)
		case named && name != "event: "+jsonedit.Text([]byte(data), "type"):
			t.Errorf("event %q", ev)
		case data != "[DONE]" && !json.Valid([]byte(data)):
			t.Errorf("event %q is not JSON", ev)
		}
		list = append(list, data)
	}
	return list
}

func TestAStreamOfAResponseAssemblesToTheResponse(t *testing.T) {
	t.Parallel()
	for ep, body := range bodies {
		stream := replay.Stream(nil, ep, []byte(body), now)
		events(t, ep, stream)
		got := replay.Assemble(ep, stream, maxBytes)
		if got.Cut || got.Failed {
			t.Errorf("%s: %+v", ep, got)
		}
		if diff := cmp.Diff(decode(t, []byte(body)), decode(t, got.Body)); diff != "" {
			t.Errorf("%s: %s\n%s", ep, diff, stream)
		}
		if reason := entry.Storable(&entry.Candidate{Endpoint: ep, Status: 200, Body: got.Body}, maxBytes); reason != "" {
			t.Errorf("%s: %s", ep, reason)
		}
	}
}

// ids returns the strings of all members that are ids.
func ids(v any, found map[string]int) map[string]int {
	switch v := v.(type) {
	case map[string]any:
		for name, val := range v {
			if id, ok := val.(string); ok && (name == "id" || strings.HasSuffix(name, "_id")) {
				found[id]++
			}
			ids(val, found)
		}
	case []any:
		for _, e := range v {
			ids(e, found)
		}
	}
	return found
}

func idsOf(t testing.TB, body []byte) map[string]int {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return ids(v, map[string]int{})
}

func TestHitsHaveNewIDsAndTimes(t *testing.T) {
	t.Parallel()
	retained := map[string]bool{"rs_67ccd2bf17f0819081ff3bb2cf6508e6": true, "ws_67ccf18f64008190a39b619f4c8455ef": true, "f": true}
	for ep, body := range bodies {
		old := idsOf(t, []byte(body))
		first, second := replay.JSON(ep, []byte(body), now), replay.JSON(ep, []byte(body), now)
		if diff := cmp.Diff(decode(t, []byte(body)), decode(t, first)); diff != "" {
			t.Errorf("%s: %s", ep, diff)
		}
		a, b := idsOf(t, first), idsOf(t, second)
		if len(a) != len(old) {
			t.Errorf("%s: ids %v became %v", ep, old, a)
		}
		for id, n := range a {
			switch {
			case retained[id]:
			case old[id] > 0 || b[id] > 0:
				t.Errorf("%s: id %s occurs in two responses", ep, id)
			case n > 1 && !strings.HasPrefix(id, "srvtoolu_"):
				t.Errorf("%s: id %s occurs %d times", ep, id, n)
			}
		}
		for _, name := range []string{"created", "created_at", "completed_at"} {
			if raw, ok := jsonedit.Find(first, name); ok && string(raw) != "1800000000" {
				t.Errorf("%s: %s is %s", ep, name, raw)
			}
		}
	}
}

func TestNewIDsHaveTheFormOfTheOld(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"call_abcdefghijklmnopqrstuvwx", `^call_[A-Za-z0-9]{24}$`},
		{"call_1", `^call_[A-Za-z0-9]{24}$`},
		{"toolu_bdrk_01T1x1fJ34qAmk2t", `^toolu_bdrk_[A-Za-z0-9]{16}$`},
		{"3GFHvTXTg", `^[A-Za-z0-9]{9}$`},
		{"0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f", `^[0-9a-f-]{36}$`},
		{"call_bbbbbbbbbbbbbbbb__thought__CpQB", `^call_[A-Za-z0-9]{16}__thought__CpQB$`},
		{"", `^[A-Za-z0-9]{24}$`},
	} {
		body := fmt.Sprintf(`{"choices":[{"message":{"tool_calls":[{"id":%q}]}}],"id":%q}`, c[0], c[0])
		got := replay.JSON(llm.ChatComplete, []byte(body), now)
		id := jsonedit.Text(got, "id")
		if id == c[0] || !regexp.MustCompile(c[1]).MatchString(id) {
			t.Errorf("%s became %s", c[0], id)
		}
	}
}

func TestTheCallerMayChooseTheID(t *testing.T) {
	t.Parallel()
	for ep, body := range bodies {
		o := replay.Options{Now: now.Now, ID: "resp_gw1"}
		if got := jsonedit.Text(replay.JSON(ep, []byte(body), o), "id"); got != o.ID {
			t.Errorf("%s: %s", ep, got)
		}
		if got := replay.Assemble(ep, replay.Stream(nil, ep, []byte(body), o), maxBytes); jsonedit.Text(got.Body, "id") != o.ID {
			t.Errorf("%s: %s", ep, got.Body)
		}
	}
}

// TestItemsOfTheGatewayStillNameTheirResponse covers responses that the gateway stores: callers refer
// to their items by id.
func TestItemsOfTheGatewayStillNameTheirResponse(t *testing.T) {
	t.Parallel()
	const body = `{"id":"resp_gw0193f3a04c1e7b6f9d2a0c6d","status":"completed","output":[{"type":"reasoning","id":"rs_0193f3a04c1e7b6f9d2a0c6d0"},` +
		`{"type":"function_call","id":"fc_0193f3a04c1e7b6f9d2a0c6d12","call_id":"call_abcdefghijkl"}]}`
	for _, id := range []string{"", "resp_gw9993f3a04c1e7b6f9d2a0c6d"} {
		got := replay.JSON(llm.CreateModelResponse, []byte(body), replay.Options{ID: id})
		response := jsonedit.Text(got, "id")
		if response == jsonedit.Text([]byte(body), "id") || id != "" && response != id {
			t.Errorf("the response has the id %s", response)
		}
		output, _ := jsonedit.Find(got, "output")
		for item := range jsonedit.Elements(output) {
			if owner, ok := responses.Whose(jsonedit.Text(item, "id")); !ok || owner != response || bytes.Contains(item, []byte("abcdefghijkl")) {
				t.Errorf("item %s belongs to %s, want %s", item, owner, response)
			}
		}
	}
}

func TestTextsAreCutAtFiveHundredCharacters(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é😀", 600) + "end"
	for ep, format := range map[llm.Endpoint]string{
		llm.ChatComplete:        `{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`,
		llm.Complete:            `{"choices":[{"index":0,"text":%q,"finish_reason":"stop"}]}`,
		llm.Messages:            `{"type":"message","content":[{"type":"text","text":%q}],"stop_reason":"end_turn"}`,
		llm.CreateModelResponse: `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":%q}]}]}`,
	} {
		stream := replay.Stream(nil, ep, fmt.Appendf(nil, format, text), now)
		parts, joined := 0, ""
		for _, data := range events(t, ep, stream) {
			part := partOf(ep, []byte(data))
			if n := utf8.RuneCountInString(part); n > 500 || strings.ContainsRune(part, utf8.RuneError) {
				t.Errorf("%s: a part of %d characters", ep, n)
			}
			if part != "" {
				parts++
			}
			joined += part
		}
		if joined != text || parts != 3 {
			t.Errorf("%s: %d parts: %q", ep, parts, joined)
		}
	}
}

// partOf returns the text of an event.
func partOf(ep llm.Endpoint, data []byte) string {
	switch ep {
	case llm.Messages:
		return jsonedit.Text(data, "delta", "text")
	case llm.CreateModelResponse:
		return jsonedit.Text(data, "delta")
	}
	choices, _ := jsonedit.Find(data, "choices")
	for c := range jsonedit.Elements(choices) {
		return jsonedit.Text(c, "delta", "content") + jsonedit.Text(c, "text")
	}
	return ""
}

func TestRecordedStreamsOfAnthropicAreAssembled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "dialect", "anthropic", "testdata")
	for _, name := range []string{"text", "thinking", "tools", "search"} {
		stream, err := os.ReadFile(filepath.Join(dir, name+".sse"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		got := replay.Assemble(llm.Messages, stream, maxBytes)
		if diff := cmp.Diff(decode(t, want), decode(t, got.Body)); diff != "" || got.Cut || got.Failed {
			t.Errorf("%s: %v %v %s", name, got.Cut, got.Failed, diff)
		}
	}
}

func TestStreamsOfProvidersAreAssembled(t *testing.T) {
	t.Parallel()
	chat := func(chunks ...string) string {
		return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
	}
	for _, c := range []struct {
		name, stream, want string
	}{
		{"OpenAI", chat(
			`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","obfuscation":"xx","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}`,
			`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"Hi \ud83d"},"logprobs":null,"finish_reason":null}],"usage":null}`,
			`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"\ude00"},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
			`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"total_tokens":3}}`),
			`{"model":"m","system_fingerprint":"fp","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi 😀","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"total_tokens":3}}`},
		{"tool calls", chat(
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`),
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
		{"tool calls without an index", chat(
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`),
			`{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
		{"content blocks of the gateway", chat(
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
			`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":0,"delta":{"thinking":"h"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":0,"delta":{"thinking":"m"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":0,"delta":{"signature":"Eq"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"a","content_blocks":[{"index":1,"delta":{"text":"a"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":1,"delta":{"citation":{"x":1}}}]},"finish_reason":"stop"}]}`),
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a","content_blocks":[{"type":"thinking","thinking":"hm","signature":"Eq"},{"type":"text","text":"a","citations":[{"x":1}]}]},"finish_reason":"stop"}]}`},
		{"Perplexity", chat(
			`{"citations":["a"],"choices":[{"index":0,"message":{"role":"assistant","content":"H"},"delta":{"role":"assistant","content":"H"}}]}`,
			`{"citations":["a"],"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"delta":{"role":"assistant","content":"i"},"finish_reason":"stop"}]}`),
			`{"object":"chat.completion","citations":["a"],"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`},
	} {
		got := replay.Assemble(llm.ChatComplete, []byte(c.stream), maxBytes)
		if got.Cut || got.Failed {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		if diff := cmp.Diff(decode(t, []byte(c.want)), decode(t, got.Body)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestCutAndFailedStreamsAreReported(t *testing.T) {
	t.Parallel()
	for ep, body := range bodies {
		stream := replay.Stream(nil, ep, []byte(body), now)
		if got := replay.Assemble(ep, stream[:len(stream)/2], maxBytes); !got.Cut && !got.Failed {
			t.Errorf("%s: half of a stream is complete", ep)
		}
		if got := replay.Assemble(ep, stream, 50); !got.Cut {
			t.Errorf("%s: a stream beyond the limit is complete", ep)
		}
		if got := replay.Assemble(ep, nil, maxBytes); !got.Cut {
			t.Errorf("%s: an empty stream is complete", ep)
		}
		for _, bad := range []string{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", "data: {\"error\":{\"message\":\"x\"}}\n\n", "data: {\n\n"} {
			if got := replay.Assemble(ep, append([]byte(bad), stream...), maxBytes); !got.Failed {
				t.Errorf("%s: %q is not a failure", ep, bad)
			}
		}
	}
	if _, ok := replay.NewAssembler(llm.Embed, maxBytes); ok || replay.CanStream(llm.Embed) {
		t.Error("embeddings have no streams")
	}
}
