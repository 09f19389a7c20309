package dialect

import (
	"cmp"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Prompt consumes the prompt of a text completion for providers that continue a single text: "x"
// or ["x"]. Several prompts and tokens are fault.InvalidParameter.
func Prompt(t *llm.FieldTracker) (string, error) {
	raw, ok := t.Consume("prompt")
	if !ok {
		return "", fault.New(fault.InvalidParameter, "prompt is required; send it in the request body").WithParam("prompt")
	}
	if text, ok := jsonedit.Unquote(raw); ok {
		return text, nil
	}
	text, n := "", 0
	for val := range jsonedit.Elements(raw) {
		if text, ok = jsonedit.Unquote(val); !ok {
			break
		}
		n++
	}
	if n != 1 || !ok {
		return "", fault.New(fault.InvalidParameter, "prompt must be one string: this provider does not support lists or tokens").WithParam("prompt")
	}
	return text, nil
}

// Completion is a response to /completions in OpenAI's shape.
// Source: https://platform.openai.com/docs/api-reference/completions, read 2026-11.
type Completion struct {
	ID      string // empty: a new one is generated
	Created int64  // epoch seconds
	Model   string
	Choices []CompletionChoice
	Usage   llm.Usage
}

// CompletionChoice is one of the generated texts.
type CompletionChoice struct {
	Text   string
	Finish llm.Finish
}

// BuildResponse writes the response, as a stream if stream is set.
func (c *Completion) BuildResponse(stream bool) *Response {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", cmp.Or(c.ID, ident.NewObjectID("cmpl-")))
	w.Str("object", "text_completion")
	w.Int("created", c.Created)
	w.Str("model", c.Model)
	w.Key("choices").Open('[')
	for i := range c.Choices {
		w.Open('{')
		w.Str("text", c.Choices[i].Text)
		w.Int("index", int64(i))
		w.Raw("logprobs", nullJSON)
		w.Str("finish_reason", c.Choices[i].Finish.Chat())
		w.Close('}')
	}
	w.Close(']')
	w.Raw("usage", completionUsage(&c.Usage))
	w.Close('}')
	a := &Response{Body: w.B, Usage: c.Usage, Model: c.Model}
	if stream {
		a.Body, a.ContentType = ReplayCompletion(nil, a.Body), "text/event-stream"
	}
	return a
}
