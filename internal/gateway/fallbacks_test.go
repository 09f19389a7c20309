package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// A target that is fallen back to is held for by its own price, and not sent to when it
// does not fit.
func TestDearerTargetIsHeldFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.0005)}})
	r.up.Handle("/v1/chat/completions", upstream.InTurn(upstream.OpenAIError(503, "server_error", "", "later")))
	a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+r.targets("", "gpt-4o-mini", "gpt-4o"))
	if a.StatusCode != 412 || len(r.up.Seen()) != 1 {
		t.Errorf("%d after %d calls: %s", a.StatusCode, len(r.up.Seen()), a.Text)
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Used != 0 || s.Held != 0 {
		t.Errorf("%+v", s)
	}
}

// fallbackBody is a call that names models to fall back to.
func fallbackBody(model, list string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":100,%s,"messages":[{"role":"user","content":"Hello there"}]}`, model, list)
}

// Of models that a provider takes by itself the dearest is held for, in any of the places
// where they are named.
func TestDearestModelIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.0005)}})
	for list, status := range map[string]int{
		`"models":["gpt-4o-mini"]`:                                 200,
		`"models":["no-such-model"]`:                               412, // it has no price
		`"models":["gpt-4o-mini","gpt-4o"]`:                        412,
		`"fallbacks":[{"model":"gpt-4o-mini"},{"model":"gpt-4o"}]`: 412,
		`"fallbacks":[{"model":"gpt-4o-mini","max_tokens":9000}]`:  412,
		`"fallbacks":"default"`:                                    200,
	} {
		if a := r.call("POST", "/v1/chat/completions", fallbackBody("gpt-4o-mini", list), r.custom()...); a.StatusCode != status {
			t.Errorf("%s: %d %s", list, a.StatusCode, a.Text)
		}
	}
	cfg := fmt.Sprintf(`{"provider":"openai","api_key":"k","custom_host":"%s/v1","override_params":{"models":["gpt-4o"]}}`, r.up.URL())
	if a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+cfg); a.StatusCode != 412 {
		t.Errorf("set by a config: %d %s", a.StatusCode, a.Text)
	}
}

// A call is billed for the model that answered it, where it was left to the provider.
func TestAnsweringModelIsBilled(t *testing.T) {
	t.Parallel()
	const dear = 20*2500 + 48*10000 // gpt-4o
	const plain = 20*miniInput + 48*miniOutput
	for _, c := range []struct {
		requested, list, answered string
		cost                      int64
		basis                     string
	}{
		{"gpt-4o-mini", `"models":["gpt-4o"]`, "gpt-4o-2024-11-20", dear, "gpt-4o"},
		{"gpt-4o-mini", `"models":["gpt-4o"]`, "gpt-4o-mini-2024-07-18", plain, ""},
		{"gpt-4o", `"models":["gpt-4o-mini"]`, "gpt-4o-mini", plain, "gpt-4o-mini"},
		{"gpt-4o-mini", `"fallbacks":"default"`, "gpt-4o", dear, "gpt-4o"},
		{"gpt-4o-mini", `"models":["gpt-4o"]`, "a-model-of-no-list", plain, ""},
		{"gpt-4o-mini", `"temperature":1`, "gpt-4o", plain, ""}, // which nobody left to the provider
	} {
		r := newRig(t)
		responseBody := strings.Replace(`{"id":"c","object":"chat.completion","model":"M","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":48,"total_tokens":68}}`, "M", c.answered, 1)
		r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(responseBody))))
		if a := r.call("POST", "/v1/chat/completions", fallbackBody(c.requested, c.list), r.custom()...); a.StatusCode != 200 {
			t.Fatal(a.Text)
		}
		row := r.journal.one(t)
		var basis struct{ Model string }
		if row.Spend.Basis != "" {
			if err := json.Unmarshal([]byte(row.Spend.Basis), &basis); err != nil {
				t.Fatal(err)
			}
		}
		if row.Spend.Cost != c.cost || basis.Model != c.basis || row.Spend.Cost > row.Spend.MaxCost && !strings.Contains(c.list, "default") {
			t.Errorf("%+v: a cost of %d of at most %d for %q", c, row.Spend.Cost, row.Spend.MaxCost, basis.Model)
		}
		if lines := r.journal.ledger(); len(lines) != 2 || lines[1].State != ledger.Settled || lines[1].Amount != c.cost {
			t.Errorf("%+v: %+v", c, lines)
		}
	}
}

// A picture is held for as what it comes to with the model that counts most for it.
func TestPicturesOfFallbacksAreHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(36835+30, 10))) // as gpt-4o-mini counts it: six squares
	body := `{"model":"gpt-4o","max_tokens":10,"models":["gpt-4o-mini"],"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]}`
	if a := r.call("POST", "/v1/chat/completions", body, r.custom()...); a.StatusCode != 200 {
		t.Fatal(a.Text)
	}
	if s := r.journal.one(t).Spend; s.Cost != 36865*miniInput+10*miniOutput || s.Cost > s.MaxCost {
		t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
	}
}

// A list that no provider takes is refused, before each of its models is looked for.
func TestEndlessFallbacksAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for list, status := range map[string]int{
		`"models":[` + strings.Repeat(`"m",`, 99) + `"m"]`:                                         200,
		`"models":[` + strings.Repeat(`"m",`, 100) + `"m"]`:                                        400,
		`"models":["m"],"fallbacks":[{` + strings.Repeat(`"model":"m",`, 100) + `"max_tokens":1}]`: 400,
	} {
		r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(1, 1)))
		if a := r.call("POST", "/v1/chat/completions", fallbackBody("gpt-4o-mini", list), r.custom()...); a.StatusCode != status || status == 400 && !strings.Contains(a.Text, "100 fallback models") {
			t.Errorf("%.60s: %d %s", list, a.StatusCode, a.Text)
		}
	}
}
