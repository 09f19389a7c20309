package openai

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
)

// rule is the check of a form field's value. A nil accept accepts any value.
type rule struct {
	accept  func(value string) bool
	message string // what it must be, for the caller
	many    bool   // the field may be repeated
}

// formats are the endings of the audio files that can be transcribed.
// Source: spec, Transcription request.
var formats = []string{"flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"}

// transcriptionFields are the fields of a transcription. Source: spec, Transcription request; the
// last three are what the API has gained since.
var transcriptionFields = map[string]rule{
	"file":                      {},
	"model":                     {accept: nonEmpty, message: "must be the id of a model, for example whisper-1"},
	"language":                  {accept: isLanguage, message: "must be an ISO-639-1 code of two letters, for example en"},
	"prompt":                    {},
	"response_format":           {accept: oneOf("json", "text", "srt", "verbose_json", "vtt"), message: "must be one of json, text, srt, verbose_json, vtt"},
	"temperature":               {accept: isTemperature, message: "must be a number from 0 to 1"},
	"timestamp_granularities[]": {accept: oneOf("word", "segment"), message: "must be word or segment", many: true},
	"stream":                    {accept: oneOf("true", "false"), message: "must be true or false"},
	"include[]":                 {many: true},
	"chunking_strategy":         {},
}

// untranslated are the fields of a transcription that a translation does not have.
var untranslated = []string{"language", "timestamp_granularities[]", "stream", "include[]", "chunking_strategy"}

// CheckForm refuses a multipart request that breaks the specification's rules for
// transcriptions and translations with fault.InvalidParameter that names the field:
// the file (a file, not a name) and the model must be there, no field is unknown or
// doubled, values are in range. Timestamps need response_format verbose_json. The model
// may be what the target brings. Other endpoints need nothing.
func CheckForm(ep llm.Endpoint, f *multipartedit.Form, s dialect.Shaping) error {
	if ep != llm.CreateTranscription && ep != llm.CreateTranslation {
		return nil
	}
	for k := range f.Parts {
		if err := checkPart(ep, f, k); err != nil {
			return err
		}
	}
	if f.Part("file") == nil {
		return missing("file")
	}
	if f.Part("model") == nil && !s.Sets("model") {
		return missing("model")
	}
	if f.Part("timestamp_granularities[]") != nil {
		if format, _ := f.Value("response_format"); format != "verbose_json" {
			return fields.Invalid("timestamp_granularities[]", "is only valid with response_format verbose_json")
		}
	}
	return nil
}

func checkPart(ep llm.Endpoint, f *multipartedit.Form, k int) error {
	p := &f.Parts[k]
	r, known := transcriptionFields[p.Name]
	if !known || ep == llm.CreateTranslation && slices.Contains(untranslated, p.Name) {
		return fields.Invalid(p.Name, "is not a supported field of this request")
	}
	if !r.many && f.Part(p.Name) != p {
		return fields.Invalid(p.Name, "must not be sent more than once")
	}
	if p.Name == "file" {
		return checkFile(p)
	}
	if p.HasFileName {
		return fields.Invalid(p.Name, "must be a plain field, not a file")
	}
	if r.accept != nil && !r.accept(string(p.Value)) {
		return fields.Invalid(p.Name, r.message)
	}
	return nil
}

// checkFile requires the audio itself. Clients that pass a path send it as a plain field.
func checkFile(p *multipartedit.Part) error {
	if !p.HasFileName {
		return fields.Invalid("file", "must be the audio file, not its name")
	}
	if p.Len == 0 {
		return fields.Invalid("file", "must not be empty")
	}
	if !audio(p) {
		return fields.Invalid("file", "must be audio in one of the formats "+strings.Join(formats, ", "))
	}
	return nil
}

// audio checks the extension of the file's name, as providers do. If the name has none, the
// content type decides or, when that is general, the provider.
func audio(p *multipartedit.Part) bool {
	name := p.FileName[strings.LastIndexAny(p.FileName, `/\`)+1:]
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		return slices.Contains(formats, strings.ToLower(name[dot+1:]))
	}
	kind, _, _ := strings.Cut(p.ContentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "" || kind == "application/octet-stream" ||
		strings.HasPrefix(kind, "audio/") || kind == "video/mp4" || kind == "video/webm" || kind == "video/mpeg"
}

func nonEmpty(v string) bool { return v != "" }

func oneOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

// isLanguage accepts the two letters of ISO-639-1. Which of them exist is left to the
// provider.
func isLanguage(v string) bool {
	return len(v) == 2 && isLetter(v[0]) && isLetter(v[1])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isTemperature(v string) bool {
	t, err := strconv.ParseFloat(v, 64)
	return err == nil && t >= 0 && t <= 1 && strings.Trim(v, "0123456789.eE+-") == "" // no spelling of Go's own: "0x1p-2"
}
