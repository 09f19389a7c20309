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

// unknowable reports whether a call that ended with f was sent, and nobody can say what it came
// to: a whole answer that was given up or cut before its usage came, or such a stream of a model
// that reasons without showing all of it. It counts at its maximum cost. An answer that the
// provider did not begin, or that failed with the request's own body, is no such call.
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

// answersInEvents reports whether the answer is a stream, or is to be one before it begins.
func (a *attempt) answersInEvents() bool {
	if a.upstream == 0 {
		return a.wantsStream()
	}
	return eventStream(a.got) || a.textStream(a.got)
}

// writtenTokens reports whether a call costs what its recording lasts, whatever is answered.
func (a *attempt) writtenTokens() bool {
	return transcriptionEndpoints[a.x.match.Endpoint] && (a.reservation == nil || !a.reservation.tariff.PricesAudioInputByToken())
}

// hidesReasoning reports whether the tokens that a stream cost may be more than those that came,
// because the model reasons and shows none of it, or a summary. A provider that reports what it
// reasoned while it streams hides nothing.
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

// mayReason reports whether a model may reason for this call, as the call asks for it.
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

// effort is how much the caller lets the model reason: "none" where it is switched off, "" where
// the call does not contain it.
func (a *attempt) effort() string {
	return cmp.Or(a.param("reasoning_effort").String(), a.param("reasoning").Get("effort").String())
}

// requestsReasoning reports whether the call asks a model for reasoning that does it on request.
// A body in a format of a provider is searched for the names of its settings, and one that is not
// read may contain them.
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

// showsReasoning reports whether the events of a stream bring what the model reasons.
func showsReasoning(events []byte) bool {
	for _, name := range [...]string{`"reasoning_content":"`, `"reasoning":"`, `"thinking_delta"`, `"response.reasoning_text.delta"`, "<think>"} {
		if bytes.Contains(events, []byte(name)) {
			return true
		}
	}
	return false
}
