package demo

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
)

// The audio: mono, 16 bit, a tenth of a second per word, at most five seconds.
const (
	sampleRate       = 8000 // samples per second
	samplesPerWord   = sampleRate / 10
	maxTones         = 50 // words
	speechChunkBytes = 16 << 10
)

type speechRequest struct {
	Model        string `json:"model"`
	Input        string `json:"input"`
	Voice        string `json:"voice"`
	Format       string `json:"response_format"`
	StreamFormat string `json:"stream_format"`
}

// audioAPI serves speech, transcriptions and translations.
type audioAPI struct{ *serverState }

// createSpeech returns a tone per word as a WAV file, whatever format was requested; the content
// type states it. Format "pcm" returns only the samples, and stream_format "sse" the same bytes
// as events.
func (api *audioAPI) createSpeech(w http.ResponseWriter, r *http.Request) error {
	var q speechRequest
	if _, err := decode(w, r, &q); err != nil {
		return err
	}
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case q.Input == "":
		return badParam("input", "Invalid 'input': empty string.")
	case q.Voice == "":
		return badParam("voice", "you must provide a voice parameter")
	}
	audio, kind := wave(q.Input), "audio/wav"
	if q.Format == "pcm" {
		audio, kind = audio[waveHead:], "audio/pcm"
	}
	if q.StreamFormat == "sse" {
		api.streamSpeech(w, r, audio, q.Input)
		return nil
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(audio) // the client may have disconnected
	return nil
}

func (api *audioAPI) streamSpeech(w http.ResponseWriter, r *http.Request, audio []byte, text string) {
	s := api.stream(w, r)
	inputTokens, out := Tokens(text), int64(len(audio)/(2*samplesPerWord))
	for len(audio) > 0 {
		n := min(len(audio), speechChunkBytes)
		s.data(map[string]any{"type": "speech.audio.delta", "audio": base64.StdEncoding.EncodeToString(audio[:n])})
		audio = audio[n:]
	}
	s.data(map[string]any{"type": "speech.audio.done", "usage": map[string]any{"input_tokens": inputTokens, "output_tokens": out, "total_tokens": inputTokens + out}})
}

// wave returns a WAV file with one tone per word. The word's length determines the pitch.
func wave(text string) []byte {
	words := textChunks(text)
	words = words[:min(len(words), maxTones)]
	size := uint32(2 * samplesPerWord * len(words))
	b := make([]byte, 0, waveHead+size)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, waveHead-8+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // plain samples
	b = binary.LittleEndian.AppendUint16(b, 1) // one channel
	b = binary.LittleEndian.AppendUint32(b, sampleRate)
	b = binary.LittleEndian.AppendUint32(b, 2*sampleRate)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	for _, word := range words {
		b = tone(b, 200+40*float64(len(word)%20))
	}
	return b
}

func tone(b []byte, hertz float64) []byte {
	for i := range samplesPerWord {
		v := math.Sin(2 * math.Pi * hertz * float64(i) / sampleRate)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v*8000)))
	}
	return b
}
