package oracle

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// readCall reads a request as a caller of the hub would have meant it. It is written
// apart from the encoder, so that a field that is lost on the way shows.
func readCall(t testing.TB, body []byte) *llm.Call {
	t.Helper()
	var outer struct {
		CompartmentID string
		ServingMode   struct{ ServingType, ModelID, EndpointID string }
		ChatRequest   json.RawMessage
	}
	decode(t, body, &outer)
	c := &llm.Call{Model: outer.ServingMode.ModelID + outer.ServingMode.EndpointID}
	for name, val := range jsonedit.Members(outer.ChatRequest) {
		key, _ := jsonedit.Unquote(name)
		switch key {
		case "apiFormat", "streamOptions":
		case "isStream":
			c.Stream = string(val) == "true"
		case "messages":
			for m := range jsonedit.Elements(val) {
				c.Messages = append(c.Messages, readTurn(t, m))
			}
		case "tools":
			for v := range jsonedit.Elements(val) {
				c.Tools = append(c.Tools, readTool(t, v))
			}
		case "toolChoice":
			var choice struct{ Type, Name string }
			decode(t, val, &choice)
			c.Choice = llm.ToolChoice{Mode: strings.ToLower(choice.Type), Name: choice.Name}
			if choice.Type == "FUNCTION" {
				c.Choice.Mode = "tool"
			}
		case "responseFormat":
			var f struct {
				Type       string
				JSONSchema struct {
					Name   string
					Schema json.RawMessage
				}
			}
			decode(t, val, &f)
			c.Format = &llm.Format{Type: strings.ToLower(f.Type), Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
		default:
			c.Params = append(c.Params, llm.Param{Name: paramOf(t, key), Raw: val})
		}
	}
	return c
}

func paramOf(t testing.TB, key string) string {
	t.Helper()
	names := map[string]string{
		"temperature": "temperature", "topP": "top_p", "topK": "top_k", "maxTokens": llm.MaxTokens, "stop": llm.Stop, "seed": "seed",
		"numGenerations": "n", "presencePenalty": "presence_penalty", "logitBias": "logit_bias", "isParallelToolCalls": llm.ParallelToolCalls,
	}
	if names[key] == "" {
		t.Errorf("unknown field %s", key)
	}
	return names[key]
}

func readTurn(t testing.TB, raw []byte) llm.Message {
	t.Helper()
	var msg struct {
		Role, Name, ToolCallID, Refusal string
		Content                         []struct {
			Type, Text                                string
			ImageURL, AudioURL, DocumentURL, VideoURL *struct{ URL, Detail string }
		}
		ToolCalls []struct{ ID, Type, Name, Arguments string }
	}
	decode(t, raw, &msg)
	m := llm.Message{Role: llm.Role(strings.ToLower(msg.Role)), Name: msg.Name}
	for _, p := range msg.Content {
		part := llm.Part{Kind: llm.TextPart, Text: p.Text}
		switch p.Type {
		case "TEXT":
		case "IMAGE":
			part = llm.Part{Kind: llm.ImagePart, Media: readMedia(p.ImageURL.URL)}
		case "AUDIO":
			part = llm.Part{Kind: llm.AudioPart, Media: readMedia(p.AudioURL.URL)}
			part.Media.Format, part.Media.MIME = strings.TrimPrefix(part.Media.MIME, "audio/"), ""
		case "DOCUMENT":
			part = llm.Part{Kind: llm.FilePart, Media: readMedia(p.DocumentURL.URL)}
		default:
			t.Errorf("content %+v", p)
		}
		m.Parts = append(m.Parts, part)
	}
	if msg.Refusal != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.RefusalPart, Text: msg.Refusal})
	}
	for _, c := range msg.ToolCalls {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	if m.Role == llm.RoleTool {
		r := &llm.ToolResult{ID: msg.ToolCallID, Parts: m.Parts}
		if text, failed := strings.CutPrefix(r.Parts[0].Text, "Error: "); failed {
			r.Parts[0].Text, r.Error = text, true
		}
		m.Parts = []llm.Part{{Kind: llm.ResultPart, Result: r}}
	}
	return m
}

func readMedia(url string) *llm.Media {
	rest, inside := strings.CutPrefix(url, "data:")
	if !inside {
		return &llm.Media{URL: url}
	}
	mime, data, _ := strings.Cut(rest, ";base64,")
	return &llm.Media{MIME: mime, Data: data}
}

func readTool(t testing.TB, raw []byte) llm.Tool {
	t.Helper()
	var f struct {
		Type, Name, Description string
		Parameters              json.RawMessage
	}
	decode(t, raw, &f)
	if f.Type != "FUNCTION" {
		t.Errorf("tool %s", raw)
	}
	return llm.Tool{Type: llm.Function, Name: f.Name, Description: f.Description, Schema: f.Parameters}
}

func decode(t testing.TB, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}
