package openai

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// describe is an answer in a line: "t:Hello f#a{\"x\":1} tool_calls 12".
func describe(r *llm.Response) string {
	var items []string
	for _, c := range r.Choices {
		for _, p := range c.Parts {
			switch p.Kind {
			case llm.CallPart:
				items = append(items, p.Call.Name+"#"+p.Call.ID[:1]+p.Call.Arguments)
			case llm.ReasoningPart:
				items = append(items, "r:"+p.Text)
			case llm.SealedPart:
				items = append(items, "s:"+p.Shape)
			case llm.ImagePart:
				items = append(items, "i:"+cmp.Or(p.Media.URL, p.Media.MIME+","+p.Media.Data))
			default:
				items = append(items, "t:"+p.Text)
			}
		}
		items = append(items, c.Finish.Chat())
	}
	return strings.Join(append(items, fmt.Sprint(r.Usage.TotalTokens)), " ")
}

// Servers that speak chat completions in their own ways are understood, however their
// stream is cut.
func TestOddStreams(t *testing.T) {
	t.Parallel()
	call := func(members string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[{` + members + `}]}}]}`
	}
	text := func(s string) string { return `{"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }
	end := func(reason string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
	}
	const done = "[DONE]"
	for name, c := range map[string]struct {
		chunks []string
		want   string
	}{
		"calls without numbers":        {[]string{call(`"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), call(`"id":"b","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done}, `f#a{"x":1} g#b{} tool_calls 0`},
		"calls of one number":          {[]string{call(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}`), call(`"index":0,"function":{"arguments":":1}"}`), call(`"index":0,"id":"b","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done}, `f#a{"x":1} g#b{} tool_calls 0`},
		"an id in each piece":          {[]string{call(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), call(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}`), call(`"index":0,"id":"","function":{"name":"","arguments":":1}"}`), end("tool_calls"), done}, `f#a{"x":1} tool_calls 0`},
		"other ids in later pieces":    {[]string{call(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}`), call(`"index":0,"id":"b","function":{"arguments":":1}"}`), end("tool_calls"), done}, `f#a{"x":1} tool_calls 0`},
		"a name behind the id":         {[]string{call(`"index":0,"id":"a","type":"function"`), call(`"index":0,"function":{"name":"f","arguments":"{\"x\""}`), call(`"index":0,"function":{"arguments":":1}"}`), end("tool_calls"), done}, `f#a{"x":1} tool_calls 0`},
		"a name behind arguments":      {[]string{call(`"index":0,"id":"a","function":{"name":"","arguments":"{\"x\""}`), text("hi"), call(`"index":0,"function":{"name":null,"arguments":":"}`), call(`"index":0,"function":{"name":"f","arguments":"1}"}`), end("tool_calls"), done}, `t:hi f#a{"x":1} tool_calls 0`},
		"names that come in turn":      {[]string{call(`"index":0,"id":"a"`), call(`"index":1,"id":"b","function":{"arguments":"{}"}`), call(`"index":1,"function":{"name":"g"}`), call(`"index":0,"function":{"name":"f","arguments":"{}"}`), end("tool_calls"), done}, `g#b{} f#a{} tool_calls 0`},
		"a name and no number":         {[]string{call(`"id":"a"`), call(`"function":{"name":"f","arguments":"{}"}`), call(`"id":"b"`), call(`"id":"b","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done}, `f#a{} g#b{} tool_calls 0`},
		"half a character before it":   {[]string{call(`"index":0,"id":"a","function":{"arguments":"{\"x\":\"\ud83d"}`), call(`"index":0,"function":{"arguments":"\ude00"}`), call(`"index":0,"function":{"name":"f","arguments":"\"}"}`), end("tool_calls"), done}, `f#a{"x":"😀"} tool_calls 0`},
		"an id behind the name":        {[]string{call(`"index":0,"function":{"name":"f","arguments":"{"}`), call(`"index":0,"id":"a","function":{"name":"f","arguments":"}"}`), end("tool_calls"), done}, `f#c{} tool_calls 0`},
		"an id in each, no number":     {[]string{call(`"id":"a","function":{"name":"f","arguments":"{\"x\""}`), call(`"id":"a","function":{"arguments":":1}"}`), call(`"id":"b","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done}, `f#a{"x":1} g#b{} tool_calls 0`},
		"no name at all":               {[]string{text("hi"), call(`"index":0,"id":"a","function":{"arguments":"{}"}`), end("stop"), done}, `t:hi stop 0`},
		"whole calls of one number":    {[]string{call(`"index":0,"id":"","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}`), end("tool_calls"), done}, `f#c{} f#c{"x":1} tool_calls 0`},
		"whole calls without a mark":   {[]string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}}]}`, end("tool_calls"), done}, `f#c{} g#c{} tool_calls 0`},
		"arguments as an object":       {[]string{call(`"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}`), end("stop"), done}, `f#a{"x":1} tool_calls 0`},
		"a custom tool":                {[]string{call(`"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"x"}`), call(`"index":0,"custom":{"input":"y"}`), end("tool_calls"), done}, `f#axy tool_calls 0`},
		"a function":                   {[]string{`{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":""}}}]}`, `{"choices":[{"index":0,"delta":{"function_call":{"arguments":"{}"}}}]}`, end("function_call"), done}, `f#c{} tool_calls 0`},
		"pictures":                     {[]string{text("hi"), `{"choices":[{"index":0,"delta":{"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="},"index":0},{"image_url":{"url":"https://x.example/a.png"}}]}}]}`, text("!"), end("stop"), done}, `t:hi i:image/png,aGk= i:https://x.example/a.png t:! stop 0`},
		"a picture in a list":          {[]string{`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}}]}`, end("stop"), done}, `t:hi i:image/png,aGk= stop 0`},
		"what was said so far":         {[]string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":"h"},"message":{"role":"assistant","content":"h"},"finish_reason":null}]}`, `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":"i"}}]}`, `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`, done}, `t:hi stop 0`},
		"an answer in one chunk":       {[]string{`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`, done}, `t:hi stop 0`},
		"a reason without a call":      {[]string{text("hi"), end("tool_calls"), done}, `t:hi stop 0`},
		"no error":                     {[]string{`{"error":null,"choices":[{"index":0,"error":null,"delta":{"content":"hi"},"finish_reason":"stop"}]}`, done}, `t:hi stop 0`},
		"usage in a choice":            {[]string{text("hi"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}]}`, done}, `t:hi stop 12`},
		"thoughts under two names":     {[]string{`{"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, text("hi"), end("stop"), done}, `r:hm t:hi stop 0`},
		"thoughts in details":          {[]string{`{"choices":[{"index":0,"delta":{"content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.text","text":"h","format":"anthropic-claude-v1","index":0}]}}]}`, `{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"m"},{"type":"reasoning.encrypted","data":"x"}]}}]}`, text("hi"), end("stop"), done}, `r:h r:m s:openrouter t:hi stop 0`},
		"thoughts and their details":   {[]string{`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","text":"hm"}],"reasoning":"hm"}}]}`, text("hi"), end("stop"), done}, `r:hm t:hi stop 0`},
		"empty words for the end":      {[]string{`{"choices":[{"index":0,"delta":{"content":"h"},"finish_reason":""}]}`, text("i"), end("stop"), done}, `t:hi stop 0`},
		"a mark of the order of bytes": {[]string{"\ufeff", text("hi"), end("stop"), done}, `t:hi stop 0`},
		"blanks behind a chunk":        {[]string{text("hi") + " \t", end("stop") + " ", done}, `t:hi stop 0`},
		"no mark of the end":           {[]string{text("hi"), end("stop")}, `t:hi stop 0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stream []byte
			for _, chunk := range c.chunks {
				if chunk == "\ufeff" {
					stream = append(stream, chunk...)
					continue
				}
				stream = append(stream, "data: "+chunk+"\n\n"...)
			}
			events := dialecttest.SplitEverywhere(t, stream, func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
			if got := describe(dialecttest.ResponseOf(events)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// What calls without a name may take of the gateway's memory is bounded.
func TestNamelessCallsAreBounded(t *testing.T) {
	t.Parallel()
	d := chat{}.NewDecoder(nil)
	bigChunk := []byte(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + strings.Repeat("x", 1<<20) + `"}}]}}]}` + "\n\n")
	for range 33 {
		if err := d.Feed(bigChunk, func(*llm.Event) {}); err != nil {
			if !fault.Has(err, fault.UpstreamInvalid) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("33 MiB were kept")
}

// An answer that failed on its way is told as such, not as one that has ended.
func TestChoicesThatFailed(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{
		`{"index":0,"delta":{"content":"hi"},"message":{"content":"hi"},"finish_reason":"error","error":{"code":502,"message":"Upstream hung up"}}`: "502 Upstream hung up",
		`{"index":0,"delta":{"content":"hi"},"message":{"content":"hi"},"finish_reason":"error"}`:                                                   "500 the provider reports that the model failed",
		`{"index":0,"delta":{"content":"hi"},"message":{"content":"hi"},"error":{"code":429,"message":"Slow down"}}`:                                "429 Slow down",
	} {
		const usage = `"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}`
		stream := `data: {"choices":[` + choice + `],` + usage + "}\n\ndata: [DONE]\n\n"
		events := dialecttest.SplitEverywhere(t, []byte(stream), func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
		r, last := dialecttest.ResponseOf(events), events[len(events)-1]
		if got := fmt.Sprint(last.Status, " ", last.Text); last.Kind != llm.EventFault || got != want || r.Choices[0].Parts[0].Text != "hi" || r.Usage.TotalTokens != 12 {
			t.Errorf("%s: %s: %+v", choice, got, events)
		}
		_, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"choices":[` + choice + `]}`)})
		if _, text, _ := strings.Cut(want, " "); !fault.Has(err, fault.UpstreamFailed) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", choice, err)
		}
	}
}

// What is no answer is none: a chunk that was cut, and the mark of the end alone.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	events, err := dialecttest.Read(chat{}.NewDecoder(nil), []byte("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"de\n\ndata: [DONE]\n\n"))
	if !fault.Has(err, fault.UpstreamInvalid) || events[len(events)-1].Kind == llm.EventEnd {
		t.Errorf("a cut chunk: %v, %+v", err, events)
	}
	if events, err := dialecttest.Read(chat{}.NewDecoder(nil), []byte("data: [DONE]\n\n")); len(events) > 0 || err != nil {
		t.Errorf("nothing but the mark: %v, %+v", err, events)
	}
}

// The same of answers that come whole.
func TestOddReplies(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"tool_calls":[{"function":{"arguments":{"x":1},"name":"f"},"id":"a"}]}`:                                                                  `f#a{"x":1} tool_calls 0`,
		`{"content":"","tool_calls":[{"id":null,"function":{"name":"f","arguments":null}}]}`:                                                       `f#c tool_calls 0`,
		`{"content":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}]}`:                                             `f#ax tool_calls 0`,
		`{"content":"hi","reasoning_details":[{"type":"reasoning.text","text":"h"},{"type":"reasoning.summary","summary":"m"}]}`:                   `r:h r:m t:hi stop 0`,
		`{"content":"hi","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`:                                            `r:hm t:hi stop 0`,
		`{"content":"hi","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"image_url":{"url":"data:broken"}},{}]}`: `t:hi i:image/png,aGk= stop 0`,
		`{"content":null,"function_call":{"name":"f","arguments":"{}"}}`:                                                                           `f#c{} tool_calls 0`,
		`{"content":"hi","tool_calls":[{"id":"a","function":{"arguments":"{}"}}],"function_call":null}`:                                            `t:hi stop 0`,
	} {
		r, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"choices":[{"message":` + message + `,"finish_reason":"stop"}]}`)})
		if err != nil || describe(r) != want {
			t.Errorf("%s: %v, got %s, want %s", message, err, describe(r), want)
		}
	}
}

// A stream of which nobody said why it ended has an end for its readers all the same.
func TestStreamsWithoutAFinish(t *testing.T) {
	t.Parallel()
	for part, want := range map[llm.PartKind]string{llm.TextPart: "stop", llm.CallPart: "tool_calls"} {
		enc := chat{}.NewEncoder(newResponseContext(true))
		var out []byte
		for _, ev := range []llm.Event{{Kind: llm.EventStart}, {Kind: llm.EventBlock, Part: part, Name: "f"}, {Kind: llm.EventBlockEnd, Part: part}, {Kind: llm.EventEnd}} {
			out = enc.Append(out, &ev)
		}
		if n := strings.Count(string(out), `"finish_reason":"`); n != 1 || !strings.Contains(string(out), `"finish_reason":"`+want+`"`) {
			t.Errorf("%d finishes, want %s: %s", n, want, out)
		}
	}
}
