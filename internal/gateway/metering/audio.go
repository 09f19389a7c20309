package metering

import (
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
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

// estimateTranscription estimates the usage of a transcription if the provider does not report
// it; plain-text transcriptions never do. It counts the speech by its duration and the text of
// the response, both limited by the reserved maximum.
func estimateTranscription(counter *tokens.Counter, a *Account, c *bound.Call, r *Response, hasResponse bool) (u llm.Usage) {
	var textTokens, milli int64
	if c.Segment {
		textTokens, milli = counter.Text(string(r.Transcript), c.PriceName()).Tokens, c.SegmentMilli
	} else {
		if hasResponse {
			textTokens = countOutput(counter, r, c.Endpoint, c.PriceName())
		}
		milli = min(max(c.RecordingMilli(), textTokens*1000/maxTextTokensPerSecond, tokens.SubtitlesMilli(r.plain())), a.max.AudioMilli)
	}
	if u.AudioSeconds = float64(milli) / 1000; !a.models.Card.PricesAudioInputByToken() {
		return u
	}
	u.InputTokens = min(milli*speechTokensPerSecond/1000, a.max.Input)
	u.InputAudioTokens = u.InputTokens
	u.OutputTokens = min(textTokens, a.max.Output)
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// plain returns the response body, as far as it is in memory.
func (r *Response) plain() []byte {
	if len(r.Body) > 0 {
		return r.Body
	}
	return r.Stored.Plain(maxPlainBytes)
}

// estimateSpeech estimates the usage of generated speech that is billed by tokens, if the
// provider does not report it. It counts the tokens of the text and, if there is a response,
// those of its spoken duration.
func estimateSpeech(counter *tokens.Counter, a *Account, c *bound.Call, hasResponse bool) (u llm.Usage) {
	text, model := c.Text("input"), c.PriceName()
	u.InputTokens = min(counter.Text(text, model).Tokens+counter.Text(c.Text("instructions"), model).Tokens, a.max.Input)
	if hasResponse {
		u.OutputTokens = c.AdjustForSpeed(int64(len(text)) * madeTokens / minuteText)
		u.OutputAudioTokens = u.OutputTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
