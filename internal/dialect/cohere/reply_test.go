package cohere_test

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       llm.Response
	}{
		{
			"a text",
			`{"id":"c14c80c3-18eb-4519-9460-6c92edd8cfb4","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"LLMs stand for"},{"type":"text","text":" models."}]},"usage":{"billed_units":{"input_tokens":5,"output_tokens":418},"tokens":{"input_tokens":71,"output_tokens":418},"cached_tokens":48}}`,
			llm.Response{
				ID: "c14c80c3-18eb-4519-9460-6c92edd8cfb4",
				Choices: []llm.Choice{{
					Finish: llm.FinishStop, Raw: "COMPLETE", Parts: []llm.Part{{Text: "LLMs stand for"}, {Text: " models."}},
				}},
				Usage: llm.Usage{InputTokens: 71, OutputTokens: 418, TotalTokens: 489, CachedTokens: 48, FreeInputTokens: 66, Reported: true},
			},
		},
		{
			"thoughts, a plan and calls",
			`{"id":"1","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_plan":"I will search.","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"q\":1}"}},{"id":"t2","type":"function","function":{"name":"g","arguments":"{}"}}],"content":[{"type":"thinking","thinking":"hm"}]},"usage":{"billed_units":{"input_tokens":20.0,"output_tokens":8}}}`,
			llm.Response{
				ID: "1",
				Choices: []llm.Choice{{
					Finish: llm.FinishToolCalls, Raw: "TOOL_CALL",
					Parts: []llm.Part{
						{Kind: llm.ReasoningPart, Text: "hm"}, {Text: "I will search."},
						{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "t1", Name: "f", Arguments: `{"q":1}`}},
						{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "t2", Name: "g", Arguments: `{}`}},
					},
				}},
				Usage: llm.Usage{InputTokens: 20, OutputTokens: 8, TotalTokens: 28, Reported: true},
			},
		},
		{
			"citations, logprobs and a plan beside a text",
			`{"id":"1","finish_reason":"MAX_TOKENS","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a b"}],"tool_plan":"p","citations":[{"start":0,"end":1,"text":"a","content_index":1},{"start":2,"content_index":1},{"content_index":9}]},"logprobs":[{"text":"a","token_ids":[1],"logprobs":[-0.25]},{"text":" b","token_ids":[2,3],"logprobs":[-1,-0.5]}]}`,
			llm.Response{
				ID: "1",
				Choices: []llm.Choice{{
					Finish: llm.FinishLength, Raw: "MAX_TOKENS",
					Logprobs: []byte(`{"content":[{"token":"a","logprob":-0.25,"bytes":null,"top_logprobs":[]},{"token":" b","logprob":-1.5,"bytes":null,"top_logprobs":[]}]}`),
					Parts: []llm.Part{
						{Kind: llm.ReasoningPart, Text: "hm"},
						{Text: "a b", Shape: "cohere", Citations: []byte(`[{"start":0,"end":1,"text":"a","content_index":1},{"start":2,"content_index":1}]`)},
					},
					Extra: []llm.Param{{Name: "tool_plan", Raw: []byte(`"p"`)}},
				}},
			},
		},
		{
			"an error, as a plain text", `{"finish_reason":"ERROR","message":{"content":"half"}}`,
			llm.Response{Choices: []llm.Choice{{Finish: llm.FinishStop, Raw: "ERROR", Parts: []llm.Part{{Text: "half"}}}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(c.body), To: target})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range dialecttest.DiffResponses(&c.want, r) {
				t.Error(d)
			}
		})
	}
	for _, body := range []string{``, `[]`, `{"id":"1"}`, `{"message":"x"}`} {
		if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(body), To: target}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// A turn that failed and has nothing to use is an error, before anything is said of it, so that
// another target may be tried.
func TestFailedTurnsWithoutContentAreErrors(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"ERROR", "TIMEOUT"} {
		for _, content := range []string{`[]`, `""`, `[{"type":"text","text":""}]`, `[{"type":"thinking","thinking":"hm"}]`} {
			r, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{"id":"1","finish_reason":"` + word + `","message":{"role":"assistant","content":` + content + `}}`), To: target})
			if f := fault.From(err); err == nil || f.HTTPStatus() != 502 || f.Wire != word {
				t.Errorf("%s, %s: %+v, %v", word, content, r, err)
			}
		}
		all, err := dialecttest.Read(newDecoder(), []byte(`data: {"type":"message-start","id":"1","delta":{"message":{"role":"assistant"}}}`+"\n\n"+
			`data: {"type":"message-end","delta":{"finish_reason":"`+word+`","usage":{"tokens":{"input_tokens":4,"output_tokens":2}}}}`+"\n\n"))
		if err != nil || len(all) != 2 || all[0].Kind != llm.EventUsage || all[1].Kind != llm.EventFault || all[1].Status != 502 || all[1].Name != word {
			t.Errorf("%s streamed: %+v, %v", word, all, err)
		}
	}
}
