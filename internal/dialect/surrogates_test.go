package dialect_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/cohere"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/oracle"
	"sluice/internal/dialect/responses"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/workersai"
	"sluice/internal/kernel/llm"
)

// piecewise is a shape's stream in which pieces of a thought, a text and a call's arguments can
// be told; @ stands for a piece as it is escaped in JSON.
type piecewise struct {
	upstream                dialect.Upstream
	head                    []string
	reasoning, text, called string
	afterReasoning          []string // what ends one
	afterText               []string
	tail                    []string
}

var piecewises = map[string]piecewise{
	"chat": {
		upstream:  openai.Dialect().Upstreams[llm.ChatComplete],
		reasoning: `{"choices":[{"index":0,"delta":{"reasoning_content":"@"}}]}`,
		text:      `{"choices":[{"index":0,"delta":{"content":"@"}}]}`,
		called:    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"@"}}]}}]}`,
		tail:      []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`},
	},
	"messages": {
		upstream:       anthropic.Dialect().Upstreams[llm.Messages],
		head:           []string{`{"type":"message_start","message":{"id":"m"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}`},
		reasoning:      `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"@"}}`,
		afterReasoning: []string{`{"type":"content_block_stop","index":0}`, `{"type":"content_block_start","index":1,"content_block":{"type":"text"}}`},
		text:           `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"@"}}`,
		afterText:      []string{`{"type":"content_block_stop","index":1}`, `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f"}}`},
		called:         `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"@"}}`,
		tail:           []string{`{"type":"content_block_stop","index":2}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`},
	},
	"responses": {
		upstream:  responses.Upstream(),
		reasoning: `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"@"}`,
		text:      `{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"@"}`,
		afterText: []string{
			`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"f","arguments":""}}`,
		},
		called: `{"type":"response.function_call_arguments.delta","output_index":2,"delta":"@"}`,
		tail:   []string{`{"type":"response.completed","response":{"status":"completed"}}`},
	},
	"gemini": {
		upstream:  gemini.Dialect().Upstreams[llm.ChatComplete],
		reasoning: `{"candidates":[{"content":{"parts":[{"text":"@","thought":true}]}}]}`,
		text:      `{"candidates":[{"content":{"parts":[{"text":"@"}]}}]}`,
		tail:      []string{`{"candidates":[{"finishReason":"STOP"}]}`},
	},
	"cohere": {
		upstream:  cohere.Dialect().Upstreams[llm.ChatComplete],
		reasoning: `{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"@"}}}}`,
		text:      `{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"@"}}}}`,
		afterText: []string{`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"a","function":{"name":"f"}}}}}`},
		called:    `{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"@"}}}}}`,
		tail:      []string{`{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}`},
	},
	"oracle": {
		upstream: oracle.Dialect().Upstreams[llm.ChatComplete],
		text:     `{"index":0,"message":{"content":[{"type":"TEXT","text":"@"}]}}`,
		called:   `{"index":0,"message":{"toolCalls":[{"id":"a","name":"f","arguments":"@"}]}}`,
		tail:     []string{`{"index":0,"finishReason":"tool_calls"}`},
	},
	"workers ai": {
		upstream:  workersai.Dialect().Upstreams[llm.ChatComplete],
		reasoning: `{"choices":[{"delta":{"reasoning_content":"@"}}]}`,
		text:      `{"choices":[{"delta":{"content":"@"}}]}`,
		called:    `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"@"}}]}}]}`,
		tail:      []string{`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`},
	},
}

// stream tells the pieces of each kind one after the other.
func (p *piecewise) stream(fragments ...string) []byte {
	var out strings.Builder
	put := func(events ...string) {
		for _, e := range events {
			fmt.Fprintf(&out, "data: %s\n\n", e)
		}
	}
	all := func(event string) {
		if event != "" {
			for _, fragment := range fragments {
				put(strings.ReplaceAll(event, "@", fragment))
			}
		}
	}
	put(p.head...)
	all(p.reasoning)
	put(p.afterReasoning...)
	all(p.text)
	put(p.afterText...)
	all(p.called)
	put(p.tail...)
	return []byte(out.String())
}

// A character that a server cuts in two comes to callers whole, and half a one as U+FFFD.
func TestHalves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fragments []string
		want      string
	}{
		"a pair":                   {[]string{`a\ud83d`, `\uDE00b`}, "a😀b"},
		"two pairs":                {[]string{`\uD83D`, `\ude00\ud83d`, `\ude01`}, "😀😁"},
		"half a one in between":    {[]string{`a\ud83d`, `b`}, "a\uFFFDb"},
		"half a one at the end":    {[]string{`ab`, `c\ud83d`}, "abc\uFFFD"},
		"a second half alone":      {[]string{`\ude00a`, `b`}, "\uFFFDab"},
		"first halves":             {[]string{`\ud83d`, `\ud83d`, `\ude00`}, "\uFFFD😀"},
		"the letters of an escape": {[]string{`a\\ud83d`, `\\ude00b`}, `a\ud83d\ude00b`},
		"behind a backslash":       {[]string{`a\\\ud83d`, `\ude00`}, `a\😀`},
		"whole ones":               {[]string{`😀\ud83d\ude00`, `\ud83d\ude00`}, "😀😀😀"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for shape, p := range piecewises {
				events := dialecttest.SplitEverywhere(t, p.stream(c.fragments...), func() dialect.EventDecoder {
					return p.upstream.NewDecoder(&dialect.Incoming{})
				})
				var want, got []string
				for _, template := range []string{p.reasoning, p.text, p.called} {
					if template != "" {
						want = append(want, c.want)
					}
				}
				for _, part := range dialecttest.ResponseOf(events).Choices[0].Parts {
					if part.Kind == llm.CallPart {
						part.Text = part.Call.Arguments
					}
					got = append(got, part.Text)
				}
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
					t.Errorf("%s: got %q, want %q", shape, got, want)
				}
			}
		})
	}
}

// In a whole answer half a character is U+FFFD too, and every surface writes UTF-8.
func TestHalvesInWholeAnswers(t *testing.T) {
	t.Parallel()
	const loneSurrogates = `"\ude00a\ud83d"`
	for name, c := range map[string]struct {
		upstream dialect.Upstream
		body     string
		parts    int
	}{
		"chat": {openai.Dialect().Upstreams[llm.ChatComplete], `{"choices":[{"index":0,"message":{"content":` + loneSurrogates + `,"reasoning_details":[{"type":"reasoning.text","text":` + loneSurrogates + `}],` +
			`"tool_calls":[{"id":"a","function":{"name":"f","arguments":` + loneSurrogates + `}}]},"finish_reason":"stop"}]}`, 3},
		"workers ai": {workersai.Dialect().Upstreams[llm.ChatComplete], `{"result":{"response":` + loneSurrogates + `,"reasoning":` + loneSurrogates + `,"tool_calls":[{"name":"f","arguments":` + loneSurrogates + `}]}}`, 3},
		"oracle": {oracle.Dialect().Upstreams[llm.ChatComplete], `{"chatResponse":{"choices":[{"message":{"content":[{"type":"TEXT","text":` + loneSurrogates + `}],"reasoningContent":` + loneSurrogates + `,` +
			`"toolCalls":[{"id":"a","name":"f","arguments":` + loneSurrogates + `}]},"finishReason":"stop"}]}}`, 3},
		"anthropic": {anthropic.Dialect().Upstreams[llm.ChatComplete], `{"type":"message","content":[{"type":"thinking","thinking":` + loneSurrogates + `},{"type":"text","text":` + loneSurrogates + `}],"stop_reason":"end_turn"}`, 2},
		"responses": {responses.Upstream(), `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":` + loneSurrogates + `}]},` +
			`{"type":"function_call","call_id":"a","name":"f","arguments":` + loneSurrogates + `}]}`, 2},
		"gemini": {gemini.Dialect().Upstreams[llm.ChatComplete], `{"candidates":[{"content":{"parts":[{"text":` + loneSurrogates + `}]},"finishReason":"STOP"}]}`, 1},
		"cohere": {cohere.Dialect().Upstreams[llm.ChatComplete], `{"message":{"content":[{"type":"text","text":` + loneSurrogates + `}]},"finish_reason":"COMPLETE"}`, 1},
	} {
		if c.upstream == nil {
			t.Fatal(name)
		}
		r, err := c.upstream.DecodeResponse(&dialect.Incoming{Body: []byte(c.body), To: &dialect.Target{}})
		if err != nil || len(r.Choices[0].Parts) != c.parts {
			t.Errorf("%s: %v %+v", name, err, r)
			continue
		}
		for _, p := range r.Choices[0].Parts {
			if p.Kind == llm.CallPart {
				p.Text = p.Call.Arguments
			}
			if p.Text != "\uFFFDa\uFFFD" {
				t.Errorf("%s: %q", name, p.Text)
			}
		}
		for surface, client := range surfaces {
			if out := client.EncodeResponse(nil, r, &dialect.ResponseContext{Call: &llm.Call{Surface: surface}}); !utf8.Valid(out) {
				t.Errorf("%s: no UTF-8 on %s: %q", name, surface, out)
			}
		}
	}
}

// Where an error ends the stream, half a character is told before it.
func TestHalfBeforeAFault(t *testing.T) {
	t.Parallel()
	p := piecewises["chat"]
	p.tail = []string{`{"error":{"message":"no"}}`}
	p.called, p.reasoning = "", ""
	events, err := dialecttest.Read(p.upstream.NewDecoder(nil), p.stream(`a\ud83d`))
	n := len(events)
	if err != nil || n < 2 || events[n-1].Kind != llm.EventFault || events[n-2].Text != "\uFFFD" {
		t.Errorf("%v: %+v", err, events)
	}
}

// A server that leaves half a character in each of many calls has a few of them waited for, and
// the others told at once.
func TestHalvesThatWaitAreFew(t *testing.T) {
	t.Parallel()
	var h surrogates.Joiner
	const blocks = 1000
	emitted, waited := 0, 0
	for block := range blocks {
		h.Event(&llm.Event{Kind: llm.EventArguments, Block: block, Part: llm.CallPart, Text: "a\xed\xa0\xbd"}, func(ev *llm.Event) {
			if emitted++; ev.Text == "a" {
				waited++
			} else if ev.Text != "a\uFFFD" {
				t.Errorf("%q", ev.Text)
			}
		})
	}
	if emitted != blocks || waited > 128 {
		t.Errorf("of %d halves %d were told of, %d wait", blocks, emitted, waited)
	}
	h.Event(&llm.Event{Kind: llm.EventArguments, Part: llm.CallPart, Text: "\xed\xb8\x80"}, func(ev *llm.Event) {
		if ev.Text != "😀" {
			t.Errorf("%q", ev.Text)
		}
	})
}

// Events in whole characters, as almost all are, cost nothing more.
func TestHalvesAllocateNothing(t *testing.T) {
	var h surrogates.Joiner
	ev, emit := llm.Event{Kind: llm.EventText, Text: "Hello, 😀"}, func(*llm.Event) {}
	if n := testing.AllocsPerRun(100, func() { h.Event(&ev, emit) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
