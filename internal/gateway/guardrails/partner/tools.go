package partner

import (
	"encoding/json"

	"sluice/internal/gateway/guardrails/check"
)

// toolCall is a call of a function in a response, in the form of chat completions.
type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string that contains JSON
	} `json:"function"`
}

// block is a part of a response in the forms of Messages (tool_use) and Responses (function_call).
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`     // of tool_use: an object
	Arguments json.RawMessage `json:"arguments"` // of function_call: a string that contains JSON
}

// toolDialogue returns the last message of the request, and the response with its tool calls, as
// messages for a template.
func toolDialogue(in *check.Input, c *conversation) []any {
	var out []any
	if n := len(c.messages); n > 0 {
		out = asList(c.messages[n-1:])
	}
	response := map[string]any{"role": "assistant", "content": in.Text()}
	if calls := toolCalls(in.Body); len(calls) > 0 {
		response["tool_calls"] = calls
	}
	return append(out, response)
}

// toolCalls returns the tool calls of a response: objects with id, name and arguments.
func toolCalls(body []byte) (out []any) {
	var doc struct {
		Choices []struct {
			Message struct {
				ToolCalls []toolCall `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return nil
	}
	if len(doc.Choices) > 0 {
		for i := range doc.Choices[0].Message.ToolCalls {
			t := &doc.Choices[0].Message.ToolCalls[i]
			out = append(out, callObject(t.ID, t.Function.Name, t.Function.Arguments))
		}
	}
	for _, raw := range []json.RawMessage{doc.Content, doc.Output} {
		var blocks []block
		_ = json.Unmarshal(raw, &blocks) // another form has no tool calls
		for i := range blocks {
			switch b := &blocks[i]; b.Type {
			case "tool_use":
				out = append(out, callObject(b.ID, b.Name, b.Input))
			case "function_call":
				out = append(out, callObject(b.CallID, b.Name, b.Arguments))
			}
		}
	}
	return out
}

// callObject returns a tool call for a template. Arguments that are a string are decoded if they
// contain JSON.
func callObject(id, name string, raw json.RawMessage) map[string]any {
	var arguments any
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if json.Unmarshal([]byte(text), &arguments) != nil {
			arguments = text
		}
	} else if json.Unmarshal(raw, &arguments) != nil {
		arguments = map[string]any{}
	}
	return map[string]any{"id": id, "name": name, "arguments": arguments}
}
