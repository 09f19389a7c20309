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

// What speech comes to where its provider does not say. A recording is at least as long as
// it takes to say what is in it, however few bytes it has, and as subtitles of it go on. What
// models make in a minute is OpenAI's estimate for gpt-4o-mini-tts, $0.015 a minute, by its
// price of $12 for a million tokens; what they hear is a token for each tenth of a second.
// Source: https://community.openai.com/t/understanding-gpt-4o-mini-tts-pricing-input-characters-cost/1151816,
// which quotes the price list; https://developers.openai.com/api/docs/guides/realtime-costs; read 2026-11.
const (
	speechTokensPerSecond  = 10    // of a second of speech to models that are billed by tokens
	maxTextTokensPerSecond = 8     // tokens of text that are said in a second, at most
	madeTokens             = 1_250 // of a minute of speech that a model makes
	minuteText             = 900   // bytes of text that are read out in a minute
)

// What speech comes to at most. The tokens are those of Gemini, which counts more than others.
// Source: https://ai.google.dev/gemini-api/docs/tokens, read 2026-11.
const (
	audioTokens = 32    // of a second of speech, heard or made
	charMillis  = 200   // that a byte of a word takes to be read out: a third of the usual pace
	signMilli   = 1_000 // of a digit, which may be a word or two, and of a sign or pause
	minSpeed    = 0.25  // of the usual pace, that callers may ask for
)

// transcriptionEndpoints are the endpoints that write down what is said.
var transcriptionEndpoints = map[llm.Endpoint]bool{llm.CreateTranscription: true, llm.CreateTranslation: true}

// maxTranscriptionUsage are the limits of a transcription of so many milliseconds.
func maxTranscriptionUsage(l *catalog.Limits, milli int64) {
	l.AudioMilli, l.Input, l.Output = milli, milli*audioTokens/1000, milli*audioTokens/1000
}

// maxSpeechUsage are the limits of speech that is made.
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

// adjustForSpeed is how long speech lasts, or how many tokens it has, at the pace that is asked for.
// Not all models speak faster when they shall.
func (a *attempt) adjustForSpeed(n int64) int64 {
	if v := a.param("speed"); v.Type == gjson.Number && v.Num < 1 {
		return int64(float64(n) / max(v.Num, minSpeed))
	}
	return n
}

// estimateTranscription is what a transcription used, where the provider does not say, as it never does
// in one that is a plain text: the speech by its length and, of an answer, the words that came,
// both within what was held.
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

// recordingMilli is how long the recording lasts that was sent.
func (a *attempt) recordingMilli() int64 {
	if a.x.form == nil {
		return 0
	}
	part := a.x.form.Part("file")
	if part == nil {
		return 0
	}
	var head [tokens.AudioHeadBytes]byte
	n, _ := io.ReadFull(a.x.form.Content(part).Open(), head[:]) // what can be read tells
	return tokens.AudioMillis(head[:n], part.Len)
}

// contentFields is the answer as far as it is at hand.
func (a *attempt) contentFields() []byte {
	if len(a.response.body) > 0 {
		return a.response.body
	}
	return a.log().Response.Plain(maxUsageBodyBytes)
}

// estimateSpeech is what making speech used, where that is billed by tokens and the provider
// does not say: those of the text and, of an answer, of the time that it takes to read it out.
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
