package partner

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/gateway/guardrails/check"
)

// conversation contains the messages of a request in one form, whatever its dialect.
type conversation struct {
	messages []message
	parts    map[string]bool // each text of a message
	rawTools json.RawMessage // member tools of the request
}

// message is a message with its texts joined. Images and tool calls have no text.
type message struct {
	role string // "system", "user", "assistant", "tool"
	text string
}

// requestDoc are the members of requests that contain texts, in all dialects.
type requestDoc struct {
	Messages     []json.RawMessage `json:"messages"`     // chat, Messages
	System       json.RawMessage   `json:"system"`       // Messages
	Instructions json.RawMessage   `json:"instructions"` // Responses
	Input        json.RawMessage   `json:"input"`        // Responses, embeddings
	Prompt       json.RawMessage   `json:"prompt"`       // completions, images
	Tools        json.RawMessage   `json:"tools"`
}

// readConversation reads the messages of a call. Members of another form than expected have no text.
func readConversation(in *check.Input) *conversation {
	c := &conversation{parts: map[string]bool{}}
	var members map[string]json.RawMessage
	if json.Unmarshal(in.Request, &members) == nil {
		var doc requestDoc
		_ = json.Unmarshal(members["messages"], &doc.Messages)
		doc.System, doc.Instructions, doc.Input = members["system"], members["instructions"], members["input"]
		doc.Prompt, doc.Tools = members["prompt"], members["tools"]
		c.read(&doc)
	}
	return c
}

func (c *conversation) read(doc *requestDoc) {
	c.rawTools = doc.Tools
	c.add("system", c.content(doc.System))
	c.add("system", c.content(doc.Instructions))
	for _, raw := range doc.Messages {
		c.addRaw(raw)
	}
	var items []json.RawMessage
	if json.Unmarshal(doc.Input, &items) == nil {
		for _, raw := range items {
			c.addRaw(raw)
		}
	} else {
		c.add("user", c.content(doc.Input))
	}
	c.add("user", c.content(doc.Prompt))
}

// addRaw adds a message, or a plain string, of a request.
func (c *conversation) addRaw(raw json.RawMessage) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"` // of a tool result in Responses
	}
	if json.Unmarshal(raw, &m) != nil {
		c.add("user", c.content(raw))
		return
	}
	if m.Output != nil {
		c.add("tool", c.content(m.Output))
	}
	role := m.Role
	switch role {
	case "developer":
		role = "system"
	case "":
		role = "user"
	}
	c.add(role, c.content(m.Content))
}

func (c *conversation) add(role, text string) {
	if strings.TrimSpace(text) != "" {
		c.messages = append(c.messages, message{role, text})
	}
}

// content returns the texts of a string, a content part or a list of them, joined by newlines.
func (c *conversation) content(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		c.parts[s] = true
		return s
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) == nil {
		var texts []string
		for _, part := range parts {
			if text := c.content(part); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "\n")
	}
	var part struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"` // of a tool result in Messages
	}
	if json.Unmarshal(raw, &part) != nil {
		return ""
	}
	if part.Text == "" && len(part.Content) > 0 && part.Content[0] != '{' {
		return c.content(part.Content)
	}
	c.parts[part.Text] = true
	return part.Text
}

// scope returns the texts of "last_message", "last_user_message", "user_messages" or all messages.
func (c *conversation) scope(name string) (out []string) {
	for _, m := range c.messages {
		if m.role == "user" || name == "all_messages" || name == "last_message" {
			out = append(out, m.text)
		}
	}
	if (name == "last_message" || name == "last_user_message") && len(out) > 1 {
		out = out[len(out)-1:]
	}
	return out
}

// system returns the system prompts, joined by newlines.
func (c *conversation) system() string {
	var texts []string
	for _, m := range c.messages {
		if m.role == "system" {
			texts = append(texts, m.text)
		}
	}
	return strings.Join(texts, "\n")
}

// prompt returns the last message of a user in the request, or the last message without one.
func (c *conversation) prompt() string {
	for _, m := range slices.Backward(c.messages) {
		if m.role == "user" {
			return m.text
		}
	}
	if len(c.messages) > 0 {
		return c.messages[len(c.messages)-1].text
	}
	return ""
}

// tools returns the functions of the request: objects with name, description and parameters; nil for
// none.
func (c *conversation) tools() any {
	var list []map[string]any
	if json.Unmarshal(c.rawTools, &list) != nil {
		return nil
	}
	var out []any
	for _, t := range list {
		f, nested := t["function"].(map[string]any)
		if !nested {
			f = t
		}
		if n, _ := f["name"].(string); n == "" {
			continue
		}
		tool := map[string]any{}
		for to, from := range map[string]any{"name": f["name"], "description": f["description"], "parameters": parametersOf(f)} {
			if from != nil {
				tool[to] = from
			}
		}
		out = append(out, tool)
	}
	if out == nil {
		return nil
	}
	return out
}

// parametersOf returns the schema of a function, which Messages calls input_schema.
func parametersOf(f map[string]any) any {
	if p := f["parameters"]; p != nil {
		return p
	}
	return f["input_schema"]
}

// asList returns messages for a template: objects with role and content.
func asList(messages []message) []any {
	out := make([]any, 0, len(messages))
	for _, m := range messages {
		out = append(out, map[string]any{"role": m.role, "content": m.text})
	}
	return out
}
