package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A call costs what the way costs in which it was served: what the provider says counts,
// then what it was asked for, if that was sent. However that is, the reservation covers it.
func TestTierSetsThePrice(t *testing.T) {
	t.Parallel()
	const (
		fast     = `{"model":"claude-opus-4-6","max_tokens":1000,"speed":"fast","messages":[{"role":"user","content":"Hello"}]}`
		fastTier = `{"model":"claude-opus-4-6","max_tokens":1000,"service_tier":"fast","messages":[{"role":"user","content":"Hello"}]}`
		claude   = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":8,"output_tokens":1000,"service_tier":"standard","speed":"%s"}}`
	)
	chat := func(model, tier string) string {
		return fmt.Sprintf(`{"model":%q,"service_tier":%q,"max_tokens":2000,"messages":[{"role":"user","content":%q}]}`, model, tier, strings.Repeat("word ", 1000))
	}
	openai := func(tier string) string {
		return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"gpt-5.4","service_tier":%q,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":1000,"total_tokens":2000}}`, tier)
	}
	for name, c := range map[string]struct {
		speaker             speaker
		path, body          string
		answers, response   string
		inRate, outRate     int64 // nano-dollars a token
		inTokens, outTokens int64
	}{
		"flex of Gemini": {speaker{id: "google"}, "/v1/chat/completions", chat("gemini-3.5-flash", "flex"), "/v1beta/models/gemini-3.5-flash:generateContent",
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":1000,"totalTokenCount":2000}}`, 750, 4500, 1000, 1000},
		"flex of Gemini, not given": {speaker{id: "google"}, "/v1/chat/completions", chat("gemini-3.5-flash", "flex"), "/v1beta/models/gemini-3.5-flash:generateContent",
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":1000,"totalTokenCount":2000,"serviceTier":"standard"}}`, 1500, 9000, 1000, 1000},
		"fast messages":            {speaker{id: "anthropic", base: "/v1"}, "/v1/messages", fast, "/v1/messages", fmt.Sprintf(claude, "fast"), 30_000, 150_000, 8, 1000},
		"a fast chat":              {speaker{id: "anthropic", base: "/v1"}, "/v1/chat/completions", fastTier, "/v1/messages", fmt.Sprintf(claude, "fast"), 30_000, 150_000, 8, 1000},
		"fast, and served as ever": {speaker{id: "anthropic", base: "/v1"}, "/v1/messages", fast, "/v1/messages", fmt.Sprintf(claude, "standard"), 5_000, 25_000, 8, 1000},
		"priority":                 {speaker{id: "openai", base: "/v1"}, "/v1/chat/completions", chat("gpt-5.4", "priority"), "/v1/chat/completions", openai("priority"), 5_000, 30_000, 1000, 1000},
		"fast of OpenAI":           {speaker{id: "openai", base: "/v1"}, "/v1/chat/completions", chat("gpt-5.4", "fast"), "/v1/chat/completions", openai("priority"), 5_000, 30_000, 1000, 1000},
		"fast, without a word":     {speaker{id: "openai", base: "/v1"}, "/v1/chat/completions", chat("gpt-5.4", "fast"), "/v1/chat/completions", openai(""), 5_000, 30_000, 1000, 1000},
		"priority, not given":      {speaker{id: "openai", base: "/v1"}, "/v1/chat/completions", chat("gpt-5.4", "priority"), "/v1/chat/completions", openai("default"), 2_500, 15_000, 1000, 1000},
		"flex":                     {speaker{id: "openai", base: "/v1"}, "/v1/chat/completions", chat("gpt-5.4", "flex"), "/v1/chat/completions", openai("flex"), 1_250, 7_500, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.answers, upstream.Always(upstream.JSON(200, []byte(c.response))))
			if a := r.call("POST", c.path, c.body, r.as(c.speaker)...); a.StatusCode != 200 {
				t.Fatal(a.StatusCode, a.Text)
			}
			s := r.journal.one(t).Spend
			if want := c.inTokens*c.inRate + c.outTokens*c.outRate; s.Cost != want {
				t.Errorf("a cost of %d, want %d; %s %s", s.Cost, want, s.Basis, s.Terms)
			}
			if s.Cost > s.MaxCost {
				t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
			}
		})
	}
}

// A call is held at the dearest tier in which its provider may execute it, and costs what the
// tier costs that the provider names.
func TestEveryTierThatAProviderMayChooseIsHeld(t *testing.T) {
	t.Parallel()
	const standard, priority, flex = 15_000, 30_000, 7_500 // nano-dollars a token of gpt-5.4's answers
	const chat, messages = "/v1/chat/completions", "/v1/messages"
	for name, c := range map[string]struct {
		provider, path, tier, served string
		held, cost                   int64
	}{
		"none":                     {"openai", chat, ``, "default", priority, standard},
		"none, and priority":       {"openai", chat, ``, "priority", priority, priority},
		"auto":                     {"openai", chat, `"service_tier":"auto",`, "priority", priority, priority},
		"null":                     {"openai", chat, `"service_tier":null,`, "priority", priority, priority},
		"none, and not named":      {"openai", chat, ``, "", priority, standard},
		"default":                  {"openai", chat, `"service_tier":"default",`, "default", standard, standard},
		"flex":                     {"openai", chat, `"service_tier":"flex",`, "flex", standard, flex},
		"priority":                 {"openai", chat, `"service_tier":"priority",`, "priority", priority, priority},
		"of messages, not carried": {"openai", messages, `"service_tier":"standard_only",`, "priority", priority, priority},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(chat, upstream.Always(upstream.JSON(200, fmt.Appendf(nil, `{"id":"c","object":"chat.completion","model":"gpt-5.4","service_tier":%q,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":1000,"total_tokens":1000}}`, c.served))))
			body := `{` + c.tier + `"model":"gpt-5.4","max_tokens":1000,"messages":[{"role":"user","content":"x"}]}`
			if a := r.call("POST", c.path, body, r.as(speaker{id: c.provider, base: "/v1"})...); a.StatusCode != 200 {
				t.Fatal(a.StatusCode, a.Text)
			}
			s := r.journal.one(t).Spend
			if s.Cost != 1000*c.cost || s.MaxCost < 1000*c.held || s.MaxCost > 1150*c.held {
				t.Errorf("a cost of %d where %d were reserved, want %d and %d", s.Cost, s.MaxCost, 1000*c.cost, 1000*c.held)
			}
		})
	}
}

// The tier counts that a call asks for on a route of its provider's own.
func TestTierOfAProvidersOwnRouteIsHeld(t *testing.T) {
	t.Parallel()
	const path = "/v1beta/models/gemini-3.5-flash:generateContent"
	for _, tier := range []string{"priority", "SERVICE_TIER_PRIORITY"} {
		r := newRig(t)
		r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(`{"candidates":[],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":1000,"totalTokenCount":1000,"serviceTier":"`+tier+`"}}`))))
		a := r.call("POST", path, `{"contents":[],"serviceTier":"`+tier+`","generationConfig":{"maxOutputTokens":1000}}`, "x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())
		if s := r.journal.one(t).Spend; a.StatusCode != 200 || s.Cost != 1000*9000*18/10 || s.MaxCost < s.Cost {
			t.Errorf("%s: %d: a cost of %d where %d were reserved", tier, a.StatusCode, s.Cost, s.MaxCost)
		}
	}
}
