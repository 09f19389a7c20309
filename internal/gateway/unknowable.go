package gateway

import (
	"errors"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// unknowable reports whether a call that failed with f was sent and its usage cannot be known.
// This applies to a buffered response that was cut before its usage arrived, and to a cut stream
// of a model with hidden reasoning. Such a call is charged its maximum cost. A response that the
// provider did not begin, and a failure of the request's own body, do not count.
func (ac *accountant) unknowable(a *attempt, f *fault.Error) bool {
	switch {
	case f == nil, ofBody(f), errors.Is(f, errNotTaken), a.upstream >= 400, a.auxiliary, a.x.match.Endpoint == llm.Realtime:
		return false
	case f.Code == fault.ClientGone, f.Code == fault.UpstreamTimeout:
	case a.upstream >= 200 && f.Code == fault.UpstreamFailed:
	default:
		return false
	}
	if answersInEvents(a) {
		return ac.hidesReasoning(a)
	}
	return !isBilledByDuration(a) && (a.written == nil || !a.written.Usage.Reported)
}

// answersInEvents reports whether the response is a stream or, before it begins, is requested as
// one.
func answersInEvents(a *attempt) bool {
	if a.upstream == 0 {
		return a.wantsStream()
	}
	return eventStream(a.got) || a.textStream(a.got)
}

// isBilledByDuration reports whether a transcription is priced by the duration of its recording,
// whatever the response is.
func isBilledByDuration(a *attempt) bool {
	return bound.IsTranscription(a.x.match.Endpoint) && (a.money == nil || !a.money.Card().PricesAudioInputByToken())
}

// hidesReasoning reports whether a stream may cost more tokens than it contained, because the
// model reasons and shows none of it, or only a summary. A provider that reports reasoning tokens
// during the stream hides nothing.
func (ac *accountant) hidesReasoning(a *attempt) bool {
	if a.money == nil {
		return false
	}
	model := ac.meter.ContextLimits(a.money, a.bounds())
	if !a.bounds().MayReason(model.Reasoning) {
		return false
	}
	if a.written == nil {
		return true
	}
	r := a.written
	if r.Usage.Reported && r.Usage.ReasoningTokens > 0 {
		return false
	}
	return model.HidesReasoning || !bound.ShowsReasoning(r.Response.Plain(maxUsageBodyBytes))
}
