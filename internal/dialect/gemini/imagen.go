package gemini

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// imagen is a picture drawn by Imagen on Vertex AI.
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api,
// read 2026-11; contract/provider-transforms.md 4.9.
type imagen struct{}

var _ dialect.OpenAIEndpoint = imagen{}

// imageSettings are Imagen's parameters, each with the names that callers may use: the
// first that is there counts.
var imageSettings = []struct {
	to   string
	from []string
}{
	{"sampleCount", []string{"n"}}, {"sampleImageStyle", []string{"style"}}, {"seed", []string{"seed"}}, {"language", []string{"language"}},
	{"aspectRatio", []string{"aspectRatio", "aspect_ratio"}}, {"negativePrompt", []string{"negativePrompt", "negative_prompt"}},
	{"personGeneration", []string{"personGeneration", "person_generation"}}, {"safetySetting", []string{"safetySetting", "safety_setting"}},
	{"addWatermark", []string{"addWatermark", "add_watermark"}}, {"enhancePrompt", []string{"enhancePrompt", "enhance_prompt"}},
	{"storageUri", []string{"storageUri", "storage_uri"}}, {"sampleImageSize", []string{"sampleImageSize", "sample_image_size"}},
}

// ratios are OpenAI's sizes that Imagen has as a ratio.
var ratios = map[string]string{
	"1024x1024": "1:1", "512x512": "1:1", "256x256": "1:1", "1792x1024": "16:9", "1024x1792": "9:16", "1536x1024": "4:3", "1024x1536": "3:4",
}

// EncodeRequest writes each prompt as an instance.
func (imagen) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := dialect.Fields(r.Body)
	prompt, ok := t.Consume("prompt")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "prompt is required; send it in the request body").WithParam("prompt")
	}
	var w dialect.JSON
	w.Open('{')
	w.Key("instances").Open('[')
	for _, p := range inputs(prompt) {
		w.Open('{')
		w.Raw("prompt", p)
		w.Close('}')
	}
	w.Close(']')
	w.Key("parameters").Open('{')
	ratio(&w, t)
	for _, f := range imageSettings {
		raw, _ := t.First(f.from...)
		w.Raw(f.to, raw)
	}
	outputOptions(&w, t)
	w.Close('}')
	w.Close('}')
	if raw, ok := t.Peek("response_format"); ok && string(raw) == `"b64_json"` {
		t.Consume("response_format") // Imagen answers in no other form
	}
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// ratio writes size as an aspect ratio; what Imagen has no ratio for is lost.
func ratio(w *dialect.JSON, t *llm.FieldTracker) {
	size, _ := t.Peek("size")
	_, hasNative := t.Peek("aspectRatio")
	_, also := t.Peek("aspect_ratio")
	if r := ratios[plainText(size)]; r != "" && !hasNative && !also {
		t.Consume("size")
		w.Str("aspectRatio", r)
	}
}

// outputOptions writes the type of the picture and how much it is compressed: quality
// is a number, or OpenAI's word.
func outputOptions(w *dialect.JSON, t *llm.FieldTracker) {
	quality, compressed := t.Consume("quality")
	mime, typed := t.Consume("mimeType")
	if also, ok := t.Consume("mime_type"); ok && !typed {
		mime, typed = also, true
	}
	if !compressed && !typed {
		return
	}
	w.Key("outputOptions").Open('{')
	w.Raw("mimeType", mime)
	switch {
	case !compressed:
	case quality[0] != '"':
		w.Raw("compressionQuality", quality)
	case string(quality) == `"hd"`:
		w.Int("compressionQuality", 100)
	default:
		w.Int("compressionQuality", 75)
	}
	w.Close('}')
}

// TranslateResponse reads {"predictions":[{"bytesBase64Encoded":"…"}]}. Pictures that were
// filtered out are missing; when all were, that is the error.
func (imagen) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, _ := splice.Find(incoming.Body, "predictions")
	out := dialect.Images{Created: incoming.Created}
	filtered := ""
	for p := range splice.Elements(list) {
		var it dialect.Image
		it.Base64, _ = splice.Find(p, "bytesBase64Encoded")
		it.URL, _ = splice.Find(p, "gcsUri")
		if why, ok := splice.Find(p, "raiFilteredReason"); ok {
			filtered = plainText(why)
		}
		if it.Base64 == nil && it.URL == nil {
			continue
		}
		if revised, ok := splice.Find(p, "prompt"); ok {
			it.Extra = []llm.Param{{Name: "revised_prompt", Raw: revised}}
		}
		out.Items = append(out.Items, it)
	}
	if len(out.Items) == 0 && filtered != "" {
		return nil, fault.Newf(fault.UpstreamInvalid, "the provider filtered out all images: %s", filtered)
	}
	a, err := out.BuildResponse()
	if err == nil {
		a.Model = incoming.To.Model
	}
	return a, err
}
