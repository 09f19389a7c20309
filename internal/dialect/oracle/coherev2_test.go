package oracle

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/llm"
)

const vision = "cohere.command-a-vision-07-2025"

// readV2Messages reads the conversation of a request in Cohere's newer form as a caller of
// the hub would have meant it, apart from the encoder.
func readV2Messages(t testing.TB, body []byte) *llm.Call {
	t.Helper()
	var outer struct {
		ChatRequest struct {
			APIFormat string
			Messages  []struct {
				Role, ToolPlan, ToolCallID string
				Content                    []struct {
					Type, Text, Thinking string
					ImageURL             *struct{ URL string }
				}
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				}
			}
		}
	}
	decode(t, body, &outer)
	if outer.ChatRequest.APIFormat != "COHEREV2" {
		t.Fatalf("sent in the form %q", outer.ChatRequest.APIFormat)
	}
	c := &llm.Call{}
	for _, sent := range outer.ChatRequest.Messages {
		m := llm.Message{Role: llm.Role(strings.ToLower(sent.Role))}
		for _, p := range sent.Content {
			switch p.Type {
			case "TEXT":
				m.Parts = append(m.Parts, llm.Part{Text: p.Text})
			case "THINKING":
				m.Parts = append(m.Parts, llm.Part{Kind: llm.ReasoningPart, Text: p.Thinking})
			case "IMAGE_URL":
				m.Parts = append(m.Parts, llm.Part{Kind: llm.ImagePart, Media: readMedia(p.ImageURL.URL)})
			default:
				t.Errorf("content %+v", p)
			}
		}
		if sent.ToolPlan != "" {
			m.Parts = append(m.Parts, llm.Part{Text: sent.ToolPlan})
		}
		for _, tc := range sent.ToolCalls {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: tc.ID, Name: tc.Function.Name, Arguments: tc.Function.Arguments}})
		}
		if m.Role == llm.RoleTool {
			m.Parts = []llm.Part{{Kind: llm.ResultPart, Result: &llm.ToolResult{ID: sent.ToolCallID, Parts: m.Parts}}}
		}
		c.Messages = append(c.Messages, m)
	}
	return c
}

// What the newer form tells of a conversation and what Lost names are the whole of it.
func TestV2Conversations(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(400) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 13)), dialecttest.Options{
				Surface: surface, Without: dialecttest.FileIDs | dialecttest.Images | dialecttest.Files | dialecttest.Audio | dialecttest.Media,
			})
			out, err := chat{}.EncodeCall(t.Context(), c, target(vision))
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), readV2Messages(t, out.Body), dialecttest.Surface, dialecttest.Model, dialecttest.Positions,
				dialecttest.Stream, dialecttest.Developers, dialecttest.Turns, dialecttest.Arguments, dialecttest.ResultNames, onlyContentV2, dialecttest.Texts("\n"))
			if len(diff) > 0 {
				t.Fatalf("%s %d: %s\nlost %q\nsent %s", surface, seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
			}
		}
	}
}

// onlyContentV2 is spoken, but that calls keep their ids; thoughts come before what is said.
func onlyContentV2(c *llm.Call) {
	c.Tools, c.Params, c.Format, c.Choice = nil, nil, nil, llm.ToolChoice{}
	for i := range c.Messages {
		m := &c.Messages[i]
		var reasoning, textParts, calls []llm.Part
		for _, p := range m.Parts {
			switch {
			case p.Kind == llm.ReasoningPart:
				reasoning = append(reasoning, llm.Part{Kind: llm.ReasoningPart, Text: p.Text})
			case p.Call != nil:
				calls = append(calls, p)
			case p.Result != nil:
				p.Result = oneText(p.Result)
				textParts = append(textParts, p)
			default:
				p.Kind = llm.TextPart
				textParts = append(textParts, p)
			}
		}
		m.Parts = append(append(reasoning, textParts...), calls...)
	}
}

// oneText is a result as one text, with a word before it when the call failed.
func oneText(r *llm.ToolResult) *llm.ToolResult {
	var texts []string
	for _, p := range r.Parts {
		texts = append(texts, p.Text)
	}
	text := strings.Join(texts, "\n")
	if r.Error {
		text = "Error: " + text
	}
	return &llm.ToolResult{ID: r.ID, Name: r.Name, Parts: []llm.Part{{Text: text}}}
}

func TestV2Requests(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, want, dropped string }{
		{"thinking", `"thinking":{"type":"disabled"}`, `"thinking":{"type":"DISABLED"}`, ""},
		{"adaptive thinking", `"thinking":{"type":"adaptive"}`, `"messages":`, "thinking"},
		{"citations", `"citation_options":{"mode":"fast"},"safety_mode":"off"`, `"safetyMode":"OFF","citationOptions":{"mode":"FAST"}`, ""},
		{"none", `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`, `"tools":[{"type":"FUNCTION","function":{"name":"f"}}],"toolsChoice":"NONE"`, ""},
		{"one of two", `"tools":[{"type":"function","function":{"name":"f","strict":true}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`,
			`"toolsChoice":"REQUIRED"`, "tools[0].function.strict tool_choice.function.name"},
		{"schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}`, `"responseFormat":{"type":"JSON_OBJECT","schema":{"type":"object"}}`, ""},
		{"lost", `"n":2,"is_force_single_step":true`, `"messages"`, "n is_force_single_step"},
	}
	for _, c := range cases {
		call, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(`{"messages":[{"role":"user","content":"x"}],` + c.body + `}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := chat{}.EncodeCall(t.Context(), call, target(vision))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Body) || !strings.Contains(string(out.Body), c.want) || strings.Join(out.Dropped, " ") != c.dropped {
			t.Errorf("%s: sent %s, lost %q", c.name, out.Body, out.Dropped)
		}
	}
}
