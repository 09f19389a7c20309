package anthropic_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
)

// lines are the data of a stream's events, for a look at all of them.
func lines(stream []byte) string {
	var out []string
	for _, l := range strings.Split(string(stream), "\n") {
		if d, ok := strings.CutPrefix(l, "data: "); ok {
			out = append(out, d)
		}
	}
	return strings.Join(out, "\n")
}

func delta(block int, part llm.PartKind, kind llm.EventKind, text string) llm.Event {
	return llm.Event{Kind: kind, Block: block, Part: part, Text: text}
}

// TestMixedCallsComeApart: pieces of two calls that chat streams mix are written one
// call after the other, the first as it comes.
func TestMixedCallsComeApart(t *testing.T) {
	t.Parallel()
	const call = llm.CallPart
	got := lines(write([]llm.Event{
		{Kind: llm.EventStart, ID: "chatcmpl-1", Model: "gpt-4o"},
		{Kind: llm.EventBlock}, delta(0, 0, llm.EventText, "Hm."), {Kind: llm.EventBlockEnd},
		{Kind: llm.EventBlock, Block: 1, Part: call, ID: "call_a", Name: "f"},
		{Kind: llm.EventBlock, Block: 2, Part: call, ID: "call_b", Name: "g"},
		delta(1, call, llm.EventArguments, `{"a":`),
		delta(2, call, llm.EventArguments, `{"b":2`),
		delta(1, call, llm.EventArguments, `1}`),
		delta(2, call, llm.EventArguments, `}`),
		{Kind: llm.EventBlockEnd, Block: 1, Part: call}, {Kind: llm.EventBlockEnd, Block: 2, Part: call},
		{Kind: llm.EventFinish, Finish: llm.FinishToolCalls, Text: "tool_calls"},
		{Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 20, CachedTokens: 5, OutputTokens: 7, Reported: true}},
		{Kind: llm.EventEnd},
	}))
	want := `{"type":"message_start","message":{"id":"msg_01hz0000000000000000000000","type":"message","role":"assistant","model":"gpt-4o","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hm."}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_a","name":"f","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}
{"type":"content_block_stop","index":1}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"call_b","name":"g","input":{}}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"b\":2"}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"}"}}
{"type":"content_block_stop","index":2}
{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":15,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":7}}
{"type":"message_stop"}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Clients that read the input from the beginning of a stream get it there, where the provider
// tells it so early. Of the answer nothing is counted yet.
func TestInputIsToldFirst(t *testing.T) {
	t.Parallel()
	got := lines(write([]llm.Event{
		{Kind: llm.EventStart, Model: "m", Usage: &llm.Usage{InputTokens: 20, CachedTokens: 5, OutputTokens: 3, ReasoningTokens: 2, Reported: true}},
		{Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 21, CachedTokens: 5, OutputTokens: 7, Reported: true}},
		{Kind: llm.EventEnd},
	}))
	for _, want := range []string{
		`"stop_sequence":null,"usage":{"input_tokens":15,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":0}}}`,
		`"usage":{"input_tokens":16,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":7}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// TestWholeCallsDoNotWait: the second call is told as it comes once the first is whole,
// though chat streams tell the end of both at the very end.
func TestWholeCallsDoNotWait(t *testing.T) {
	t.Parallel()
	enc := client.NewEncoder(newResponseContext())
	var out []byte
	for _, e := range []llm.Event{
		{Kind: llm.EventBlock, Part: llm.CallPart, ID: "call_a", Name: "f"},
		delta(0, llm.CallPart, llm.EventArguments, `{}`),
		{Kind: llm.EventBlock, Block: 1, Part: llm.CallPart, ID: "call_b", Name: "g"},
	} {
		out = enc.Append(out, &e)
	}
	if !strings.Contains(string(out), "call_b") {
		t.Errorf("the second call waits: %s", out)
	}
}

// TestPictures: callers who are not strict get what a model drew as blocks of a request's
// form, each whole, in its place; to others it would be a block of a kind that they do not know.
func TestPictures(t *testing.T) {
	t.Parallel()
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"aGkhaGkh"}}`
	events := []llm.Event{
		{Kind: llm.EventStart},
		{Kind: llm.EventBlock, Part: llm.ImagePart},
		{Kind: llm.EventBlock, Block: 1}, delta(1, 0, llm.EventText, "x"),
		{Kind: llm.EventMedia, Part: llm.ImagePart, Media: &llm.Media{MIME: "image/webp", Data: "aGkh"}},
		{Kind: llm.EventMedia, Part: llm.ImagePart, Media: &llm.Media{MIME: "image/webp", Data: "aGkh"}},
		{Kind: llm.EventBlockEnd, Part: llm.ImagePart}, {Kind: llm.EventBlockEnd, Block: 1},
		{Kind: llm.EventEnd},
	}
	got := lines(write(events))
	for _, want := range []string{`{"type":"content_block_start","index":0,"content_block":` + image + `}`, `{"type":"content_block_stop","index":0}`, `"index":1,"delta":{"type":"text_delta","text":"x"}`} {
		split := strings.Index(got, want)
		if split < 0 {
			t.Fatalf("no %s in\n%s", want, got)
		}
		got = got[split:]
	}
	response := &llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{
		{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/webp", Data: "aGkhaGkh"}}, {Kind: llm.ImagePart, Media: &llm.Media{URL: "https://x.example/a.png"}}, {Text: "x"},
	}}}}
	want := `"content":[` + image + `,{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}},{"type":"text","text":"x"}]`
	if got := string(client.EncodeResponse(nil, response, newResponseContext())); !strings.Contains(got, want) {
		t.Error(got)
	}
	a := newResponseContext()
	a.Strict = true
	enc := client.NewEncoder(a)
	out := client.EncodeResponse(nil, response, a)
	for i := range events {
		out = enc.Append(out, &events[i])
	}
	if strings.Contains(string(out), "image") {
		t.Errorf("strict callers get %s", out)
	}
}

// TestMessagesHoldNoMore: further choices, recordings, signatures of calls and what
// others cite have no place in a message; its blocks are numbered without gaps.
func TestMessagesHoldNoMore(t *testing.T) {
	t.Parallel()
	got := lines(write([]llm.Event{
		{Kind: llm.EventStart},
		{Kind: llm.EventText, Choice: 1, Text: "other"},
		{Kind: llm.EventBlock, Part: llm.AudioPart}, {Kind: llm.EventMedia, Part: llm.AudioPart, Media: &llm.Media{Data: "aGk="}},
		{Kind: llm.EventBlockEnd, Part: llm.AudioPart},
		{Kind: llm.EventBlock, Block: 1, Part: llm.OpaquePart, Name: "gemini", Raw: []byte(`{}`)},
		{Kind: llm.EventBlock, Block: 2},
		delta(2, 0, llm.EventText, "x"),
		{Kind: llm.EventCitation, Block: 2, Name: "openai", Raw: []byte(`{}`)},
		delta(2, 0, llm.EventSignature, "s"),
		{Kind: llm.EventExtra, Name: "groundingMetadata", Raw: []byte(`{"n":1}`)},
		{Kind: llm.EventExtra, Name: "groundingMetadata", Raw: []byte(`{"n":2}`)},
		{Kind: llm.EventEnd},
		{Kind: llm.EventText, Text: "late"},
	}))
	want := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"__thought__s"}}
{"type":"content_block_stop","index":1}
{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0},"groundingMetadata":{"n":2}}
{"type":"message_stop"}`
	if _, rest, _ := strings.Cut(got, "\n"); rest != want {
		t.Errorf("got\n%s\nwant\n%s", rest, want)
	}
	a := newResponseContext()
	a.Strict = true
	enc := client.NewEncoder(a)
	out := enc.Append(nil, &llm.Event{Kind: llm.EventExtra, Name: "groundingMetadata", Raw: []byte(`{}`)})
	if out = enc.Append(out, &llm.Event{Kind: llm.EventEnd}); strings.Contains(string(out), "grounding") {
		t.Errorf("strict callers get %s", out)
	}
}

// TestAnswers: what the parts of other providers' answers come to in a message.
func TestAnswers(t *testing.T) {
	t.Parallel()
	body := client.EncodeResponse(nil, &llm.Response{
		ID: "chatcmpl-1", Model: "gpt-4o", Usage: llm.Usage{InputTokens: 9, CacheWriteTokens: 2, OutputTokens: 4, ReasoningTokens: 3, Reported: true},
		Extra: []llm.Param{{Name: "service_tier", Raw: []byte(`"default"`)}, {Name: "x", Raw: []byte(`1`)}},
		Choices: []llm.Choice{
			{Finish: llm.FinishToolCalls, Raw: "tool_calls", Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Text: "hm"}, {Text: ""}, {Text: "Hi"}, {Kind: llm.RefusalPart, Text: "No"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "f", Arguments: `{"a":`}},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "d", Name: "g", Arguments: ` {"a": 1.0}`}},
				{Kind: llm.OpaquePart, Shape: "gemini", Raw: []byte(`{}`)}, {Kind: llm.ImagePart, Media: &llm.Media{}},
			}},
			{Index: 1, Parts: []llm.Part{{Text: "other"}}},
		},
	}, newResponseContext())
	want := `{"id":"msg_01hz0000000000000000000000","type":"message","role":"assistant","model":"gpt-4o","content":[` +
		`{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"Hi"},{"type":"text","text":"No"},` +
		`{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"d","name":"g","input":{"a": 1.0}}],` +
		`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":2,"cache_read_input_tokens":0,` +
		`"output_tokens":4,"output_tokens_details":{"thinking_tokens":3},"service_tier":"standard"},"x":1}`
	if string(body) != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
}

// A call is over for the caller when another begins and its arguments are one whole object,
// however they came and whatever brackets stand in its strings.
func TestCallEndsWithItsArguments(t *testing.T) {
	t.Parallel()
	const call = llm.CallPart
	for args, complete := range map[string]bool{
		`{}`: true, " {\n} \t": true, `{"a":"}"}`: true, `{"a":"\"}","b":[{"c":{}}]}`: true, `{"a":"\\"}`: true, `{"é😀":["{",[]]}`: true,
		``: false, ` `: false, `{`: false, `{"a":"}`: false, `{"a":"\"}`: false, `{"a":[}`: false, `[{}]`: false, `"{}"`: false, `{}{}`: false, `{} x`: false, `}`: false, `null`: false,
	} {
		for split := range len(args) + 1 {
			got := write([]llm.Event{
				{Kind: llm.EventBlock, Part: call, ID: "call_a", Name: "f"},
				delta(0, call, llm.EventArguments, args[:split]), delta(0, call, llm.EventArguments, args[split:]),
				{Kind: llm.EventBlock, Block: 1, Part: call, ID: "call_b", Name: "g"},
			})
			if strings.Contains(lines(got), `"name":"g"`) != complete {
				t.Errorf("%q cut at %d: that it is whole is %v, want %v", args, split, !complete, complete)
			}
		}
	}
}
