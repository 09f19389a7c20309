package metering

import (
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// Response is the response to a call as far as its charge depends on it. It refers to the memory
// of the request.
type Response struct {
	Usage      llm.Usage    // reported by the provider; not Reported if it reported none
	Model      string       // that the response names; empty if it names none
	Status     int          // as the caller gets it
	Started    time.Time    // of the attempt: prices may depend on the time of day
	Body       []byte       // the complete body, if it is in memory
	BodyEvents bool         // Body is an event stream
	Stored     *record.Body // the stored part of a body that is not in memory; never nil
	Events     bool         // Stored is an event stream
	Transcript []byte       // of the part of a conversation that the call transcribes
	Uploaded   int64        // bytes read so far from a body that is not parsed
}

// unreadBytes is the number of bytes that count as one token in a body that is not parsed, as in
// typical text.
const unreadBytes = 4

// unstoredBytes is the number of bytes that count as one token in a response of which nothing is
// stored. A stream event is larger and contains one token.
const unstoredBytes = 64

// maxPlainBytes is the maximum number of bytes of an encoded response that are decoded to find its
// usage.
const maxPlainBytes = 8 << 20

// estimate counts the usage of a call that the provider did not report completely. estimated is
// false if the call is billed as reported, because there is nothing that the gateway can count.
func (m *Meter) estimate(a *Account, c *bound.Call, how Outcome, r *Response, reported llm.Usage) (u llm.Usage, estimated bool) {
	hasResponse := how != Abandoned
	switch {
	case !reported.Reported && bound.IsTranscription(c.Endpoint):
		return estimateTranscription(m.Counter, a, c, r, hasResponse), true
	case !reported.Reported && c.Endpoint == llm.CreateSpeech && a.models.Card.PricesSpeechByToken():
		return estimateSpeech(m.Counter, a, c, hasResponse), true
	case how == Broken:
		return estimateText(m.Counter, a, c, r, reported, true), true
	case !reported.Reported && c.CountableEndpoint(r.Status, r.BodyEvents) != "":
		return estimateText(m.Counter, a, c, r, reported, hasResponse), true
	}
	return llm.Usage{}, false
}

// estimateText returns u with the counts that the provider did not report, counted here. For a
// stream that ended early the larger output count is used, because a provider that reports counts
// while it streams may not have reported the last ones.
func estimateText(counter *tokens.Counter, a *Account, c *bound.Call, r *Response, u llm.Usage, hasResponse bool) llm.Usage {
	ep, model := c.CountableEndpoint(r.Status, r.BodyEvents), c.PriceName()
	switch {
	case ep == "" || c.Doc == nil && !c.Unread:
		return u
	case u.InputTokens == 0 && c.Unread:
		u.InputTokens = r.Uploaded / unreadBytes
	case u.InputTokens == 0:
		u.InputTokens = counter.Request(ep, c.FullBody(), model).Tokens
	}
	if hasResponse {
		countedTokens := countOutput(counter, r, ep, model)
		if maximum := a.max.Output; maximum > 0 { // an estimate does not exceed the reserved output
			countedTokens = min(countedTokens, maximum)
		}
		u.OutputTokens = max(u.OutputTokens, countedTokens)
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// countOutput counts the tokens of the response: of the complete body that the caller gets, or of
// the part that is stored. If only a part is stored, the count is scaled up to the full size.
func countOutput(counter *tokens.Counter, r *Response, ep llm.Endpoint, model string) int64 {
	if len(r.Body) > 0 {
		if r.BodyEvents { // of a response that was buffered
			return counter.Text(tokens.EventText(r.Body), model).Tokens
		}
		return counter.ResponseBody(ep, r.Body, model).Tokens
	}
	if len(r.Stored.Bytes) == 0 {
		return r.Stored.Size / unstoredBytes
	}
	var n int64
	if b := r.Stored.Plain(maxPlainBytes); r.Events {
		n = counter.Text(tokens.EventText(b), model).Tokens
	} else {
		n = counter.ResponseBody(ep, b, model).Tokens
	}
	if storedBytes := int64(len(r.Stored.Bytes)); r.Stored.Size > storedBytes {
		n = int64(float64(n) * float64(r.Stored.Size) / float64(storedBytes))
	}
	return n
}
