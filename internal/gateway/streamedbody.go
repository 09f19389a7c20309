package gateway

import (
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// readUnread leaves the body of a nitro call unparsed. The body is sent as it arrives, so it
// cannot be checked, changed or sent twice.
// Source: contract/dataplane.md 6.9.
func (b *bodyReader) readUnread(x *exchange) error {
	switch x.match.Endpoint {
	case llm.ChatComplete, llm.Embed, llm.Messages, llm.CreateModelResponse:
	default:
		return nitroRefused("only chat, embeddings, messages and responses support unparsed bodies")
	}
	if x.req.Body == nil {
		return nil
	}
	x.bodyNotParsed = true
	return b.passBodyThrough(x)
}

// checkUnread refuses a config that needs the body: several targets, retries, parameters,
// guardrails.
func checkUnread(x *exchange) error {
	if x.ctl.Nitro != "true" || x.config == nil {
		return nil
	}
	t := x.config.Root.Target
	switch {
	case t == nil:
		return nitroRefused("the config must have a single target")
	case t.Retry != nil && t.Retry.Attempts > 0:
		return nitroRefused("a body that is not parsed cannot be sent again; remove retry")
	case len(t.Override)+len(t.Default)+len(t.Drop) > 0:
		return nitroRefused("a body that is not parsed cannot be changed; remove override_params, default_params and drop_params")
	case len(t.Before)+len(t.After) > 0:
		return nitroRefused("a body that is not parsed cannot be checked; remove the guardrails")
	}
	return nil
}

func nitroRefused(why string) error {
	return fault.New(fault.InvalidRequest, "x-gateway-nitro-mode: "+why).WithParam("x-gateway-nitro-mode")
}
