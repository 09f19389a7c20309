package dataplane

import (
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/llm"
	"sluice/internal/tokens"
)

// Estimates of speech usage for providers that do not report it. A recording lasts at least as
// long as its text takes to speak, whatever its size in bytes, and as long as its subtitles. The
// usage of generated speech follows OpenAI's estimate for gpt-4o-mini-tts, $0.015 a minute, at
// its price of $12 per million tokens. Speech input counts one token for each tenth of a second.
// Source: https://community.openai.com/t/understanding-gpt-4o-mini-tts-pricing-input-characters-cost/1151816,
// which quotes the price list; https://developers.openai.com/api/docs/guides/realtime-costs; read 2026-11.
const (
	speechTokensPerSecond  = 10    // for models that are billed by tokens
	maxTextTokensPerSecond = 8     // maximum tokens of text spoken in a second
	madeTokens             = 1_250 // tokens for a minute of generated speech
	minuteText             = 900   // bytes of text spoken in a minute
)

// Maximum usage of speech. The token count is Gemini's, which is higher than that of others.
// Source: https://ai.google.dev/gemini-api/docs/tokens, read 2026-11.
const (
	audioTokens = 32    // tokens for a second of speech, input or output
	charMillis  = 200   // milliseconds to speak one byte of a word: a third of the usual speed
	signMilli   = 1_000 // milliseconds for a digit, which may be a word or two, or for a symbol or pause
	minSpeed    = 0.25  // minimum speed, relative to the usual speed, that callers may request
)

// transcriptionEndpoints are the endpoints that convert speech to text.
var transcriptionEndpoints = map[llm.Endpoint]bool{llm.CreateTranscription: true, llm.CreateTranslation: true}

// maxTranscriptionUsage sets the maximum usage of a transcription of milli milliseconds.
func maxTranscriptionUsage(l *catalog.Limits, milli int64) {
	l.AudioMilli, l.Input, l.Output = milli, milli*audioTokens/1000, milli*audioTokens/1000
}

// maxSpeechUsage sets the maximum usage of generated speech.
func (a *attempt) maxSpeechUsage(l *catalog.Limits) {
	text, milli := a.text("input"), int64(signMilli)
	for _, r := range text {
		if l.Characters++; unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSpace(r) {
			milli += int64(utf8.RuneLen(r)) * charMillis
		} else {
			milli += signMilli
		}
	}
	l.Input = int64(len(text) + len(a.text("instructions")))
	l.Output = a.adjustForSpeed(milli) * audioTokens / 1000
}

// adjustForSpeed scales a duration or token count of speech to the requested speed. It scales
// only for slow speech, because not all models support fast speech.
func (a *attempt) adjustForSpeed(n int64) int64 {
	if v := a.param("speed"); v.Type == gjson.Number && v.Num < 1 {
		return int64(float64(n) / max(v.Num, minSpeed))
	}
	return n
}

// estimateTranscription estimates the usage of a transcription if the provider does not report
// it; plain-text transcriptions never do. It counts the speech by its duration and the text of
// the response, both limited by the reserved maximum.
func (g *Gateway) estimateTranscription(a *attempt, hasResponse bool) (u llm.Usage) {
	var textTokens, milli int64
	maximum := &a.reservation.maxUsage
	if segment := a.segment; segment != nil {
		textTokens, milli = g.counter.Text(string(segment.text), a.priceName()).Tokens, segment.milli
	} else {
		if hasResponse {
			textTokens = g.countOutput(a, a.x.match.Endpoint, a.priceName())
		}
		milli = min(max(a.recordingMilli(), textTokens*1000/maxTextTokensPerSecond, tokens.SubtitlesMilli(a.contentFields())), maximum.AudioMilli)
	}
	if u.AudioSeconds = float64(milli) / 1000; !a.reservation.tariff.PricesAudioInputByToken() {
		return u
	}
	u.InputTokens = min(milli*speechTokensPerSecond/1000, maximum.Input)
	u.InputAudioTokens = u.InputTokens
	u.OutputTokens = min(textTokens, maximum.Output)
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// recordingMilli returns the duration of the uploaded recording in milliseconds.
func (a *attempt) recordingMilli() int64 {
	if a.x.form == nil {
		return 0
	}
	part := a.x.form.Part("file")
	if part == nil {
		return 0
	}
	var head [tokens.AudioHeadBytes]byte
	n, _ := io.ReadFull(a.x.form.Content(part).Open(), head[:]) // a short read still contains usable bytes
	return tokens.AudioMillis(head[:n], part.Len)
}

// contentFields returns the response body, as far as it is in memory.
func (a *attempt) contentFields() []byte {
	if len(a.response.body) > 0 {
		return a.response.body
	}
	return a.log().Response.Plain(maxUsageBodyBytes)
}

// estimateSpeech estimates the usage of generated speech that is billed by tokens, if the
// provider does not report it. It counts the tokens of the text and, if there is a response,
// those of its spoken duration.
func (g *Gateway) estimateSpeech(a *attempt, hasResponse bool) (u llm.Usage) {
	text, model := a.text("input"), a.priceName()
	u.InputTokens = min(g.counter.Text(text, model).Tokens+g.counter.Text(a.text("instructions"), model).Tokens, a.reservation.maxUsage.Input)
	if hasResponse {
		u.OutputTokens = a.adjustForSpeed(int64(len(text)) * madeTokens / minuteText)
		u.OutputAudioTokens = u.OutputTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
