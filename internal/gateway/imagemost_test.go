package gateway_test

import (
	"encoding/json"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// A picture holds what its model can draw at most, and not the longest answer of any model.
func TestPicturesHoldWhatTheirModelDraws(t *testing.T) {
	t.Parallel()
	for body, minTokens := range map[string]int64{
		`{"model":"gpt-image-1","prompt":"x"}`:                                  6240,
		`{"model":"gpt-image-1-mini","prompt":"x","n":3}`:                       3 * 6240,
		`{"model":"gpt-image-1","prompt":"x","partial_images":3,"stream":true}`: 6540,
	} {
		if got := tokensHeld(t, "openai", "/v1/images/generations", body); got < minTokens || got > minTokens+1500 {
			t.Errorf("%s: %d tokens are held, want %d", body, got, minTokens)
		}
	}
	if got := tokensHeld(t, "openai", "/v1/images/generations", `{"model":"gpt-image-9","prompt":"x"}`); got < 100_000 {
		t.Errorf("an unknown model holds %d", got)
	}
}

// A call that names no model costs what OpenAI's own choice costs, where that is known.
func TestCallsWithoutAModelHaveThePriceOfOpenAIsChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, body string
		status     int
		costs      bool
	}{
		{"/v1/moderations", `{"input":"x"}`, 200, false},
		{"/v1/images/generations", `{"prompt":"x","n":2}`, 200, true},
		{"/v1/images/generations", `{"prompt":"x","background":"transparent"}`, 412, false},
	} {
		r := newRig(t)
		r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
		r.up.Handle(c.path, upstream.Always(upstream.JSON(200, json.RawMessage(`{"created":1,"id":"m","data":[{"url":"https://x.test/a"},{"url":"https://x.test/b"}],"results":[]}`))))
		a := r.call("POST", c.path, c.body, "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL()+"/v1")
		if a.StatusCode != c.status {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.StatusCode, a.Text)
			continue
		}
		if s := r.journal.one(t).Spend; c.status == 200 && (s.Cost > 0) != c.costs || s.Cost > s.MaxCost {
			t.Errorf("%s %s: %+v", c.path, c.body, s)
		}
	}
}
