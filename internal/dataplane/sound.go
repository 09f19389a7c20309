package dataplane

import (
	"io"

	"sluice/internal/llm"
	"sluice/internal/tokens"
)

// What speech comes to where its provider does not say. A recording is at least as long as
// it takes to say what is in it, however few bytes it has, and no longer than was held for.
// Source: https://developers.openai.com/api/docs/pricing, read 2026-11: what a minute of
// gpt-4o-transcribe and of gpt-4o-mini-tts is estimated at there, by its price of tokens.
const (
	spokenTokens = 10    // of a second of speech to models that are billed by tokens
	fastestWords = 8     // tokens of text that are said in a second, at most
	madeTokens   = 1_250 // of a minute of speech that a model makes
	minuteText   = 900   // bytes of text that are read out in a minute
)

// heard are the endpoints that write down what is said.
var heard = map[llm.Endpoint]bool{llm.CreateTranscription: true, llm.CreateTranslation: true}

// reckonHeard is what a transcription used, where the provider does not say, as it never does
// in one that is a plain text: the speech by its length and, of an answer, the words that came.
func (g *Gateway) reckonHeard(a *attempt, answer bool) (u llm.Usage) {
	var words, milli int64
	if of := a.speaks; of != nil {
		words, milli = g.counter.Text(string(of.words), a.priceName()).Tokens, of.milli
	} else {
		if answer {
			words = g.said(a, a.x.match.Endpoint, a.priceName())
		}
		milli = min(max(a.recordingMilli(), words*1000/fastestWords), a.stake.most.AudioMilli)
	}
	if u.AudioSeconds = float64(milli) / 1000; a.stake.tariff.Timed() {
		return u
	}
	u.InputTokens = milli * spokenTokens / 1000
	u.InputAudioTokens = u.InputTokens
	u.OutputTokens = words
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
	var head [tokens.SoundHead]byte
	n, _ := io.ReadFull(a.x.form.Content(part).Open(), head[:]) // what can be read tells
	return tokens.SoundMilli(head[:n], part.Len)
}

// reckonSpeech is what making speech used, where that is billed by tokens and the provider
// does not say: those of the text and, of an answer, of the time that it takes to read it out.
func (g *Gateway) reckonSpeech(a *attempt, answer bool) (u llm.Usage) {
	text := a.text("input")
	u.InputTokens = g.counter.Text(text, a.priceName()).Tokens
	if answer {
		u.OutputTokens = int64(len(text)) * madeTokens / minuteText
		u.OutputAudioTokens = u.OutputTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
