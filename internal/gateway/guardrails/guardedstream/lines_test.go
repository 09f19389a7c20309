package guardedstream_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

func TestUnusualLinesAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stream, want string }{
		{"text that is not JSON", "data: a hidden text\n\n", "data: a *** text\n\n"},
		{"text in two events", "data: a hid\n\ndata: den text\n\n", "data: a ***\n\ndata:  text\n\n"},
		{"broken JSON", `data: {"choices":[{"delta":{"content":"hidden"` + "\n\n", `data: {"choices":[{"delta":{"content":"***"` + "\n\n"},
		{"a comment", ": a hidden comment\n\n", ": a *** comment\n\n"},
		{"an unknown field", "note: hidden\n\n", "note: ***\n\n"},
		{"a line without a field", "hidden\n\n", "***\n\n"},
		{"an event name", "event: a hidden name\ndata: {}\n\n", "event: a *** name\ndata: {}\n\n"},
		{"CRLF and an id", "id: 7\r\nretry: 10\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hidden\"}}]}\r\n\r\n", "id: 7\r\nretry: 10\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"***\"}}]}\r\n\r\n"},
		{"JSON in two lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hidden\"}}]}\n\n", "data: {\"choices\": [{\"delta\":{\"content\":\"***\"}}]}\n\n"},
		{"an error", `data: {"error":{"message":"a hidden cause","type":"server_error"}}` + "\n\n", `data: {"error":{"message":"a *** cause","type":"server_error"}}` + "\n\n"},
		{"an event without its blank line", `data: {"choices":[{"delta":{"content":"hidden"}}]}`, `data: {"choices":[{"delta":{"content":"***"}}]}`},
		{"a list", `data: ["hidden"]` + "\n\n", `data: ["***"]` + "\n\n"},
	} {
		for cut := range len(c.stream) {
			if got := run(t, llm.ChatComplete, &judge{window: 8, secret: "hidden", with: "***"}, c.stream, cut); got != c.want {
				t.Errorf("%s, cut at %d: got %q, want %q", c.name, cut, got, c.want)
			}
		}
	}
}

func TestRepeatedCommentsAreJudgedOnce(t *testing.T) {
	t.Parallel()
	j := &judge{window: 8}
	stream := strings.Repeat(": processing the call\n\n", 5) + chatStream("text")
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{})
	out, _ := s.Append(t.Context(), nil, []byte(stream[:46]))
	if string(out) != stream[:46] {
		t.Errorf("comments are held: %q", out)
	}
	if out, _ := runStream(t, s, stream[46:]); out != stream[46:] {
		t.Errorf("got %q", out)
	}
	if got := j.result.Texts[0].Text; got != "processing the call" {
		t.Errorf("got text %q", got)
	}
}

// TestDamagedStreamsDoNotLeak drops, repeats and damages parts of streams.
func TestDamagedStreamsDoNotLeak(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		surface := rapid.SampledFrom(surfaces).Draw(rt, "surface")
		text := before + secret + after
		stream := streamOf(surface, split(text, rapid.IntRange(1, 30).Draw(rt, "width"))...)
		if rapid.Bool().Draw(rt, "calls") {
			stream = []string{toolStream(), completionStream("text"), toolBlock(0, "a", "b", split(quote(text), 3)...), callsResponse(quote(text))}[slices.Index(surfaces, surface)]
		}
		lines := strings.SplitAfter(stream, "\n")
		for range rapid.IntRange(0, 4).Draw(rt, "damages") {
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			switch rapid.IntRange(0, 4).Draw(rt, "damage") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, lines[i])
			case 2:
				lines[i] = strings.Replace(lines[i], "index", "position", 1)
			case 3:
				lines[i] = strings.ReplaceAll(lines[i], rapid.SampledFrom([]string{"delta", "content", "text", "type", "item", "choices", `"`, "data", "response", "{", "}"}).Draw(rt, "old"), rapid.SampledFrom([]string{"other", "", "[", "content"}).Draw(rt, "new"))
			case 4:
				lines[i] = lines[i][:rapid.IntRange(0, len(lines[i])).Draw(rt, "length")]
			}
			if len(lines) == 0 {
				return
			}
		}
		stream = strings.Join(lines, "")
		cut := rapid.IntRange(0, len(stream)).Draw(rt, "cut")
		j := &judge{window: rapid.IntRange(0, 12).Draw(rt, "window"), hold: rapid.Bool().Draw(rt, "hold")}
		if out := run(t, surface, j, stream, cut); j.window == 0 && !j.hold && out != stream {
			rt.Fatalf("got %q, want %q", out, stream)
		}
		// A secret in one event is never released: each fragment of it is too short to be a part.
		j = &judge{window: secretLength, hold: j.hold, secret: "Ω", deny: true}
		if out := run(t, surface, j, stream, cut); strings.Contains(out, "Ω") {
			rt.Fatalf("a denied character leaks: %q", out)
		}
		j = &judge{window: secretLength, secret: "Ω", with: "*"}
		if out := run(t, surface, j, stream, cut); strings.Contains(out, "Ω") {
			rt.Fatalf("an edited character leaks: %q", out)
		}
	})
}

func TestTextInUnexpectedPlacesIsJudged(t *testing.T) {
	t.Parallel()
	chat := func(choice string) string { return `{"id":"1","choices":[` + choice + `]}` }
	chatDelta := func(delta string) string { return chat(`{"index":0,"delta":` + delta + `}`) }
	for _, c := range []struct {
		surface llm.Endpoint
		data    []string
	}{
		{llm.ChatComplete, []string{
			`{"choices":"%s"}`, chat(`"%s"`), chat(`{"delta":"%s"}`), chat(`{"message":{"content":"%s"}}`), chat(`{"finish_reason":"%s"}`), `{"id":"%s"}`, `{"created":{"x":"%s"}}`, `{"usage":{"x":"%s"}}`,
			chatDelta(`{"content":[{"type":"text","text":"%s"}]}`), chatDelta(`{"content":{"x":"%s"}}`), chatDelta(`{"audio":"%s"}`), chatDelta(`{"audio":["%s"]}`),
			chatDelta(`{"tool_calls":"%s"}`), chatDelta(`{"tool_calls":["%s"]}`), chatDelta(`{"tool_calls":[{"index":"%s"}]}`), chatDelta(`{"tool_calls":[{"function":"%s"}]}`),
			chatDelta(`{"tool_calls":[{"function":{"name":"%s"}}]}`), chatDelta(`{"tool_calls":[{"function":{"function":{"arguments":"%s"}}}]}`),
			chatDelta(`{"tool_calls":[{"function":{"arguments":{"a":"%s"}}}]}`), chatDelta(`{"function_call":"%s"}`), chatDelta(`{"function_call":["%s"]}`),
			chatDelta(`{"content_blocks":"%s"}`), chatDelta(`{"content_blocks":["%s"]}`), chatDelta(`{"content_blocks":[{"delta":"%s"}]}`),
			chatDelta(`{"content_blocks":[{"delta":{"signature":"%s"}}]}`), chatDelta(`{"reasoning_details":{"x":"%s"}}`), chatDelta(`{"reasoning_details":["%s"]}`),
			chat(`{"logprobs":"%s"}`), chat(`{"logprobs":{"content":"%s"}}`), chat(`{"logprobs":{"content":["%s"]}}`), chat(`{"logprobs":{"content":[{"token":["%s"]}]}}`),
			chat(`{"logprobs":{"content":[{"top_logprobs":"%s"}]}}`), chat(`{"logprobs":{"content":[{"top_logprobs":["%s"]}]}}`), chat(`{"logprobs":{"x":"%s"}}`),
			chatDelta(`{"refusal":["%s"]}`), chatDelta(`{"reasoning":{"x":"%s"}}`), chatDelta(`{"image_url":{"url":"data:%s;base64,AAAA"}}`),
		}},
		{llm.Complete, []string{`{"choices":[{"text":["%s"]}]}`, `{"choices":[{"logprobs":{"tokens":"%s"}}]}`, `{"choices":[{"logprobs":{"top_logprobs":[{"a":"%s"}]}}]}`}},
		{llm.Messages, []string{
			`{"type":"message_start","message":"%s"}`, `{"type":"message_start","message":{"content":"%s","usage":{"x":"%s"}}}`, `{"type":"content_block_start","content_block":"%s"}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"%s","input":{"a":["%s"]}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"web_search_tool_result","content":[{"title":"%s"}]}}`,
			`{"type":"content_block_delta","index":0,"delta":"%s"}`, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"%s"}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"%s"}}`, `{"type":"message_delta","delta":{"stop_reason":"%s","stop_sequence":"%s"},"usage":"%s"}`,
			`{"type":"other","text":"%s"}`, `{"index":{"x":"%s"}}`, `{"type":"%s"}`, `{"text":["%s"]}`,
		}},
		{llm.CreateModelResponse, []string{
			`{"type":"response.output_text.delta","delta":{"x":"%s"}}`, `{"type":"response.output_text.done","text":["%s"]}`, `{"type":"other","delta":"%s"}`, `{"delta":"%s"}`,
			`{"type":"response.output_item.done","item":"%s"}`, `{"type":"response.output_item.done","item":{"type":"message","content":"%s"}}`,
			`{"type":"response.output_item.done","item":{"type":"message","content":["%s",{"type":"new","text":"%s"}]}}`, `{"type":"response.output_item.done","item":{"type":"mcp_call","output":"%s"}}`,
			`{"type":"response.output_item.done","item":{"type":"code_interpreter_call","code":"%s","outputs":[{"logs":"%s"}]}}`, `{"type":"response.content_part.done","part":"%s"}`,
			`{"type":"response.completed","response":"%s"}`, `{"type":"response.completed","response":{"output":"%s"}}`, `{"type":"response.completed","response":{"output":["%s"]}}`,
			`{"type":"response.completed","response":{"output":[{"type":"function_call","arguments":{"a":"%s"}}],"usage":"%s","output_text":"%s"}}`, `{"type":"response.failed","response":{"error":{"message":"%s"}}}`,
			`{"type":"response.output_text.annotation.added","annotation":{"title":"%s"}}`, `{"type":"response.output_text.delta","logprobs":[{"token":["%s"]}]}`, `{"sequence_number":"%s"}`, `{"sequence_number":{"x":"%s"}}`, `{"type":"response.audio.delta","delta":"%s"}`, `{"output_index":"%s"}`,
		}},
	} {
		for _, data := range c.data {
			stream := "data: " + strings.ReplaceAll(data, "%s", "a hidden text") + "\n\n"
			for _, mode := range []*judge{{window: 8}, {hold: true}} {
				j := &judge{window: mode.window, hold: mode.hold}
				if out := run(t, c.surface, j, stream); out != stream {
					t.Errorf("%s: got %q, want %q", c.surface, out, stream)
				}
				j.secret, j.with = "hidden", "***"
				if out := run(t, c.surface, j, stream); strings.Contains(out, "hidden") {
					t.Errorf("%s, hold %t: got %q", c.surface, j.hold, out)
				}
				parse(t, run(t, c.surface, j, stream))
				j.deny = true
				if out := run(t, c.surface, j, stream); strings.Contains(out, "hidden") {
					t.Errorf("%s, hold %t: the denied stream is %q", c.surface, j.hold, out)
				}
			}
		}
	}
}

func TestEqualFragmentsOfAnUnknownTextAreJoined(t *testing.T) {
	t.Parallel()
	for _, format := range []string{`{"choices":[{"message":{"content":"%s"}}]}`, `{"choices":[{"delta":{"new":"%s"}}]}`, `{"type":"transcript.text.delta","delta":"%s"}`} {
		stream := ""
		for _, text := range []string{"ha", "ha", "ho"} {
			stream += "data: " + strings.Replace(format, "%s", text, 1) + "\n\n"
		}
		out := run(t, llm.ChatComplete, &judge{window: 8, secret: "hahaho", deny: true}, stream, 20)
		if strings.Contains(out, `"ha"`) {
			t.Errorf("%s: the text leaks: %s", format, out)
		}
	}
}
