package dataplane

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/fault"
	"sluice/internal/llm"
)

// unknowable reports whether a call that ended with f was sent, and nobody can say what it came
// to: a whole answer that was given up or cut before its usage came, or such a stream of a model
// that reasons without showing all of it. It counts at its maximum cost. An answer that the
// provider did not begin, or that failed with the request's own body, is no such call.
func (a *attempt) unknowable(f *fault.Error) bool {
	switch {
	case f == nil, ofBody(f), errors.Is(f, errNotTaken), a.upstream >= 400, a.beside, a.x.match.Endpoint == llm.Realtime:
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
	return heard[a.x.match.Endpoint] && (a.stake == nil || !a.stake.tariff.HeardByTokens())
}

// hidesReasoning reports whether the tokens that a stream cost may be more than those that came,
// because the model reasons and shows none of it, or a summary. A provider that reports what it
// reasoned while it streams hides nothing.
func (a *attempt) hidesReasoning() bool {
	if a.stake == nil || !a.x.g.reach(a).Reasons || !a.reasons() {
		return false
	}
	if a.written == nil {
		return true
	}
	r := a.written
	if r.Usage.Reported && r.Usage.ReasoningTokens > 0 {
		return false
	}
	return summarises(a.priceName()) || !showsReasoning(r.Response.Plain(usageMost))
}

// reasons reports whether the model may reason for this call: the caller can switch it off, and
// Claude does it only when it is asked to.
func (a *attempt) reasons() bool {
	effort := a.param("reasoning_effort").String() + a.param("reasoning").Get("effort").String()
	thinking := a.param("thinking")
	switch kind := thinking.Get("type").String(); {
	case effort == "none", kind == "disabled", thinking.Type == gjson.False:
		return false
	case strings.Contains(a.priceName(), "claude"):
		return effort != "" || kind != "" || a.param("output_config").Get("effort").Exists()
	}
	return true
}

// summarises reports whether the maker of a model shows a summary of the reasoning at most.
// Source: https://platform.openai.com/docs/guides/reasoning, https://ai.google.dev/gemini-api/docs/thinking,
// https://docs.claude.com/en/docs/build-with-claude/extended-thinking, https://docs.x.ai/docs/guides/reasoning,
// read 2026-11.
func summarises(model string) bool {
	for _, word := range [...]string{"claude", "gemini", "grok", "gpt-5", "gpt-6", "codex", "computer-use"} {
		if strings.Contains(model, word) {
			return true
		}
	}
	_, name, named := strings.Cut(model, "/")
	if !named {
		name = model
	}
	return len(name) > 1 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9' // o1, o3-mini, o4-mini
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
