package bedrock_test

import (
	"encoding/json"
	"testing"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// readCall reads a Converse request as a caller of the hub would have meant it. It is
// written apart from the encoder, so that a field that is lost on the way shows.
func readCall(t testing.TB, body []byte) *llm.Call {
	t.Helper()
	if !jsonedit.Valid(body) {
		t.Fatalf("no JSON: %s", body)
	}
	c := &llm.Call{}
	for name, val := range jsonedit.Members(body) {
		switch key := text(name); key {
		case "system":
			c.Messages = append([]llm.Message{{Role: llm.RoleSystem, Parts: readBlocks(t, val)}}, c.Messages...)
		case "messages":
			for v := range jsonedit.Elements(val) {
				content, _ := jsonedit.Find(v, "content")
				role, _ := jsonedit.Find(v, "role")
				addTurn(c, llm.Role(text(role)), readBlocks(t, content))
			}
		case "toolConfig":
			readTools(t, c, val)
		case "inferenceConfig":
			readParams(t, c, val, map[string]string{"maxTokens": llm.MaxTokens, "temperature": "temperature", "topP": "top_p", "stopSequences": llm.Stop})
		case "additionalModelRequestFields":
			readParams(t, c, val, map[string]string{"top_k": "top_k", "thinking": llm.Thinking, "metadata": llm.User, "tools": "tools"})
		case "outputConfig":
			schema, _ := jsonedit.Find(val, "textFormat", "structure", "jsonSchema", "schema")
			rawName, _ := jsonedit.Find(val, "textFormat", "structure", "jsonSchema", "name")
			c.Format = &llm.Format{Type: "json_schema", Name: text(rawName), Schema: json.RawMessage(text(schema))}
		default:
			t.Errorf("unknown field %s", key)
		}
	}
	return c
}

func text(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}

// addTurn takes the results of tools apart from what the user says.
func addTurn(c *llm.Call, role llm.Role, parts []llm.Part) {
	for _, p := range parts {
		as := role
		if p.Kind == llm.ResultPart {
			as = llm.RoleTool
		}
		if n := len(c.Messages); n == 0 || c.Messages[n-1].Role != as {
			c.Messages = append(c.Messages, llm.Message{Role: as})
		}
		m := &c.Messages[len(c.Messages)-1]
		m.Parts = append(m.Parts, p)
	}
}

func readBlocks(t testing.TB, list []byte) []llm.Part {
	t.Helper()
	var parts []llm.Part
	for raw := range jsonedit.Elements(list) {
		if point, ok := jsonedit.Find(raw, "cachePoint"); ok {
			ttl, _ := jsonedit.Find(point, "ttl")
			parts[len(parts)-1].Cache = &llm.Cache{TTL: text(ttl)}
			continue
		}
		parts = append(parts, readBack(t, raw))
	}
	return parts
}

func readBack(t testing.TB, raw []byte) llm.Part {
	t.Helper()
	type media struct {
		Format, Name string
		Source       struct{ Bytes string }
	}
	var block struct {
		Text             *string
		Image            *media
		Audio            *media
		Document         *media
		ToolUse          *struct{ ToolUseID, Name string }
		ReasoningContent *struct {
			ReasoningText   struct{ Text, Signature string }
			RedactedContent string
		}
		ToolResult *struct {
			ToolUseID, Status string
			Content           json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &block); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	switch {
	case block.Text != nil:
		return llm.Part{Text: *block.Text}
	case block.Image != nil:
		return llm.Part{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/" + block.Image.Format, Data: block.Image.Source.Bytes}}
	case block.Audio != nil:
		return llm.Part{Kind: llm.AudioPart, Media: &llm.Media{Format: block.Audio.Format, Data: block.Audio.Source.Bytes}}
	case block.Document != nil:
		mime := map[string]string{"pdf": "application/pdf", "txt": "text/plain"}[block.Document.Format]
		return llm.Part{Kind: llm.FilePart, Media: &llm.Media{MIME: mime, Name: block.Document.Name, Data: block.Document.Source.Bytes}}
	case block.ToolUse != nil:
		input, _ := jsonedit.Find(raw, "toolUse", "input")
		return llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: block.ToolUse.ToolUseID, Name: block.ToolUse.Name, Arguments: string(input)}}
	case block.ReasoningContent != nil && block.ReasoningContent.RedactedContent != "":
		return llm.Part{Kind: llm.SealedPart, Text: block.ReasoningContent.RedactedContent, Shape: "anthropic"}
	case block.ReasoningContent != nil:
		r := block.ReasoningContent.ReasoningText
		return llm.Part{Kind: llm.ReasoningPart, Text: r.Text, Signature: r.Signature, Shape: "anthropic"}
	case block.ToolResult != nil:
		r := block.ToolResult
		return llm.Part{Kind: llm.ResultPart, Result: &llm.ToolResult{ID: r.ToolUseID, Error: r.Status == "error", Parts: readBlocks(t, r.Content)}}
	}
	t.Errorf("block %s", raw)
	return llm.Part{}
}

func readTools(t testing.TB, c *llm.Call, raw []byte) {
	t.Helper()
	var set struct {
		Tools []struct {
			ToolSpec *struct {
				Name, Description string
				InputSchema       struct{ JSON json.RawMessage }
			}
			CachePoint *struct{ TTL string }
		}
		ToolChoice struct {
			Auto, Any *struct{}
			Tool      *struct{ Name string }
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	for _, e := range set.Tools {
		if e.ToolSpec == nil {
			c.Tools[len(c.Tools)-1].Cache = &llm.Cache{TTL: e.CachePoint.TTL}
			continue
		}
		s := e.ToolSpec
		c.Tools = append(c.Tools, llm.Tool{Type: llm.Function, Name: s.Name, Description: s.Description, Schema: s.InputSchema.JSON})
	}
	switch choice := set.ToolChoice; {
	case choice.Auto != nil:
		c.Choice.Mode = "auto"
	case choice.Any != nil:
		c.Choice.Mode = "required"
	case choice.Tool != nil:
		c.Choice = llm.ToolChoice{Mode: "tool", Name: choice.Tool.Name}
	}
}

func readParams(t testing.TB, c *llm.Call, raw []byte, names map[string]string) {
	t.Helper()
	for name, val := range jsonedit.Members(raw) {
		switch key := text(name); names[key] {
		case "":
			t.Errorf("unknown setting %s", key)
		case "tools":
			for v := range jsonedit.Elements(val) {
				kind, _ := jsonedit.Find(v, "type")
				rawName, _ := jsonedit.Find(v, "name")
				c.Tools = append(c.Tools, llm.Tool{Type: text(kind), Name: text(rawName), Raw: v})
			}
		case llm.User:
			id, _ := jsonedit.Find(val, "user_id")
			c.Params = append(c.Params, llm.Param{Name: llm.User, Raw: id})
		default:
			c.Params = append(c.Params, llm.Param{Name: names[key], Raw: val})
		}
	}
}

// readSides lists who speaks in the messages of a request.
func readSides(body []byte) (sides []string) {
	list, _ := jsonedit.Find(body, "messages")
	for m := range jsonedit.Elements(list) {
		role, _ := jsonedit.Find(m, "role")
		sides = append(sides, text(role))
	}
	return sides
}

func alternate(sides []string) bool {
	for i, s := range sides {
		if i == 0 && s != "user" || i > 0 && s == sides[i-1] {
			return false
		}
	}
	return len(sides) > 0
}
