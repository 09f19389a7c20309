package conformance

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// The tokens of a raw body are those of the conversation in it, or close to them: bodies
// are read by other means, and spell tools in their own way.
func TestBodiesCountAsTheirCalls(t *testing.T) {
	t.Parallel()
	clients := map[llm.Endpoint]dialect.Client{}
	for _, d := range registry.List() {
		for ep, c := range d.Clients {
			if clients[ep] == nil {
				clients[ep] = c
			}
		}
	}
	counter, compared := tokens.New(), 0
	for _, list := range transcripts(t) {
		for _, tr := range list {
			ep := llm.Endpoint(tr.endpoint)
			if clients[ep] == nil || tr.special == "error" {
				continue
			}
			call, err := clients[ep].DecodeCall([]byte(tr.request.body))
			if err != nil {
				continue
			}
			compared++
			for _, model := range []string{"gpt-4o", "claude-sonnet-4-5"} {
				a, b := counter.Call(call, model).Tokens, counter.Request(ep, []byte(tr.request.body), model).Tokens
				if diff := max(a-b, b-a); diff > 8+a/10 {
					t.Errorf("%s, %s: %d as a call, %d as a body", tr.path, model, a, b)
				}
			}
			if maxInput := tokens.MaxRequestTokens(ep, []byte(tr.request.body), "gpt-4o"); maxInput < counter.Call(call, "gpt-4o").Tokens {
				t.Errorf("%s: the bound of the body, %d, is below the call", tr.path, maxInput)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d bodies were compared", compared)
	}
}
