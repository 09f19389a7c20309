package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/test/upstream"
)

type object = map[string]any

// message is a request for messages, as far as the script looks.
// Source: https://platform.claude.com/docs/en/api/messages, read 2026-11.
type message struct {
	Model     string
	MaxTokens *int `json:"max_tokens"`
	System    contents
	Messages  []struct {
		Role    string
		Content contents
	}
	Tools []struct {
		Name   string
		Schema object `json:"input_schema"`
	}
	Thinking struct{ Type string }
	Output   struct {
		Format struct {
			Type   string
			Schema object
		}
	} `json:"output_config"`
	Stream bool
}

// contents is a text, or blocks.
type contents []block

type block struct {
	Type      string
	Text      string
	Thinking  string
	Signature string
	ID        string
	ToolUseID string `json:"tool_use_id"`
	Content   contents
	Source    struct {
		Type, Data string
		MediaType  string `json:"media_type"`
	}
}

// UnmarshalJSON takes a text as one block.
func (c *contents) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*c = contents{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(b, (*[]block)(c))
}

// Anthropic is the script of a provider of messages. Its paths end in /messages and
// /messages/count_tokens; to others it says nothing.
func Anthropic(s upstream.Seen) *upstream.Response {
	counts := strings.HasSuffix(s.Path(), "/messages/count_tokens")
	if !counts && !strings.HasSuffix(s.Path(), "/messages") {
		return nil
	}
	var m message
	if err := json.Unmarshal(s.Body, &m); err != nil {
		return anthropicError(refuse("the body cannot be read: %v", err))
	}
	if r := fault(m.Model); r != nil {
		return anthropicError(r)
	}
	if s.Get("x-api-key") == "" || s.Get("anthropic-version") == "" {
		return anthropicError(&refusal{401, "x-api-key and anthropic-version are required"})
	}
	q, refused := m.question(!counts)
	switch {
	case refused != nil:
		return anthropicError(refused)
	case counts:
		r := upstream.JSON(200, object{"input_tokens": q.words})
		return &r
	case m.Stream:
		r := upstream.Stream(messageEvents(q, q.respond())...)
		return &r
	}
	r := upstream.JSON(200, messageBody(q, q.respond()))
	return &r
}

func anthropicError(r *refusal) *upstream.Response {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[r.status]
	if kind == "" {
		kind = "api_error"
	}
	response := upstream.JSON(r.status, object{"type": "error", "error": object{"type": kind, "message": r.message}})
	return &response
}

func (m *message) question(limited bool) (*question, *refusal) {
	switch {
	case m.Model == "":
		return nil, refuse("model: Field required")
	case limited && m.MaxTokens == nil:
		return nil, refuse("max_tokens: Field required")
	case len(m.Messages) == 0:
		return nil, refuse("messages: at least one message is required")
	}
	q := &question{model: m.Model, reasoning: m.Thinking.Type == "enabled" || m.Thinking.Type == "adaptive"}
	for _, t := range m.Tools {
		q.tools = append(q.tools, tool{t.Name, t.Schema})
	}
	if m.Output.Format.Type == "json_schema" {
		q.schema = m.Output.Format.Schema
	}
	for _, b := range m.System {
		q.words += count(b.Text)
	}
	var called []string
	for i, one := range m.Messages {
		if want := []string{"user", "assistant"}[i%2]; one.Role != want {
			return nil, refuse("messages.%d: roles must alternate, this one must be %s", i, want)
		}
		q.results, q.pictures = nil, nil
		uses, refused := q.turn(one.Role, one.Content, called)
		if refused != nil {
			return nil, refused
		}
		called = uses
	}
	return q, nil
}

// turn reads a message. Results must be there for exactly the tools that the message
// before has called; it returns those that this one calls.
func (q *question) turn(role string, blocks contents, called []string) (uses []string, refused *refusal) {
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			q.words += count(b.Text)
			texts = append(texts, b.Text)
		case "image":
			p, refused := checkImage(b.Source.MediaType, b.Source.Data)
			if refused != nil {
				return nil, refused
			}
			q.pictures = append(q.pictures, p)
		case "thinking":
			if b.Signature != sign(b.Thinking) {
				return nil, refuse("Invalid `signature` in `thinking` block")
			}
			q.remembered = true
		case "tool_use":
			uses = append(uses, b.ID)
		case "tool_result":
			i := slices.Index(called, b.ToolUseID)
			if i < 0 {
				return nil, refuse("unexpected `tool_use_id` found in `tool_result` blocks: %s", b.ToolUseID)
			}
			called = slices.Delete(slices.Clone(called), i, i+1)
			result := ""
			for _, c := range b.Content {
				result += c.Text
			}
			q.words += count(result)
			q.results = append(q.results, result)
		default:
			return nil, refuse("blocks of type %q are not known", b.Type)
		}
	}
	if len(called) > 0 {
		return nil, refuse("`tool_use` ids were found without `tool_result` blocks immediately after: %s", strings.Join(called, ", "))
	}
	if role == "user" && len(texts) > 0 {
		q.userText = strings.Join(texts, " ")
	}
	return uses, nil
}

func blocksOf(a modelOutput) []object {
	var out []object
	if a.reasoning != "" {
		out = append(out, object{"type": "thinking", "thinking": a.reasoning, "signature": sign(a.reasoning)})
	}
	if a.text != "" {
		out = append(out, object{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		out = append(out, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.args)})
	}
	return out
}

func stopReason(a modelOutput) string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func messageBody(q *question, a modelOutput) object {
	return object{
		"id": fmt.Sprintf("msg_%d", q.words), "type": "message", "role": "assistant", "model": q.model, "content": blocksOf(a),
		"stop_reason": stopReason(a), "stop_sequence": nil, "usage": object{"input_tokens": q.words, "output_tokens": a.words},
	}
}

func messageEvents(q *question, a modelOutput) []string {
	var out []string
	send := func(kind string, data object) {
		data["type"] = kind
		out = append(out, "event: "+kind+"\ndata: "+text(data)+"\n\n")
	}
	start := messageBody(q, a)
	start["content"], start["stop_reason"], start["usage"] = []object{}, nil, object{"input_tokens": q.words, "output_tokens": 1}
	send("message_start", object{"message": start})
	send("ping", object{})
	for i, b := range blocksOf(a) {
		delta := func(kind, name, value string) {
			send("content_block_delta", object{"index": i, "delta": object{"type": kind, name: value}})
		}
		kind, _ := b["type"].(string)
		switch kind {
		case "thinking":
			send("content_block_start", object{"index": i, "content_block": object{"type": kind, "thinking": "", "signature": ""}})
			for _, p := range textDeltas(a.reasoning) {
				delta("thinking_delta", "thinking", p)
			}
			delta("signature_delta", "signature", sign(a.reasoning))
		case "text":
			send("content_block_start", object{"index": i, "content_block": object{"type": kind, "text": ""}})
			for _, p := range textDeltas(a.text) {
				delta("text_delta", "text", p)
			}
		case "tool_use":
			send("content_block_start", object{"index": i, "content_block": object{"type": kind, "id": b["id"], "name": b["name"], "input": object{}}})
			args, _ := b["input"].(json.RawMessage)
			for _, p := range append([]string{""}, textDeltas(string(args))...) {
				delta("input_json_delta", "partial_json", p)
			}
		}
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stopReason(a), "stop_sequence": nil}, "usage": object{"output_tokens": a.words}})
	send("message_stop", object{})
	return out
}
