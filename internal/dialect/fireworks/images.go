package fireworks

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// draw implements POST /inference/v1/image_generation/{model}.
// Source: https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt,
// read 2026-11; contract/provider-transforms.md 7.18.
type draw struct{}

var _ dialect.OpenAIEndpoint = draw{}

var drawParams = []fields.Alias{
	{To: "samples", From: []string{"n", "samples"}}, {To: "cfg_scale"}, {To: "sampler"}, {To: "seed"},
	{To: "steps"}, {To: "safety_check"},
}

// EncodeRequest builds {"text_prompts":[{"text":…,"weight":1}],…}. It forwards fields whose names
// begin with lora_.
func (draw) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := images.ReadPrompt(t)
	if err != nil {
		return nil, err
	}
	width, height, err := images.ReadSize(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("text_prompts").Open('[')
	w.Open('{')
	w.Raw("text", prompt)
	w.Int("weight", 1)
	w.Close('}')
	w.Close(']')
	if width > 0 {
		w.Int("width", width)
		w.Int("height", height)
	}
	fields.WriteAliases(&w, t, drawParams)
	for name := range jsonedit.Members(r.Body) {
		if key := string(name[1 : len(name)-1]); strings.HasPrefix(key, "lora_") && !strings.Contains(key, `\`) {
			raw, _ := t.Consume(key)
			w.Raw(key, raw)
		}
	}
	w.Close('}')
	images.Base64Only(t)
	// without this header the response is the bare bytes of an image
	return &dialect.Outgoing{Body: w.B, Header: wire.Header{{Name: "accept", Value: "application/json"}}, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads a list, [{"base64":…,"seed":1,"finishReason":"SUCCESS"}].
func (draw) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created}
	for raw := range jsonedit.Elements(incoming.Body) {
		var it images.Item
		for name, val := range jsonedit.Members(raw) {
			switch string(name) {
			case `"base64"`:
				it.Base64 = val
			case `"seed"`:
				it.Extra = append(it.Extra, llm.Param{Name: "seed", Raw: val})
			case `"finishReason"`:
				it.Extra = append(it.Extra, llm.Param{Name: "finish_reason", Raw: val})
			}
		}
		m.Items = append(m.Items, it)
	}
	return m.BuildResponse()
}
