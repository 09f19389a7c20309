package guardedstream_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

// members returns all strings at a path of the events, joined.
func members(t *testing.T, stream string, path ...any) string {
	t.Helper()
	var b strings.Builder
	for _, e := range parse(t, stream) {
		if text, ok := at(e.json, path...).(string); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}

// delta returns chat chunks with a member of a delta in parts.
func delta(member string, parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(chatChunk(0, fmt.Sprintf("%q:%s", member, quote(p)), "null"))
	}
	return b.String()
}

const chatEnd = "data: [DONE]\n\n"

func TestEachTextOfAChatIsJudged(t *testing.T) {
	t.Parallel()
	parts := split("some words and hidden text after it, which is long enough", 3)
	for _, c := range []struct {
		name    string
		chunk   string // with %s for a part
		path    []any
		channel guardedstream.Channel
	}{
		{"content", `"content":%s`, []any{"content"}, guardedstream.Channel{Kind: "text"}},
		{"reasoning_content", `"reasoning_content":%s`, []any{"reasoning_content"}, guardedstream.Channel{Kind: "reasoning"}},
		{"reasoning", `"reasoning":%s`, []any{"reasoning"}, guardedstream.Channel{Kind: "reasoning", Block: 1}},
		{"refusal", `"refusal":%s`, []any{"refusal"}, guardedstream.Channel{Kind: "refusal"}},
		{"transcript", `"audio":{"id":"a","transcript":%s}`, []any{"audio", "transcript"}, guardedstream.Channel{Kind: "transcript"}},
		{"custom input", `"tool_calls":[{"index":3,"id":"c","type":"custom","custom":{"name":"n","input":%s}}]`, []any{"tool_calls", 0, "custom", "input"}, guardedstream.Channel{Kind: "input", Block: 3}},
		{"function_call", `"function_call":{"name":"f","arguments":%s}`, []any{"function_call", "arguments"}, guardedstream.Channel{Kind: "arguments"}},
		{"reasoning_details", `"reasoning_details":[{"type":"reasoning.text","text":%s,"index":0}]`, []any{"reasoning_details", 0, "text"}, guardedstream.Channel{Kind: "reasoning", Block: 2}},
		{"unknown member", `"new":{"deep":[{"x":%s}]}`, []any{"new", "deep", 0, "x"}, guardedstream.Channel{Kind: "text", Block: -1}},
	} {
		for _, mode := range []*judge{{window: 10}, {hold: true}} {
			j := &judge{window: mode.window, hold: mode.hold, secret: "hidden", with: "***"}
			stream := ""
			for _, p := range parts {
				stream += chatChunk(0, fmt.Sprintf(c.chunk, quote(p)), "null")
			}
			out := run(t, llm.ChatComplete, j, stream+chatChunk(0, "", `"stop"`)+chatEnd)
			got := members(t, out, append([]any{"choices", 0, "delta"}, c.path...)...)
			if want := strings.Replace(strings.Join(parts, ""), "hidden", "***", 1); got != want {
				t.Errorf("%s, hold %t: got %q, want %q", c.name, j.hold, got, want)
			}
			if j.result.Text(c.channel) == "" {
				t.Errorf("%s: no text of channel %v in %+v", c.name, c.channel, j.result.Texts)
			}
		}
	}
}

func TestTextsOfDifferentChannelsAreIndependent(t *testing.T) {
	t.Parallel()
	stream := ""
	for _, r := range "abc hidden def" {
		stream += chatChunk(0, `"content":`+quote(string(r)), "null") + chatChunk(1, `"content":"-"`, "null") + chatChunk(0, `"reasoning":`+quote(string(r)), "null")
	}
	stream += chatChunk(0, "", `"stop"`) + chatChunk(1, "", `"stop"`) + chatEnd
	cuts := make([]int, len(stream))
	for i := range cuts {
		cuts[i] = i
	}
	out := run(t, llm.ChatComplete, &judge{window: 8, secret: "hidden", with: "*"}, stream, cuts...)
	if got := members(t, out, "choices", 0, "delta", "reasoning"); got != "abc * def" {
		t.Errorf("got reasoning %q", got)
	}
	if got := members(t, out, "choices", 0, "delta", "content"); strings.ReplaceAll(got, "-", "") != "abc * def" {
		t.Errorf("got content %q", got)
	}
}

func TestReasoningDoesNotHoldTheTextAfterIt(t *testing.T) {
	t.Parallel()
	s := guardedstream.New(llm.ChatComplete, &judge{window: 10}, guardedstream.Options{})
	var out []byte
	for _, p := range split(strings.Repeat("r", 30), 1) {
		out, _ = s.Append(t.Context(), out, []byte(delta("reasoning_content", p)))
	}
	for _, p := range split(strings.Repeat("c", 30), 1) {
		out, _ = s.Append(t.Context(), out, []byte(delta("content", p)))
	}
	if got := members(t, string(out), "choices", 0, "delta", "content"); len(got) != 20 {
		t.Errorf("%d characters of content were released, want 20", len(got))
	}
}

func TestMetadataInEachEventDoesNotHoldTheStream(t *testing.T) {
	t.Parallel()
	s := guardedstream.New(llm.ChatComplete, &judge{window: 10}, guardedstream.Options{})
	var out []byte
	for range 30 {
		event := `data: {"id":"1","note":"by example dot com","choices":[{"index":0,"delta":{"content":"c"}}]}` + "\n\n"
		out, _ = s.Append(t.Context(), out, []byte(event))
	}
	if got := members(t, string(out), "choices", 0, "delta", "content"); len(got) != 20 {
		t.Errorf("%d characters of content were released, want 20", len(got))
	}
}

func TestAnEditedThinkingBlockIsDropped(t *testing.T) {
	t.Parallel()
	stream := named("message_start", messageStart) +
		messagesBlock(0, `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", "thinking", split("first I consider the matter at length, and then the hidden word", 5)...) +
		messagesBlock(1, `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", "thinking", "clean", " reasoning") +
		messagesBlock(2, `{"type":"text","text":""}`, "text_delta", "text", "the text") + messagesEnd("end_turn")
	for _, mode := range []*judge{{window: 8}, {hold: true}} {
		j := &judge{window: mode.window, hold: mode.hold, secret: "hidden", with: "*"}
		var cuts []int
		for cut := 0; cut < len(stream); cut += 40 {
			cuts = append(cuts, cut)
		}
		events := parse(t, run(t, llm.Messages, j, stream, cuts...))
		if open := checkBlocks(t, events); len(open) > 0 {
			t.Errorf("blocks %v are open", open)
		}
		got := ""
		for _, e := range events {
			got += fmt.Sprint(orEmpty(at(e.json, "content_block", "type")), orEmpty(at(e.json, "delta", "thinking")), orEmpty(at(e.json, "delta", "text")), orEmpty(at(e.json, "delta", "signature")))
		}
		if want := "thinkingclean reasoningc2lnbmVktextthe text"; got != want {
			t.Errorf("hold %t: got %q, want %q", j.hold, got, want)
		}
	}
}

func TestRepeatedTextsOfAResponseAreConsistent(t *testing.T) {
	t.Parallel()
	stream := responsesStream(split("some words and hidden text after it", 4)...)
	const want = "some words and *** text after it"
	for _, mode := range []*judge{{window: 8}, {hold: true}} {
		j := &judge{window: mode.window, hold: mode.hold, secret: "hidden", with: "***"}
		out := run(t, llm.CreateModelResponse, j, stream)
		for _, path := range [][]any{{"delta"}, {"text"}, {"part", "text"}, {"item", "content", 0, "text"}, {"response", "output", 0, "content", 0, "text"}} {
			if got := members(t, out, path...); got != want {
				t.Errorf("%v: got %q, want %q", path, got, want)
			}
		}
	}
}

func TestARepetitionThatDiffersIsJudged(t *testing.T) {
	t.Parallel()
	stream := strings.Replace(responsesStream("some ", "text"), `"text":"some text"`, `"text":"some `+`hidden text"`, 1)
	out := run(t, llm.CreateModelResponse, &judge{window: 8, secret: "hidden", with: "***"}, stream)
	if strings.Contains(out, "hidden") || !strings.Contains(out, "some *** text") {
		t.Errorf("got %s", out)
	}
}

func TestTheRequestInAResponseIsNotJudged(t *testing.T) {
	t.Parallel()
	j := &judge{window: 8, secret: "be kind", deny: true}
	if out := run(t, llm.CreateModelResponse, j, responsesStream("text")); !strings.Contains(out, "response.completed") {
		t.Errorf("the instructions of the request were denied: %s", out)
	}
}

func TestSurrogatesSplitBetweenEventsAreOneCharacter(t *testing.T) {
	t.Parallel()
	chunk := func(raw string) string { return chatChunk(0, `"content":"`+raw+`"`, "null") }
	stream := chunk(`a \ud83d`) + chunk(`\ude00 b`) + chatChunk(0, "", `"stop"`) + chatEnd
	for _, c := range []struct{ secret, want string }{
		{"", stream},
		{"😀", chunk(`a `) + chunk(`* b`) + chatChunk(0, "", `"stop"`) + chatEnd},
		{"b", chunk(`a \ud83d`) + chunk(`\ude00 *`) + chatChunk(0, "", `"stop"`) + chatEnd},
		{"a", chunk(`* \ud83d`) + chunk(`\ude00 b`) + chatChunk(0, "", `"stop"`) + chatEnd},
	} {
		for _, j := range []*judge{{window: 3}, {hold: true}, {hold: true, window: 3}} {
			j.secret, j.with = c.secret, "*"
			if got := run(t, llm.ChatComplete, j, stream, 100, 300); got != c.want {
				t.Errorf("secret %q, window %d, hold %t: got %q, want %q", c.secret, j.window, j.hold, got, c.want)
			}
			if got := j.result.Text(guardedstream.Channel{Kind: "text"}); c.secret == "" && got != "a 😀 b" {
				t.Errorf("got text %q", got)
			}
		}
	}
}

func TestEscapedTextIsJudgedDecoded(t *testing.T) {
	t.Parallel()
	stream := chatChunk(0, `"content":"caf\u00e9 h\u0069dden \ud83d\ude00"`, "null") + chatChunk(0, "", `"stop"`) + chatEnd
	for cut := range len(stream) {
		out := run(t, llm.ChatComplete, &judge{window: 8, secret: "hidden 😀", with: "*"}, stream, cut)
		if got := textOf(t, llm.ChatComplete, out); got != "café *" {
			t.Fatalf("cut at %d: got %q", cut, got)
		}
	}
}

func TestEditsRemoveLogProbabilities(t *testing.T) {
	t.Parallel()
	chunk := func(token string) string {
		return fmt.Sprintf(`data: {"id":"1","choices":[{"index":0,"delta":{"content":%[1]s},"logprobs":{"content":[{"token":%[1]s,"logprob":-0.1,"bytes":[1],"top_logprobs":[{"token":%[1]s}]}],"refusal":null},"finish_reason":null}]}`+"\n\n", quote(token))
	}
	stream := chunk("some ") + chunk("hid") + chunk("den") + chunk(" text of some length") + chatEnd
	for _, j := range []*judge{{window: 7}, {hold: true}} {
		j.secret, j.with = "hidden", "*"
		out := run(t, llm.ChatComplete, j, stream)
		if strings.Contains(out, "hid") || strings.Contains(out, "den") {
			t.Errorf("hold %t: got %s", j.hold, out)
		}
		if got := members(t, out, "choices", 0, "logprobs", "content", 0, "token"); got != "some  text of some length" {
			t.Errorf("hold %t: got tokens %q", j.hold, got)
		}
	}
}

func TestCompletionLogProbabilitiesAreJudged(t *testing.T) {
	t.Parallel()
	chunk := func(token string) string {
		return fmt.Sprintf(`data: {"id":"1","choices":[{"index":0,"text":"","logprobs":{"tokens":[%[1]s],"token_logprobs":[-1],"top_logprobs":[{%[1]s:-1}],"text_offset":[0]}}]}`+"\n\n", quote(token))
	}
	out := run(t, llm.Complete, &judge{window: 7, secret: "hidden", with: "*"}, chunk("some ")+chunk("hid")+chunk("den")+chunk(" text of some length")+chatEnd)
	if strings.Contains(out, "hid") || strings.Contains(out, "den") || !strings.Contains(out, "some ") {
		t.Errorf("got %s", out)
	}
}

func TestTextAfterTheEndIsNotReleasedUnjudged(t *testing.T) {
	t.Parallel()
	stream := chatStream("text") + chatChunk(0, `"content":"hidden"`, "null")
	for _, j := range []*judge{{window: 8}, {hold: true}, {hold: true, window: 8}} {
		j.secret = "hidden"
		out := run(t, llm.ChatComplete, j, stream, len(stream)-5)
		if strings.Contains(out, "hidden") || j.finishes != 1 {
			t.Errorf("window %d, hold %t, %d calls of Finish: %s", j.window, j.hold, j.finishes, out)
		}
	}
}

func TestContentBlocksRepeatTheContent(t *testing.T) {
	t.Parallel()
	chunk := func(member string) string { return chatChunk(0, member, "null") }
	block := func(index int, content string) string {
		return fmt.Sprintf(`"content_blocks":[{"index":%d,"delta":{%s}}]`, index, content)
	}
	stream := ""
	for _, p := range split("thinking about hidden things", 5) {
		stream += chunk(block(0, `"thinking":`+quote(p)))
	}
	stream += chunk(block(0, `"signature":"c2lnbmVk"`))
	for _, p := range split("a hidden text", 5) {
		stream += chunk(`"content":` + quote(p) + `,` + block(1, `"text":`+quote(p)))
	}
	stream += chunk(block(1, `"text":" of its own hidden"`)) + chatChunk(0, "", `"stop"`) + chatEnd
	for _, mode := range []*judge{{window: 8}, {hold: true}} {
		j := &judge{window: mode.window, hold: mode.hold}
		if out := run(t, llm.ChatComplete, j, stream); out != stream {
			t.Errorf("hold %t: got %q", j.hold, out)
		}
		if got := len(j.result.Texts); got != 3 {
			t.Errorf("got %d texts, want reasoning, content and the block: %+v", got, j.result.Texts)
		}
		j.secret, j.with = "hidden", "*"
		out := run(t, llm.ChatComplete, j, stream)
		for path, want := range map[string]string{"thinking": "thinking about * things", "text": "a * text of its own *", "signature": ""} {
			if got := members(t, out, "choices", 0, "delta", "content_blocks", 0, "delta", path); got != want {
				t.Errorf("hold %t: got %s %q, want %q", j.hold, path, got, want)
			}
		}
		if got := textOf(t, llm.ChatComplete, out); got != "a * text" {
			t.Errorf("hold %t: got content %q", j.hold, got)
		}
	}
}

func TestEditedReasoningOfAResponseHasNoEncryptedContent(t *testing.T) {
	t.Parallel()
	encrypted := strings.Repeat("c2VjcmV0", 8)
	head := `"output_index":0,"item_id":"rs_1","summary_index":0,`
	stream := func(text string) string {
		item := `{"id":"rs_1","type":"reasoning","encrypted_content":"` + encrypted + `","summary":[{"type":"summary_text","text":` + quote(text) + `}]}`
		return named("response.reasoning_summary_text.delta", `{"type":"response.reasoning_summary_text.delta",`+head+`"delta":`+quote(text)+`}`) +
			named("response.reasoning_summary_text.done", `{"type":"response.reasoning_summary_text.done",`+head+`"text":`+quote(text)+`}`) +
			named("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`) +
			named("response.completed", `{"type":"response.completed","response":`+responsesObject("completed", item, responsesUsage)+`}`)
	}
	for _, mode := range []*judge{{window: 8}, {hold: true}} {
		j := &judge{window: mode.window, hold: mode.hold, secret: "hidden", with: "*"}
		if out := run(t, llm.CreateModelResponse, j, stream("clean")); out != stream("clean") {
			t.Errorf("got %q", out)
		}
		want := strings.ReplaceAll(stream("a * cause"), `"`+encrypted+`"`, "null")
		if out := run(t, llm.CreateModelResponse, j, stream("a hidden cause")); out != want {
			t.Errorf("hold %t: got %q, want %q", j.hold, out, want)
		}
	}
}

func TestAnImageInADeltaIsNotText(t *testing.T) {
	t.Parallel()
	j := &judge{window: 8}
	image := `"content_blocks":[{"index":0,"delta":{"image_url":{"url":"data:image/png;base64,` + strings.Repeat("iVBORw0KGgo", 50) + `"}}}]`
	stream := chatChunk(0, image, "null")
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{})
	if out, _ := s.Append(t.Context(), nil, []byte(stream)); string(out) != stream || len(j.judged) > 0 {
		t.Errorf("got %q and %d chunks", out, len(j.judged))
	}
}

func TestTextsInTurnsAreNotIdle(t *testing.T) {
	t.Parallel()
	stream := ""
	for _, p := range split(strings.Repeat("long text ", 5)+"hid"+"den"+strings.Repeat(" more text", 5), 53) {
		stream += delta("reasoning", p) + delta("content", strings.Repeat("-", 30))
	}
	var cuts []int
	for cut := 0; cut < len(stream); cut += 20 {
		cuts = append(cuts, cut)
	}
	out := run(t, llm.ChatComplete, &judge{window: 8, secret: "hidden", deny: true}, stream+chatEnd, cuts...)
	if strings.Contains(out, "hid") {
		t.Errorf("the beginning of the secret leaks: %s", out)
	}
}

func TestAThinkingBlockThatIsHeldHasKeepAlives(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := guardedstream.New(llm.Messages, &judge{window: 4}, guardedstream.Options{KeepAlive: time.Second, Now: func() time.Time { return now }})
	stream := named("message_start", messageStart) + messagesBlock(0, `{"type":"thinking","thinking":""}`, "thinking_delta", "thinking", split("a long chain of thought", 8)...)
	var out []byte
	for e := range strings.SplitAfterSeq(stream, "\n\n") {
		out, _ = s.Append(t.Context(), out, []byte(e))
		now = now.Add(600 * time.Millisecond)
	}
	if got := strings.ReplaceAll(string(out), ": keep-alive\n\n", ""); got != stream || len(out) == len(stream) {
		t.Errorf("got %q", out)
	}
}

func TestLogProbabilitiesOfAResponseAreRepeated(t *testing.T) {
	t.Parallel()
	token := func(text string) string { return `{"token":` + quote(text) + `,"logprob":-1,"top_logprobs":[]}` }
	part := `"item_id":"msg_1","output_index":0,"content_index":0,`
	stream := ""
	for _, p := range []string{"a hid", "den text"} {
		stream += named("response.output_text.delta", `{"type":"response.output_text.delta",`+part+`"delta":`+quote(p)+`,"logprobs":[`+token(p)+`]}`)
	}
	stream += named("response.output_text.done", `{"type":"response.output_text.done",`+part+`"text":"a hidden text","logprobs":[`+token("a hid")+`,`+token("den text")+`]}`) +
		named("response.completed", `{"type":"response.completed","response":`+responsesObject("completed", responsesItem("completed", "a hidden text"), responsesUsage)+`}`)
	for _, mode := range []*judge{{window: 7}, {hold: true}} {
		j := &judge{window: mode.window, hold: mode.hold}
		if out := run(t, llm.CreateModelResponse, j, stream); out != stream || len(j.result.Texts) != 2 {
			t.Errorf("hold %t: got %q and texts %+v", j.hold, out, j.result.Texts)
		}
		j.secret, j.with = "hidden", "*"
		out := run(t, llm.CreateModelResponse, j, stream)
		if strings.Contains(out, "hid") || strings.Contains(out, `"token"`) || members(t, out, "delta") != "a * text" {
			t.Errorf("hold %t: got %q", j.hold, out)
		}
	}
}

func TestManyChannelsShareTheLast(t *testing.T) {
	t.Parallel()
	stream := ""
	for i := range 2200 {
		stream += fmt.Sprintf(`data: {"choices":[{"index":%d,"delta":{"content":"a hidden text"}}]}`+"\n\n", i)
	}
	j := &judge{window: 8, secret: "hidden", with: "*"}
	if out := run(t, llm.ChatComplete, j, stream); strings.Contains(out, "hidden") || len(j.result.Texts) > 2049 {
		t.Errorf("got %d texts", len(j.result.Texts))
	}
}
