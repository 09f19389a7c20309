package gateway_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// wave is a recording of so many seconds, at 8,000 bytes each.
func wave(seconds int) string {
	b := make([]byte, 8000*seconds)
	copy(b, "RIFF....WAVEfmt ")
	binary.LittleEndian.PutUint32(b[16:], 16)
	binary.LittleEndian.PutUint32(b[24:], 8000)
	binary.LittleEndian.PutUint32(b[28:], 8000)
	binary.LittleEndian.PutUint16(b[32:], 1)
	return string(b)
}

// A transcription of which the provider does not say what it used costs by its recording: who
// asks for plain text does not get it for nothing.
func TestTranscriptionsAreReckoned(t *testing.T) {
	t.Parallel()
	const (
		second      = 100_000    // nano-dollars, of whisper-1
		audioSecond = 10 * 6_000 // of a second with gpt-4o-transcribe
		tokenCost   = 10_000     // of a token that it writes
		usual       = 16_000     // bytes of a second of speech
	)
	unpriced := map[string]string{"unheard-of": "unknown_model"}
	text, song := upstream.Text(200, "text/plain", "Hello there"), upstream.Text(200, "text/plain", strings.Repeat("Hello there ", 4000))
	for name, c := range map[string]struct {
		model, recording string
		response         upstream.Response
		state            string
		cost             int64
	}{
		"a plain text":          {"whisper-1", strings.Repeat("a", 10*usual), text, "estimated", 10 * second},
		"a text without a word": {"whisper-1", strings.Repeat("a", 10*usual), upstream.JSON(200, json.RawMessage(`{"text":""}`)), "estimated", 10 * second},
		"counted":               {"whisper-1", strings.Repeat("a", 10*usual), upstream.JSON(200, json.RawMessage(`{"text":"Hello there","usage":{"type":"duration","seconds":7}}`)), "settled", 7 * second},
		"subtitles":             {"whisper-1", strings.Repeat("a", 75_000), upstream.Text(200, "text/plain", "1\n00:00:01,000 --> 00:00:42,000\nHello there\n"), "estimated", 42 * second},
		"by its own head":       {"whisper-1", wave(10), text, "estimated", 10 * second},
		"of few bytes":          {"whisper-1", strings.Repeat("a", 100_000), upstream.Text(200, "text/plain", strings.Repeat("Hello there ", 400)), "estimated", 100 * second},
		"of too few bytes":      {"whisper-1", strings.Repeat("a", 75_000), song, "estimated", 100 * second},
		"of words from nowhere": {"gpt-4o-transcribe", "a", song, "estimated", 6*6_000 + 21*tokenCost},
		"without a price":       {"unheard-of", strings.Repeat("a", 10*usual), text, "estimated", 0},
		"by tokens":             {"gpt-4o-transcribe", strings.Repeat("a", 10*usual), text, "estimated", 10*audioSecond + 2*tokenCost},
		"no answer":             {"gpt-4o-transcribe", strings.Repeat("a", 10*usual), upstream.Response{End: upstream.Cut, Raw: []byte("HTTP/1.1 200 O")}, "estimated", 10 * audioSecond},
		"refused":               {"whisper-1", strings.Repeat("a", 10*usual), upstream.OpenAIError(400, "invalid_request_error", "", "no"), "released", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/audio/transcriptions", upstream.Always(c.response))
			body, kind := form(t, "model", c.model, "response_format", "text", "@file", "a.mp3:"+c.recording)
			r.call("POST", "/v1/audio/transcriptions", body, r.custom("content-type: "+kind)...)
			s := r.journal.one(t).Spend
			if slack := c.cost / 50; s.State != c.state || s.Cost < c.cost-slack || s.Cost > c.cost+slack || s.Unpriced != unpriced[c.model] {
				t.Errorf("%+v, want %s at %d", s, c.state, c.cost)
			}
			if s.Cost > s.MaxCost {
				t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
			}
		})
	}
}

// Speech costs by the characters of its text, however many bytes these have, or where the
// price is one of tokens, which no answer of sound tells, by the time that it takes. Not much
// more than that is held for it.
func TestSpeechIsReckoned(t *testing.T) {
	t.Parallel()
	const charCost, textIn, out = 15_000, 600, 12_000 // nano-dollars: a character of tts-1, tokens of gpt-4o-mini-tts
	minute := strings.Repeat("hello ", 150)
	for name, c := range map[string]struct {
		model, text, more, state, unpriced string
		cost                               int64
	}{
		"characters":          {"tts-1", minute, "", "settled", "", 900 * charCost},
		"of more than a byte": {"tts-1", strings.Repeat("\u4f60", 100), "", "settled", "", 100 * charCost},
		"tokens":              {"gpt-4o-mini-tts", minute, "", "estimated", "", 151*textIn + 1250*out},
		"and how to speak":    {"gpt-4o-mini-tts", minute, `,"instructions":"hello hello"`, "estimated", "", 153*textIn + 1250*out},
		"slowly":              {"gpt-4o-mini-tts", minute, `,"speed":0.5`, "estimated", "", 151*textIn + 2500*out},
		"more than slowly":    {"gpt-4o-mini-tts", minute, `,"speed":-1e9`, "estimated", "", 151*textIn + 5000*out},
		"in haste":            {"gpt-4o-mini-tts", minute, `,"speed":4`, "estimated", "", 151*textIn + 1250*out},
		"nothing":             {"gpt-4o-mini-tts", "", "", "estimated", "", 0},
		"without a price":     {"unheard-of", minute, "", "settled", "unknown_model", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/audio/speech", upstream.Always(upstream.Text(200, "audio/mpeg", "sound")))
			if a := r.call("POST", "/v1/audio/speech", fmt.Sprintf(`{"model":%q,"voice":"alloy","input":%q%s}`, c.model, c.text, c.more), r.custom()...); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			s := r.journal.one(t).Spend
			if s.State != c.state || s.Cost != c.cost || s.Unpriced != c.unpriced {
				t.Errorf("%+v, want %s at %d", s, c.state, c.cost)
			}
			if s.Cost > s.MaxCost || s.MaxCost > 6*s.Cost+40*out {
				t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
			}
		})
	}
}
