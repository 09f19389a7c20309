package demo

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
)

// waveHead is the length of the header of a plain WAV file.
const waveHead = 44

// transcript is the generated transcript of a file.
type transcript struct {
	task, language string
	model, text    string
	seconds        float64
	words          bool // word times requested
	segments       bool // segment times requested
}

func (api *audioAPI) transcribe(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r, waveHead)
	if err != nil {
		return err
	}
	t, err := newTranscript(f, "transcribe")
	if err != nil {
		return err
	}
	// whisper-1 accepts the field but does not stream, as OpenAI documents.
	if f.first("stream") == "true" && t.model != "whisper-1" {
		api.streamTranscript(w, r, t)
		return nil
	}
	return t.write(w, f.first("response_format"))
}

func (api *audioAPI) translate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r, waveHead)
	if err != nil {
		return err
	}
	t, err := newTranscript(f, "translate")
	if err != nil {
		return err
	}
	return t.write(w, f.first("response_format"))
}

// newTranscript returns a transcript that describes the received file.
func newTranscript(f *form, task string) (transcript, error) {
	audio := f.file("file")
	switch {
	case audio == nil:
		return transcript{}, badParam("file", "file must be a file object, not a name or a string.")
	case f.first("model") == "":
		return transcript{}, badParam("model", "you must provide a model parameter")
	}
	t := transcript{task: task, model: f.first("model"), language: orElse(f.first("language"), "en"), seconds: duration(audio)}
	if task == "translate" {
		t.language = "en"
	}
	grains := f.fields["timestamp_granularities[]"]
	t.words = slices.Contains(grains, "word")
	t.segments = len(grains) == 0 || slices.Contains(grains, "segment")
	t.text = fmt.Sprintf("I heard %s: %d bytes, %.2f seconds, spoken in %s.", audio.Name, audio.Size, t.seconds, t.language)
	if p := f.first("prompt"); p != "" {
		t.text += fmt.Sprintf(" The prompt was %q.", quote(p))
	}
	return t, nil
}

// duration returns the real length of a WAV file in seconds; for other formats, the length at 128
// kbit/s. It is rounded to hundredths.
func duration(f *formFile) float64 {
	seconds := float64(f.Size) / 16000
	if b := f.Head; len(b) == waveHead && string(b[:4]) == "RIFF" && string(b[8:12]) == "WAVE" {
		if rate := binary.LittleEndian.Uint32(b[28:32]); rate > 0 {
			seconds = float64(f.Size-waveHead) / float64(rate)
		}
	}
	return math.Round(seconds*100) / 100
}

func (t transcript) write(w http.ResponseWriter, format string) error {
	switch format {
	case "", "json":
		writeJSON(w, http.StatusOK, map[string]any{"text": t.text, "usage": t.usage()})
	case "verbose_json":
		writeJSON(w, http.StatusOK, t.verbose())
	case "text":
		writeText(w, "text/plain; charset=utf-8", t.text+"\n")
	case "srt":
		writeText(w, "text/plain; charset=utf-8", t.srt())
	case "vtt":
		writeText(w, "text/vtt; charset=utf-8", t.vtt())
	default:
		return badParam("response_format", "Invalid 'response_format': %q. Expected json, text, srt, verbose_json or vtt.", format)
	}
	return nil
}

// usage returns the duration for whisper-1, and otherwise tokens: ten per second of audio as
// audio input, and the words as output.
func (t transcript) usage() any {
	if t.model == "whisper-1" {
		return map[string]any{"type": "duration", "seconds": int64(math.Ceil(t.seconds))}
	}
	inputTokens, out := int64(math.Ceil(t.seconds*10)), Tokens(t.text)
	return map[string]any{
		"type": "tokens", "input_tokens": inputTokens, "output_tokens": out, "total_tokens": inputTokens + out,
		"input_token_details": map[string]any{"audio_tokens": inputTokens, "text_tokens": 0},
	}
}

// streamTranscript streams the text with a word per event. This stream has no [DONE].
func (api *audioAPI) streamTranscript(w http.ResponseWriter, r *http.Request, t transcript) {
	s := api.stream(w, r)
	for _, p := range textChunks(t.text) {
		s.data(map[string]any{"type": "transcript.text.delta", "delta": p})
	}
	s.data(map[string]any{"type": "transcript.text.done", "text": t.text, "usage": t.usage()})
}

func writeText(w http.ResponseWriter, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	_, _ = strings.NewReader(text).WriteTo(w) // the client may have disconnected
}
