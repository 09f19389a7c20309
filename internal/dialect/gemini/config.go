package gemini

import (
	"slices"
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// plain lists the parameters that generationConfig has under another name, with the same
// values. Source: contract/provider-transforms.md 4.1.
var plain = [...]struct{ from, to string }{
	{"temperature", "temperature"}, {"top_p", "topP"}, {"top_k", "topK"}, {"n", "candidateCount"}, {"seed", "seed"},
	{"presence_penalty", "presencePenalty"}, {"frequency_penalty", "frequencyPenalty"},
	{"logprobs", "responseLogprobs"}, {"top_logprobs", "logprobs"}, {"media_resolution", "mediaResolution"},
}

// configWriter writes the generationConfig of a request: limits, format, media and thinking.
type configWriter struct{ *callBody }

// generationConfig writes the generation settings, or nothing when the call has none.
func (w *configWriter) generationConfig() {
	from := len(w.B)
	w.Key("generationConfig").Open('{')
	empty := len(w.B)
	for _, f := range plain {
		if raw, ok := w.t.Consume(f.from); ok {
			w.Raw(f.to, raw)
		}
	}
	if raw, ok := w.t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("maxOutputTokens", raw)
	}
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", conversation.Stops(raw, true))
	}
	w.format()
	w.thinking()
	w.modalities()
	w.speech()
	w.image()
	if len(w.B) == empty {
		w.Writer.B = w.B[:from]
		return
	}
	w.Close('}')
}

// format writes the JSON response format. Gemini always follows a schema, so strict needs no setting.
// Gemini does not have a setting for the schema's name, which does not affect a model.
func (w *configWriter) format() {
	f := w.c.Format
	if !w.wantsJSON() {
		return
	}
	if w.asksForJSON() {
		w.t.Drop(f.From)
		return
	}
	w.Str("responseMimeType", "application/json")
	if f.Type == "json_schema" {
		w.schema("responseSchema", "responseJsonSchema", f.Schema)
	}
	if f.Description != "" {
		w.t.Drop(fields.NestedPath(w.c, f.From, "json_schema") + ".description")
	}
}

func (w *callBody) wantsJSON() bool {
	f := w.c.Format
	return f != nil && (f.Type == "json_object" || f.Type == "json_schema")
}

// asksForJSON reports whether an instruction requests JSON instead of the response format. Models
// before Gemini 3 reject a response format next to functions: "Function calling with a response mime
// type: 'application/json' is unsupported".
// Source: https://ai.google.dev/gemini-api/docs/structured-output, read 2026-11.
func (w *callBody) asksForJSON() bool {
	return w.wantsJSON() && w.m.supportsSystemInstruction() && !w.m.levels() &&
		slices.ContainsFunc(w.c.Tools, func(t llm.Tool) bool { return t.Type == llm.Function })
}

// jsonInstruction returns the instruction that requests JSON.
func jsonInstruction(f *llm.Format) string {
	const instruction = "When you answer, answer with one JSON object and nothing else."
	if f.Type == "json_schema" {
		return instruction + " It must fit this JSON schema: " + string(f.Schema)
	}
	return instruction
}

// modalities writes ["text","image"] as ["TEXT","IMAGE"].
func (w *configWriter) modalities() {
	raw, ok := w.t.Consume("modalities")
	if !ok {
		return
	}
	if raw[0] != '[' {
		w.Raw("responseModalities", raw) // Gemini rejects it
		return
	}
	w.Key("responseModalities").Open('[')
	for v := range jsonedit.Elements(raw) {
		if s, ok := jsonedit.Unquote(v); ok {
			w.Text(strings.ToUpper(s))
		} else {
			w.Value(v)
		}
	}
	w.Close(']')
}

// speech writes the voice of an audio response: Gemini's own speech_config, or OpenAI's audio.voice.
// Gemini always returns PCM with 16 bits and 24 kHz, whatever format the caller requests.
// Source: https://ai.google.dev/gemini-api/docs/speech-generation, read 2026-11.
func (w *configWriter) speech() {
	audio, hasAudio := w.t.Consume("audio")
	if raw, ok := w.t.Consume("speech_config"); ok {
		w.Raw("speechConfig", raw)
		if hasAudio {
			w.t.Drop("audio")
		}
		return
	}
	if !hasAudio {
		return
	}
	if voice, ok := jsonedit.Find(audio, "voice"); ok {
		w.Key("speechConfig").Open('{')
		w.Key("voiceConfig").Open('{')
		w.Key("prebuiltVoiceConfig").Open('{')
		w.Raw("voiceName", voice)
		w.Close('}')
		w.Close('}')
		w.Close('}')
	}
	if f, ok := jsonedit.Find(audio, "format"); ok && string(f) != `"pcm16"` {
		w.t.Drop("audio.format")
	}
}

// image writes the format of generated images.
func (w *configWriter) image() {
	raw, ok := w.t.Consume("image_config")
	if !ok {
		return
	}
	w.Key("imageConfig").Open('{')
	for name, val := range jsonedit.Members(raw) {
		switch key := string(name[1 : len(name)-1]); key {
		case "aspect_ratio":
			w.Raw("aspectRatio", val)
		case "image_size":
			w.Raw("imageSize", val)
		default:
			w.Raw(key, val)
		}
	}
	w.Close('}')
}
