package dataplane

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// unknowable reports whether a call that failed with f was sent and its usage cannot be known.
// This applies to a buffered response that was cut before its usage arrived, and to a cut stream
// of a model with hidden reasoning. Such a call is charged its maximum cost. A response that the
// provider did not begin, and a failure of the request's own body, do not count.
func (a *attempt) unknowable(f *fault.Error) bool {
	switch {
	case f == nil, ofBody(f), errors.Is(f, errNotTaken), a.upstream >= 400, a.auxiliary, a.x.match.Endpoint == llm.Realtime:
		return false
	case f.Code == fault.ClientGone, f.Code == fault.UpstreamTimeout:
	case a.upstream >= 200 && f.Code == fault.UpstreamFailed:
	default:
		return false
	}
	if a.answersInEvents() {
		return a.hidesReasoning()
	}
	return !a.writtenTokens() && (a.written == nil || !a.written.Usage.Reported)
}

// answersInEvents reports whether the response is a stream or, before it begins, is requested as
// one.
func (a *attempt) answersInEvents() bool {
	if a.upstream == 0 {
		return a.wantsStream()
	}
	return eventStream(a.got) || a.textStream(a.got)
}

// writtenTokens reports whether a transcription is priced by the duration of its recording,
// whatever the response is.
func (a *attempt) writtenTokens() bool {
	return transcriptionEndpoints[a.x.match.Endpoint] && (a.reservation == nil || !a.reservation.tariff.PricesAudioInputByToken())
}

// hidesReasoning reports whether a stream may cost more tokens than it contained, because the
// model reasons and shows none of it, or only a summary. A provider that reports reasoning tokens
// during the stream hides nothing.
func (a *attempt) hidesReasoning() bool {
	if a.reservation == nil {
		return false
	}
	model := a.x.g.reach(a)
	if !a.mayReason(model.Reasoning) {
		return false
	}
	if a.written == nil {
		return true
	}
	r := a.written
	if r.Usage.Reported && r.Usage.ReasoningTokens > 0 {
		return false
	}
	return model.HidesReasoning || !showsReasoning(r.Response.Plain(maxUsageBodyBytes))
}

// mayReason reports whether a model may reason in this call, given the call's parameters.
func (a *attempt) mayReason(use catalog.ReasoningUse) bool {
	switch use {
	case catalog.NeverReasons:
		return false
	case catalog.ReasonsOnRequest:
		return a.requestsReasoning()
	case catalog.AlwaysReasons:
		return true
	case catalog.ReasonsByDefault:
	}
	effort, thinking := a.effort(), a.param("thinking")
	return effort != "none" && thinking.Get("type").String() != "disabled" && thinking.Type != gjson.False
}

// effort returns the reasoning effort of the call: "none" when reasoning is switched off, "" when
// the call does not set it.
func (a *attempt) effort() string {
	return cmp.Or(a.param("reasoning_effort").String(), a.param("reasoning").Get("effort").String())
}

// requestsReasoning reports whether the call requests reasoning from a model that reasons on
// request. A body in a provider's own format is searched for the names of its settings. A body
// that is not parsed counts as such a request.
func (a *attempt) requestsReasoning() bool {
	if a.x.doc == nil {
		return true
	}
	if a.x.match.Endpoint == llm.Proxy {
		body := a.x.doc.Source()
		return bytes.Contains(body, []byte(`"thinking`)) || bytes.Contains(body, []byte(`"reasoning`))
	}
	thinking, reasoning := a.param("thinking"), a.param("reasoning")
	switch effort, kind := a.effort(), thinking.Get("type").String(); {
	case effort == "none", kind == "disabled":
		return false
	case effort != "", kind != "", thinking.Type == gjson.True, a.param("output_config").Get("effort").Exists():
		return true
	}
	return reasoning.Get("max_tokens").Exists() || reasoning.Get("enabled").Type == gjson.True
}

// showsReasoning reports whether the events of a stream contain the model's reasoning.
func showsReasoning(events []byte) bool {
	for _, name := range [...]string{`"reasoning_content":"`, `"reasoning":"`, `"thinking_delta"`, `"response.reasoning_text.delta"`, "<think>"} {
		if bytes.Contains(events, []byte(name)) {
			return true
		}
	}
	return false
}
