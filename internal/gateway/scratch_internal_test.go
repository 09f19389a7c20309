package gateway

import (
	"net/http"
	"reflect"
	"testing"

	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// A room that is given back holds nothing of its request: no key, no text, no body.
func TestNothingIsLeftInARoom(t *testing.T) {
	t.Parallel()
	r := acquireScratch()
	r.exchange = exchange{scratch: r, id: "id", callerIdentity: callerIdentity{metadata: map[string]string{"a": "b"}}, walkState: walkState{attempts: 2}, sentResponse: sentResponse{refusal: errEmptyStream, headSent: true}}
	r.attempt = attempt{x: &r.exchange, resolvedTarget: resolvedTarget{model: "m"}, recording: recording{recorded: true}, delivery: delivery{committed: true}}
	r.attempt.log().Metadata = r.exchange.metadata
	r.subject = metering.Subject{RequestID: "id"}
	r.bounds = bound.Call{Model: "m"}
	r.account.SetMax(catalog.Limits{Input: 1}, 1)
	r.values["key"] = "sk-secret"
	lines := func() wire.Header {
		return append(make(wire.Header, 0, 9), wire.Field{Name: "authorization", Value: "sk-secret"})
	}
	r.sent, r.signed, r.clientHeader = lines(), lines()[:0], lines()
	r.plan.Target = "/?key=sk-secret"
	r.signing = sign.Request{Method: http.MethodPost, Header: &r.signed, Body: wire.Bytes([]byte("body"))}
	r.request = transport.Request{Target: "/?key=sk-secret", Header: r.signed, Body: r.signing.Body}
	visit := reflect.ValueOf(r.visit).Pointer()
	r.release()

	if !reflect.ValueOf(r.exchange).IsZero() || !reflect.ValueOf(r.attempt).IsZero() {
		t.Errorf("the exchange or its attempt is left: %+v %+v", r.exchange, r.attempt)
	}
	if !reflect.ValueOf(r.plan).IsZero() || !reflect.ValueOf(r.signing).IsZero() || !reflect.ValueOf(r.request).IsZero() || !reflect.ValueOf(r.subject).IsZero() || !reflect.ValueOf(r.bounds).IsZero() || r.account.MaxCostNano() != 0 || len(r.values) > 0 {
		t.Errorf("of the call is left: %+v %+v %+v %+v %v", r.signing, r.request, r.subject, r.bounds, r.values)
	}
	for _, h := range []wire.Header{r.sent, r.signed, r.clientHeader} {
		for _, f := range h[:cap(h)] {
			if len(h) > 0 || f != (wire.Field{}) {
				t.Errorf("a line is left: %q", f)
			}
		}
	}
	if reflect.ValueOf(r.visit).Pointer() != visit {
		t.Error("the room cannot be used again")
	}
}
