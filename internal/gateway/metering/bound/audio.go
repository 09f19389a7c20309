package bound

import (
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/tokens"
)

// Maximum usage of speech. The token count is Gemini's, which is higher than that of others.
// Source: https://ai.google.dev/gemini-api/docs/tokens, read 2026-11.
const (
	audioTokens = 32    // tokens for a second of speech, input or output
	charMillis  = 200   // milliseconds to speak one byte of a word: a third of the usual speed
	signMilli   = 1_000 // milliseconds for a digit, which may be a word or two, or for a symbol or pause
	minSpeed    = 0.25  // minimum speed, relative to the usual speed, that callers may request
)

// slackMilli is the speech, in milliseconds, that a part of a conversation may contain beyond what
// was sent, because audio and events cross.
const slackMilli = 1_000

// IsTranscription reports whether an endpoint converts speech to text.
func IsTranscription(ep llm.Endpoint) bool {
	return ep == llm.CreateTranscription || ep == llm.CreateTranslation
}

// maxTranscriptionUsage sets the maximum usage of a transcription of milli milliseconds.
func maxTranscriptionUsage(l *catalog.Limits, milli int64) {
	l.AudioMilli, l.Input, l.Output = milli, milli*audioTokens/1000, milli*audioTokens/1000
}

// maxSpeechUsage sets the maximum usage of generated speech.
func (c *Call) maxSpeechUsage(l *catalog.Limits) {
	text, milli := c.Text("input"), int64(signMilli)
	for _, r := range text {
		if l.Characters++; unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSpace(r) {
			milli += int64(utf8.RuneLen(r)) * charMillis
		} else {
			milli += signMilli
		}
	}
	l.Input = int64(len(text) + len(c.Text("instructions")))
	l.Output = c.AdjustForSpeed(milli) * audioTokens / 1000
}

// AdjustForSpeed scales a duration or token count of speech to the requested speed. It scales
// only for slow speech, because not all models support fast speech.
func (c *Call) AdjustForSpeed(n int64) int64 {
	if v := c.Value("speed"); v.Type == gjson.Number && v.Num < 1 {
		return int64(float64(n) / max(v.Num, minSpeed))
	}
	return n
}

// RecordingMilli returns the duration of the uploaded recording in milliseconds; 0 if it is not
// known.
func (c *Call) RecordingMilli() int64 {
	if c.Form == nil {
		return 0
	}
	part := c.Form.Part("file")
	if part == nil {
		return 0
	}
	var head [tokens.AudioHeadBytes]byte
	n, _ := io.ReadFull(c.Form.Content(part).Open(), head[:]) // a short read still contains usable bytes
	return tokens.AudioMillis(head[:n], part.Len)
}
