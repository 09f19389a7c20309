package gateway

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/tokens"
	"sluice/internal/provider"
)

// counts maps the endpoints that count the tokens of a conversation to the endpoint whose format
// they use.
var counts = map[llm.Endpoint]llm.Endpoint{
	llm.MessagesCountTokens:      llm.Messages,
	llm.CountResponseInputTokens: llm.CreateModelResponse,
}

// planEstimate plans a token count for a provider without a count endpoint: the gateway estimates
// the tokens of the provider's conversation. If the provider does not support conversations
// either, the call is rejected with the error lacks. Its status is 400, because Anthropic's
// clients retry after 501.
// Source: contract/provider-transforms.md 9.5.
func (c *callPlanner) planEstimate(a *attempt, call provider.Call, lacks error) (*provider.Plan, error) {
	surface := counts[call.Endpoint]
	for _, ep := range slices.Concat([]llm.Endpoint{surface}, instead[surface]) {
		call.Endpoint, call.Path = ep, ""
		p, err := c.planFor(a, call, surface)
		if err == nil {
			a.speech, a.estimated = translation{}, true
			return p, nil
		}
		if !fault.Has(err, fault.NotSupported) {
			return nil, err
		}
	}
	f := *fault.From(lacks)
	f.Status = 400
	return nil, &f
}

// estimator responds to a request for a token count with the gateway's own count.
type estimator struct {
	dialects dialectSet
	counter  *tokens.Counter
	// bodyLogBytes is the maximum number of bytes of a body in the record.
	bodyLogBytes int
	dialect      *dialect.Dialect
	translator   *translator
	states       *responsestore.Store
}

// estimate responds with the gateway's own token count of the conversation. Nothing is sent
// upstream.
func (e *estimator) estimate(ctx context.Context, a *attempt) error {
	body, err := e.counted(ctx, a)
	if err != nil {
		return err
	}
	call, err := e.dialects.clients[counts[a.x.match.Endpoint]].DecodeCall(body)
	if err != nil {
		return err
	}
	model := cmp.Or(a.plan.Underlying, a.plan.Model, call.Model)
	if model == "" {
		return fault.New(fault.InvalidParameter, "model is required; send it in the request body").WithParam("model")
	}
	a.body, a.status = wire.Bytes(body), 200
	a.response.body = countResponse(a, e.counter.Call(call, model).Tokens)
	a.response.header = wire.Header{{Name: "content-type", Value: "application/json"}}
	a.log().BytesOut = int64(len(a.response.body))
	a.log().Response = record.NewBody("application/json", a.response.body, a.log().BytesOut, e.bodyLogBytes)
	return nil
}

// counted returns the caller's body after the changes of the target's config. For the Responses
// API it contains the earlier turns.
func (e *estimator) counted(ctx context.Context, a *attempt) ([]byte, error) {
	if a.x.doc == nil {
		return nil, fault.New(fault.InvalidParameter, "the body must be a JSON object that contains a conversation")
	}
	s := a.shaping()
	if err := e.dialect.Check(a.x.match.Endpoint, a.x.doc, s); err != nil {
		return nil, err
	}
	body := e.translator.requestedCall(a, s)
	if a.x.match.Endpoint != llm.CountResponseInputTokens {
		return body, nil
	}
	c, err := e.states.Begin(ctx, a.x.key.Principal.WorkspaceID, body)
	if err != nil {
		return nil, err
	}
	return c.Body(), nil
}

// countResponse returns the response in the format of the endpoint.
func countResponse(a *attempt, n int64) []byte {
	b := []byte(`{`)
	if a.x.match.Endpoint == llm.CountResponseInputTokens {
		b = append(b, `"object":"response.input_tokens",`...)
	}
	b = strconv.AppendInt(append(b, `"input_tokens":`...), n, 10)
	if !a.spec.OmitProvider {
		b = append(append(b, `,"provider":`...), jsonedit.Quote(a.spec.ID)...)
	}
	return append(b, '}')
}
