package gemini

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
	if !jsonedit.Valid(body) {
		t.Fatalf("no JSON: %s", body)
	}
	c := &llm.Call{}
	for name, val := range jsonedit.Members(body) {
		switch key := plainText(name); key {
		case "systemInstruction":
			c.Messages = append([]llm.Message{readContent(t, val)}, c.Messages...)
		case "contents":
			for v := range jsonedit.Elements(val) {
				c.Messages = append(c.Messages, readContent(t, v))
			}
		case "tools":
			for v := range jsonedit.Elements(val) {
				readDeclarations(t, c, v)
			}
		case "toolConfig":
			c.Choice = readChoice(t, val)
		case "generationConfig":
			readConfig(t, c, val)
		default:
			t.Errorf("unknown field %s", key)
		}
	}
	return c
}

func readContent(t testing.TB, raw []byte) llm.Message {
	t.Helper()
	var content struct {
		Role  string
		Parts []json.RawMessage
	}
	decode(t, raw, &content)
	m := llm.Message{Role: map[string]llm.Role{"system": llm.RoleSystem, "user": llm.RoleUser, "model": llm.RoleAssistant}[content.Role]}
	if m.Role == "" || len(content.Parts) == 0 {
		t.Errorf("content %s", raw)
	}
	for _, p := range content.Parts {
		m.Parts = append(m.Parts, readBack(t, p))
	}
	if m.Parts[0].Kind == llm.ResultPart {
		m.Role = llm.RoleTool
	}
	return m
}

// blob is inlineData or fileData.
type blob struct{ MIMEType, Data, FileURI string }

func (b *blob) part() llm.Part {
	p := llm.Part{Kind: llm.FilePart, Media: &llm.Media{MIME: b.MIMEType, Data: b.Data, URL: b.FileURI}}
	switch kind, format, _ := strings.Cut(b.MIMEType, "/"); kind {
	case "image":
		p.Kind = llm.ImagePart
	case "audio":
		p.Kind, p.Media.Format, p.Media.MIME = llm.AudioPart, format, ""
	}
	return p
}

func readBack(t testing.TB, raw []byte) llm.Part {
	t.Helper()
	var part struct {
		Text                 *string
		Thought              bool
		ThoughtSignature     string
		FunctionCall         *struct{ ID, Name string }
		InlineData, FileData *blob
		FunctionResponse     *struct {
			ID, Name string
			Response map[string]string
			Parts    []struct{ InlineData, FileData *blob }
		}
	}
	decode(t, raw, &part)
	p := llm.Part{Signature: part.ThoughtSignature}
	if p.Signature == unsigned {
		p.Signature = ""
	}
	switch {
	case part.Text != nil:
		p.Text = *part.Text
		if part.Thought {
			p.Kind = llm.ReasoningPart
		}
	case part.FunctionCall != nil:
		args, _ := jsonedit.Find(raw, "functionCall", "args")
		p.Kind, p.Call = llm.CallPart, &llm.ToolCall{ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Arguments: string(args)}
	case part.InlineData != nil:
		return part.InlineData.part()
	case part.FileData != nil:
		return part.FileData.part()
	case part.FunctionResponse != nil:
		f := part.FunctionResponse
		p.Kind, p.Result = llm.ResultPart, &llm.ToolResult{ID: f.ID, Name: f.Name}
		for key, text := range f.Response {
			p.Result.Error = key == "error"
			p.Result.Parts = []llm.Part{{Text: text}}
		}
		for _, e := range f.Parts {
			if e.InlineData != nil {
				p.Result.Parts = append(p.Result.Parts, e.InlineData.part())
			} else {
				p.Result.Parts = append(p.Result.Parts, e.FileData.part())
			}
		}
	default:
		t.Errorf("part %s", raw)
	}
	return p
}

func readDeclarations(t testing.TB, c *llm.Call, raw []byte) {
	t.Helper()
	var tool struct {
		FunctionDeclarations []struct {
			Name, Description    string
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		}
	}
	decode(t, raw, &tool)
	for _, f := range tool.FunctionDeclarations {
		c.Tools = append(c.Tools, llm.Tool{Type: llm.Function, Name: f.Name, Description: f.Description, Schema: f.ParametersJSONSchema})
	}
}

func readChoice(t testing.TB, raw []byte) llm.ToolChoice {
	t.Helper()
	var set struct {
		FunctionCallingConfig struct {
			Mode                 string
			AllowedFunctionNames []string
		}
	}
	decode(t, raw, &set)
	if names := set.FunctionCallingConfig.AllowedFunctionNames; len(names) == 1 {
		return llm.ToolChoice{Mode: "tool", Name: names[0]}
	}
	return llm.ToolChoice{Mode: map[string]string{"AUTO": "auto", "NONE": "none", "ANY": "required"}[set.FunctionCallingConfig.Mode]}
}

func readConfig(t testing.TB, c *llm.Call, raw []byte) {
	t.Helper()
	names := map[string]string{"maxOutputTokens": llm.MaxTokens, "stopSequences": llm.Stop}
	for _, p := range plain {
		names[p.to] = p.from
	}
	for name, val := range jsonedit.Members(raw) {
		switch key := plainText(name); key {
		case "responseMimeType":
		case "responseJsonSchema":
			c.Format = &llm.Format{Type: "json_schema", Schema: val}
		case "thinkingConfig":
			var set struct {
				IncludeThoughts bool
				ThinkingBudget  json.RawMessage
			}
			decode(t, val, &set)
			thinking := `{"type":"disabled"}`
			if set.IncludeThoughts {
				thinking = `{"type":"enabled","budget_tokens":` + string(set.ThinkingBudget) + `}`
			}
			c.Params = append(c.Params, llm.Param{Name: llm.Thinking, Raw: []byte(thinking)})
		default:
			if names[key] == "" {
				t.Errorf("unknown setting %s", key)
			}
			c.Params = append(c.Params, llm.Param{Name: names[key], Raw: val})
		}
	}
}

func decode(t testing.TB, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}
