package bound

import (
	"bytes"
	"cmp"

	"github.com/tidwall/gjson"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
)

// MayReason reports whether a model may reason in this call, given the call's parameters.
func (c *Call) MayReason(use catalog.ReasoningUse) bool {
	switch use {
	case catalog.NeverReasons:
		return false
	case catalog.ReasonsOnRequest:
		return requestsReasoning(c)
	case catalog.AlwaysReasons:
		return true
	case catalog.ReasonsByDefault:
	}
	effort, thinking := effort(c.Params), c.Value("thinking")
	return effort != "none" && thinking.Get("type").String() != "disabled" && thinking.Type != gjson.False
}

// effort returns the reasoning effort of the call: "none" when reasoning is switched off, "" when
// the call does not set it.
func effort(p call.Params) string {
	return cmp.Or(p.Value("reasoning_effort").String(), p.Value("reasoning").Get("effort").String())
}

// requestsReasoning reports whether the call requests reasoning from a model that reasons on
// request. A body in a provider's own format is searched for the names of its settings. A body
// that is not parsed counts as such a request.
func requestsReasoning(c *Call) bool {
	if c.Doc == nil {
		return true
	}
	if c.Endpoint == llm.Proxy {
		body := c.Doc.Source()
		return bytes.Contains(body, []byte(`"thinking`)) || bytes.Contains(body, []byte(`"reasoning`))
	}
	thinking, reasoning := c.Value("thinking"), c.Value("reasoning")
	switch effort, kind := effort(c.Params), thinking.Get("type").String(); {
	case effort == "none", kind == "disabled":
		return false
	case effort != "", kind != "", thinking.Type == gjson.True, c.Value("output_config").Get("effort").Exists():
		return true
	}
	return reasoning.Get("max_tokens").Exists() || reasoning.Get("enabled").Type == gjson.True
}

// ShowsReasoning reports whether the events of a stream contain the model's reasoning.
func ShowsReasoning(events []byte) bool {
	for _, name := range [...]string{`"reasoning_content":"`, `"reasoning":"`, `"thinking_delta"`, `"response.reasoning_text.delta"`, "<think>"} {
		if bytes.Contains(events, []byte(name)) {
			return true
		}
	}
	return false
}
