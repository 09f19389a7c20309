package demo

import (
	"fmt"
)

// The answers of the responses endpoint as they go over the wire.
// Source: https://platform.openai.com/docs/api-reference/responses, read 2026-11.

type responseBody struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"` // "response"
	Created      int64             `json:"created_at"`
	Status       string            `json:"status"` // completed, incomplete or, in a stream, in_progress
	Error        *struct{}         `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions *string           `json:"instructions"`
	MaxTokens    *int64            `json:"max_output_tokens"`
	Model        string            `json:"model"`
	Output       []outputItem      `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     *string           `json:"previous_response_id"`
	Store        bool              `json:"store"`
	Temperature  float64           `json:"temperature"`
	Text         any               `json:"text"`
	ToolChoice   any               `json:"tool_choice"`
	Tools        []any             `json:"tools"`
	TopP         float64           `json:"top_p"`
	Truncation   string            `json:"truncation"`
	Usage        *responseUsage    `json:"usage"` // null until the end of a stream
	Metadata     map[string]string `json:"metadata"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type responseUsage struct {
	Input        int64        `json:"input_tokens"`
	InputDetail  cachedDetail `json:"input_tokens_details"`
	Output       int64        `json:"output_tokens"`
	OutputDetail reasonDetail `json:"output_tokens_details"`
	Total        int64        `json:"total_tokens"`
}

type cachedDetail struct {
	Cached int64 `json:"cached_tokens"`
}

type reasonDetail struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

// outputItem is a message or a function call; the other's fields are absent.
type outputItem struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"` // message or function_call
	Status    string       `json:"status"`
	Role      string       `json:"role,omitempty"`
	Content   []outputText `json:"content,omitzero"`
	CallID    string       `json:"call_id,omitempty"`
	Name      string       `json:"name,omitempty"`
	Arguments *string      `json:"arguments,omitempty"`
}

type outputText struct {
	Type        string     `json:"type"` // output_text
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"`
	Logprobs    []struct{} `json:"logprobs"`
}

func text(s string) outputText {
	return outputText{Type: "output_text", Text: s, Annotations: []struct{}{}, Logprobs: []struct{}{}}
}

// newResponse returns the complete response, still without an id.
func (q *responseRequest) newResponse(now int64) responseBody {
	chat := q.asChat()
	a := chat.generateChoice(0)
	inputTokens, out := chat.tokens(), a.tokens()
	p := responseBody{
		Object: "response", Created: now, Status: "completed", Instructions: q.Instructions, MaxTokens: q.MaxTokens,
		Model: q.Model, Output: a.items(), Parallel: true, Previous: q.Previous, Temperature: 1,
		Text: map[string]any{"format": map[string]any{"type": orElse(q.Text.Format.Type, "text")}}, ToolChoice: "auto", Tools: []any{}, TopP: 1,
		Truncation: "disabled", Usage: &responseUsage{Input: inputTokens, Output: out, Total: inputTokens + out}, Metadata: q.Metadata,
	}
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, map[string]any{"type": t.Type, "name": t.Name, "parameters": t.Parameters, "strict": true})
	}
	if q.Temperature != nil {
		p.Temperature = *q.Temperature
	}
	if p.Metadata == nil {
		p.Metadata = map[string]string{}
	}
	if a.finish == "length" {
		p.Status, p.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	}
	return p
}

// items returns the content as output items.
func (a choiceContent) items() []outputItem {
	if len(a.calls) == 0 {
		return []outputItem{{ID: "msg_demo_1", Type: "message", Status: "completed", Role: "assistant", Content: []outputText{text(a.text)}}}
	}
	items := make([]outputItem, len(a.calls))
	for i, c := range a.calls {
		items[i] = outputItem{
			ID: fmt.Sprintf("fc_demo_%d", i+1), Type: "function_call", Status: "completed",
			CallID: c.ID, Name: c.Function.Name, Arguments: &a.calls[i].Function.Arguments,
		}
	}
	return items
}
