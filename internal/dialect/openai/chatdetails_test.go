package openai

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/llm"
)

// detailed are lists of thoughts as OpenRouter has them, whole and in the pieces of a stream,
// each a delta.
var detailed = map[string]struct {
	model, full string
	deltas      []string
}{
	"claude": {
		"anthropic/claude-sonnet-4.5",
		`[{"type":"reasoning.text","signature":"EqQB","format":"anthropic-claude-v1","text":"Let me see","index":0},{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1}]`,
		[]string{
			`"reasoning":"Let me","reasoning_details":[{"type":"reasoning.text","text":"Let me","format":"anthropic-claude-v1","index":0}]`,
			`"reasoning":" see","reasoning_details":[{"type":"reasoning.text","text":" see","format":"anthropic-claude-v1","index":0}]`,
			`"reasoning":"","reasoning_details":[{"type":"reasoning.text","text":"","signature":"EqQB","format":"anthropic-claude-v1","index":0}]`,
			`"reasoning_details":[{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1}]`,
		},
	},
	"openai": {
		"openai/gpt-5",
		`[{"type":"reasoning.summary","id":"rs_1","format":"openai-responses-v1","summary":"Let me see","index":0},{"type":"reasoning.encrypted","data":"gAAAA","id":"rs_1","format":"openai-responses-v1","index":1}]`,
		[]string{
			`"reasoning":"Let me","reasoning_details":[{"type":"reasoning.summary","summary":"Let me","id":"rs_1","format":"openai-responses-v1","index":0}]`,
			`"reasoning":" see","reasoning_details":[{"type":"reasoning.summary","summary":" see","id":"rs_1","format":"openai-responses-v1","index":0}]`,
			`"reasoning_details":[{"type":"reasoning.encrypted","data":"gAAAA","id":"rs_1","format":"openai-responses-v1","index":1}]`,
		},
	},
	"of nobody": {
		"deepseek/deepseek-v4",
		`[{"type":"reasoning.text","text":"Let me see","index":0}]`,
		[]string{
			`"reasoning":"Let me","reasoning_details":[{"type":"reasoning.text","text":"Let me","format":"unknown","index":0}]`,
			`"reasoning":" see","reasoning_details":[{"type":"reasoning.text","text":" see","format":null,"index":0}]`,
		},
	},
}

// What OpenRouter's models thought amid calls of tools goes back as it came, though the caller
// speaks messages or responses: they refuse to go on without.
func TestDetailsComeBack(t *testing.T) {
	t.Parallel()
	const call = `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`
	for name, c := range detailed {
		full, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning":"Let me see","reasoning_details":` + c.full + `,` + call + `},"finish_reason":"tool_calls"}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		var stream strings.Builder
		for _, delta := range append(c.deltas, call) {
			stream.WriteString(`data: {"choices":[{"index":0,"delta":{"content":"",` + delta + `}}]}` + "\n\n")
		}
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
		events := dialecttest.SplitEverywhere(t, []byte(stream.String()), func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
		for form, r := range map[string]*llm.Response{"whole": full, "stream": dialecttest.ResponseOf(events)} {
			next := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleAssistant, Parts: r.Choices[0].Parts}}}
			out, err := chat{}.EncodeCall(t.Context(), next, &dialect.Target{Model: c.model, Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInDetails}})
			if err != nil {
				t.Fatal(err)
			}
			if want := `"reasoning_details":` + c.full + `,"content":null,"tool_calls":[{"id":"c1",`; !strings.Contains(string(out.Body), want) || out.Dropped != nil {
				t.Errorf("%s, %s: lost %q, want %s in\n%s", name, form, out.Dropped, want, out.Body)
			}
		}
	}
}

// Callers of chat who began at OpenRouter give its list to whoever goes on: Claude knows its
// own thoughts again, wherever it runs, and to others a thought goes without its proof.
func TestDetailsOfCalls(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"claude": "anthropic EqQB, anthropic EmwK", "openai": "openrouter, openrouter", "of nobody": " "} {
		c, err := chat{}.DecodeCall([]byte(`{"messages":[{"role":"assistant","content":"hi","reasoning":"Let me see","reasoning_details":` + detailed[name].full + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range c.Messages[0].Parts {
			switch {
			case p.Kind == llm.TextPart:
			case p.Shape == detailsShape:
				got = append(got, p.Shape)
			case p.Kind == llm.SealedPart:
				got = append(got, p.Shape+" "+p.Text)
			default:
				got = append(got, p.Shape+" "+p.Signature)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A model gets no thoughts of another vendor's, a caller's letters in place of an entry are
// none, and both are told as lost.
func TestDetailsThatAreLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model       string
		part        llm.Part
		wantDropped bool
	}{
		{"anthropic/claude-sonnet-4.5", llm.Part{Kind: llm.ReasoningPart, Text: "hm"}, true},
		{"anthropic/claude-sonnet-4.5", llm.Part{Kind: llm.ReasoningPart, Text: "hm", Signature: "s", Shape: signatures.ClaudeSigner}, false},
		{"openai/gpt-5", llm.Part{Kind: llm.ReasoningPart, Text: "hm", Signature: "s", Shape: signatures.ClaudeSigner}, true},
		{"openrouter/auto", llm.Part{Kind: llm.ReasoningPart, Text: "hm", Signature: "s", Shape: signatures.ClaudeSigner}, false},
		{"openai/gpt-5", llm.Part{Kind: llm.ReasoningPart, Text: "hm", Signature: "s", Shape: "gemini"}, true},
		{"openai/gpt-5", llm.Part{Kind: llm.SealedPart, Text: "bm8=", Shape: detailsShape}, true},
		{"openai/gpt-5", llm.Part{Kind: llm.SealedPart, Text: "{", Shape: detailsShape}, true},
		{"openai/gpt-5", llm.Part{Kind: llm.SealedPart, Text: "x"}, true},
	} {
		call := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{c.part, {Kind: llm.TextPart, Text: "hi", Index: 1}}}}}
		out, err := chat{}.EncodeCall(t.Context(), call, &dialect.Target{Model: c.model, Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInDetails}})
		if err != nil || (len(out.Dropped) > 0) != c.wantDropped || strings.Contains(string(out.Body), "reasoning_details") == c.wantDropped {
			t.Errorf("%s %+v: %v, lost %q\n%s", c.model, c.part, err, out.Dropped, out.Body)
		}
	}
}
