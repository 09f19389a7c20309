package scripted

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"sluice/internal/test/upstream"
)

// generate is a request to generate contents, as far as the script looks.
// Source: https://ai.google.dev/api/generate-content, read 2026-11.
type generate struct {
	Contents []struct {
		Role  string
		Parts []part
	}
	System struct{ Parts []part } `json:"systemInstruction"`
	Tools  []struct {
		Functions []struct {
			Name   string
			Schema object `json:"parameters"`
			JSON   object `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	Config struct {
		Schema   object `json:"responseSchema"`
		JSON     object `json:"responseJsonSchema"`
		Thinking struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type part struct {
	Text      string
	Thought   bool
	Signature string `json:"thoughtSignature"`
	Inline    *struct {
		Kind string `json:"mimeType"`
		Data string
	} `json:"inlineData"`
	Call *struct {
		Name string
		Args json.RawMessage
	} `json:"functionCall"`
	Response *struct {
		Name     string
		Response object
	} `json:"functionResponse"`
}

var generatePath = regexp.MustCompile(`/models/([^/]+):(generateContent|streamGenerateContent|countTokens)$`)

// Gemini is the script of a provider of contents. Its paths end in :generateContent,
// :streamGenerateContent and :countTokens; to others it says nothing.
func Gemini(s upstream.Seen) *upstream.Response {
	match := generatePath.FindStringSubmatch(s.Path())
	if match == nil {
		return nil
	}
	model, err := url.PathUnescape(match[1])
	if err != nil {
		return geminiError(refuse("the path cannot be read: %v", err))
	}
	if r := fault(model); r != nil {
		return geminiError(r)
	}
	var g generate
	if err := json.Unmarshal(s.Body, &g); err != nil {
		return geminiError(refuse("Invalid JSON payload received: %v", err))
	}
	if s.Get("x-goog-api-key") == "" {
		return geminiError(&refusal{403, "Method doesn't allow unregistered callers"})
	}
	q, refused := g.question(model)
	switch {
	case refused != nil:
		return geminiError(refused)
	case match[2] == "countTokens":
		r := upstream.JSON(200, object{"totalTokens": q.words})
		return &r
	case match[2] == "streamGenerateContent":
		r := upstream.Stream(geminiEvents(q, q.respond())...)
		return &r
	}
	a := q.respond()
	r := upstream.JSON(200, chunk(q, a, partsOf(a), true))
	return &r
}

func geminiError(r *refusal) *upstream.Response {
	status := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[r.status]
	if status == "" {
		status = "INTERNAL"
	}
	response := upstream.JSON(r.status, object{"error": object{"code": r.status, "message": r.message, "status": status}})
	return &response
}

func (g *generate) question(model string) (*question, *refusal) {
	if len(g.Contents) == 0 {
		return nil, refuse("contents is not specified")
	}
	q := &question{model: model, reasoning: g.Config.Thinking.Include, schema: g.Config.Schema}
	if q.schema == nil {
		q.schema = g.Config.JSON
	}
	for _, t := range g.Tools {
		for _, f := range t.Functions {
			if f.Schema == nil {
				f.Schema = f.JSON
			}
			q.tools = append(q.tools, tool{f.Name, f.Schema})
		}
	}
	for _, p := range g.System.Parts {
		q.words += count(p.Text)
	}
	var called []string
	for i, c := range g.Contents {
		if c.Role != "user" && c.Role != "model" {
			return nil, refuse("contents[%d]: Please use a valid role: user, model.", i)
		}
		q.results, q.pictures = nil, nil
		uses, refused := q.parts(c.Role, c.Parts, called)
		if refused != nil {
			return nil, refused
		}
		called = uses
	}
	return q, nil
}

// parts reads a turn. As many functions must be answered as the turn before has called.
func (q *question) parts(role string, parts []part, called []string) (uses []string, refused *refusal) {
	userText := ""
	for _, p := range parts {
		if p.Signature != "" && p.Signature != signed(p) {
			return nil, refuse("Thought signature is not valid.")
		}
		q.remembered = q.remembered || p.Signature != ""
		switch {
		case p.Thought:
		case p.Call != nil:
			uses = append(uses, p.Call.Name)
		case p.Response != nil:
			i := slices.Index(called, p.Response.Name)
			if i < 0 {
				return nil, refuse("function response %s has no function call", p.Response.Name)
			}
			called = slices.Delete(slices.Clone(called), i, i+1)
			result := ""
			for _, v := range p.Response.Response {
				result += fmt.Sprint(v)
			}
			q.words += count(result)
			q.results = append(q.results, result)
		case p.Inline != nil:
			one, refused := checkImage(p.Inline.Kind, p.Inline.Data)
			if refused != nil {
				return nil, refused
			}
			q.pictures = append(q.pictures, one)
		default:
			q.words += count(p.Text)
			userText += p.Text
		}
	}
	if len(called) > 0 {
		return nil, refuse("the number of function response parts is not equal to that of the function call parts")
	}
	if role == "user" && userText != "" {
		q.userText = userText
	}
	return uses, nil
}

// signed is the signature of a part: that of calls is on the first of them.
func signed(p part) string {
	if p.Call != nil {
		return sign(p.Call.Name)
	}
	return sign(p.Text)
}

func partsOf(a modelOutput) []object {
	var out []object
	if a.reasoning != "" {
		out = append(out, object{"text": a.reasoning, "thought": true})
	}
	if a.text != "" {
		out = append(out, object{"text": a.text})
	}
	for i, c := range a.calls {
		p := object{"functionCall": object{"name": c.name, "args": json.RawMessage(c.args)}}
		if i == 0 && a.reasoning != "" {
			p["thoughtSignature"] = sign(c.name)
		}
		out = append(out, p)
	}
	return out
}

func chunk(q *question, a modelOutput, parts []object, last bool) object {
	candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	reasoningTokens := count(a.reasoning)
	usage := object{"promptTokenCount": q.words, "candidatesTokenCount": a.words - reasoningTokens, "totalTokenCount": q.words + a.words}
	if reasoningTokens > 0 {
		usage["thoughtsTokenCount"] = reasoningTokens
	}
	if last {
		candidate["finishReason"] = "STOP"
	}
	return object{"candidates": []object{candidate}, "usageMetadata": usage, "modelVersion": q.model, "responseId": fmt.Sprintf("gen-%d", q.words)}
}

// geminiEvents delivers texts by words and calls whole.
func geminiEvents(q *question, a modelOutput) []string {
	var parts []object
	for _, p := range textDeltas(a.reasoning) {
		parts = append(parts, object{"text": p, "thought": true})
	}
	for _, p := range textDeltas(a.text) {
		parts = append(parts, object{"text": p})
	}
	parts = append(parts, partsOf(modelOutput{calls: a.calls, reasoning: ""})...)
	for i, p := range parts {
		if p["functionCall"] != nil && a.reasoning != "" {
			parts[i]["thoughtSignature"] = sign(a.calls[0].name)
			break
		}
	}
	var out []string
	for i, p := range parts {
		out = append(out, "data: "+text(chunk(q, a, []object{p}, i == len(parts)-1))+"\r\n\r\n")
	}
	return out
}
