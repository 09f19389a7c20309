package gemini

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// speech is Google Cloud Text-to-Speech, with the voices of Chirp and of Gemini.
// Source: https://cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize
// and …/docs/gemini-tts, read 2026-11; contract/provider-transforms.md 4.11.
type speech struct{}

var _ dialect.OpenAIEndpoint = speech{}

// encodings are the audio formats: OpenAI's name, Google's name and the type of the
// response.
var encodings = map[string]struct{ name, mime string }{
	"mp3": {"MP3", "audio/mpeg"}, "opus": {"OGG_OPUS", "audio/ogg"}, "wav": {"LINEAR16", "audio/wav"}, "pcm": {"PCM", "audio/L16"},
	"alaw": {"ALAW", "audio/PCMA"}, "mulaw": {"MULAW", "audio/PCMU"},
}

// formatIn returns the response_format of a request, or mp3 when it is missing.
func formatIn(body []byte) string {
	raw, _ := jsonedit.Find(body, "response_format")
	return cmp.Or(plainText(raw), "mp3")
}

// EncodeRequest writes the input text, the voice and the audio format.
func (speech) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	t.Consume("response_format")
	form, ok := encodings[formatIn(r.Body)]
	if !ok {
		return nil, fields.Invalid("response_format", "must be mp3, opus, wav, pcm, alaw or mulaw; Google supports no other audio format")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("input").Open('{')
	fields.WriteParams(&w, t, []fields.Rename{{Path: "input", To: "text"}, {Path: "instructions", To: "prompt"}})
	w.Close('}')
	name, _ := t.Consume("voice")
	language, _ := t.First("language_code", "language")
	voice(&w, to.Model, plainText(name), plainText(language))
	w.Key("audioConfig").Open('{')
	w.Str("audioEncoding", form.name)
	fields.WriteParams(&w, t, []fields.Rename{{Path: "speed", To: "speakingRate"}})
	w.Close('}')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// defaultLanguage is the language when neither the voice nor the caller specifies one.
// Google requires a language.
const defaultLanguage = "en-US"

// voice writes {"languageCode":"en-US","name":"en-US-Chirp3-HD-Kore"}. For Gemini models
// it writes {"languageCode":"en-US","name":"Kore","modellists.modelName":"gemini-2.5-flash-tts"}.
func voice(w *jsonwriter.Writer, model, name, language string) {
	if parts := strings.SplitN(name, "-", 3); language == "" && len(parts) == 3 {
		language = parts[0] + "-" + parts[1]
	}
	language = cmp.Or(language, defaultLanguage)
	gemini := strings.HasPrefix(model, "gemini")
	if !gemini && name != "" && !strings.Contains(name, "-") {
		name = language + "-Chirp3-HD-" + name
	}
	w.Key("voice").Open('{')
	w.Str("languageCode", language)
	w.Opt("name", name)
	if gemini {
		w.Str("modelName", model)
	}
	w.Close('}')
}

// TranslateResponse reads {"audioContent":"…"}. The response to the caller is the audio
// itself.
func (speech) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	raw, _ := jsonedit.Find(incoming.Body, "audioContent")
	audio, err := base64.StdEncoding.DecodeString(plainText(raw))
	if err != nil || len(audio) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no audio")
	}
	return &dialect.Response{Body: audio, ContentType: encodings[formatIn(incoming.Sent.Body)].mime, Model: incoming.To.Model}, nil
}
