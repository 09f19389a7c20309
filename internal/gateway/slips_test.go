package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// Whatever numbers a provider gives, no bill is below nothing, every record can be written,
// and limits are settled with no more than a call can count.
func TestSlipsOfProvidersAreBilled(t *testing.T) {
	t.Parallel()
	const hugeCount = `1125899906842624`
	openai := func(usage string) string {
		return `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a"}}],` + usage + `}`
	}
	gemini := func(usage string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":` + usage + `}`
	}
	many := strings.Repeat(`{"modality":"AUDIO","tokenCount":`+hugeCount+`},`, 9000) + `{"modality":"AUDIO","tokenCount":1}`
	for name, c := range map[string]struct{ path, body, response string }{
		"below nothing":       {"/v1/chat/completions", hello, openai(`"usage":{"prompt_tokens":-7,"completion_tokens":-9e300,"total_tokens":-1}`)},
		"no numbers":          {"/v1/chat/completions", hello, openai(`"usage":{"prompt_tokens":1e999,"completion_tokens":"NaN","cost":{"total_cost":1e308}}`)},
		"parts of it":         {"/v1/chat/completions", hello, openai(`"usage":{"prompt_tokens":1,"completion_tokens":0.5,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":` + hugeCount + `},"completion_tokens_details":{"reasoning_tokens":` + hugeCount + `}}`)},
		"too many":            {"/v1/chat/completions", hello, openai(`"usage":{"prompt_tokens":` + hugeCount + `,"completion_tokens":` + hugeCount + `}`)},
		"searches":            {"/v1/chat/completions", hello, openai(`"usage":{"prompt_tokens":1,"server_tool_use":{` + strings.Repeat(`"web_search_requests":`+hugeCount+`,`, 9000) + `"x_search_calls":1}}`)},
		"a time that is none": {"/v1/audio/transcriptions", "", `{"text":"a","duration":"NaN"}`},
		"an endless one":      {"/v1/audio/transcriptions", "", `{"text":"a","duration":"+Inf","usage":{"seconds":"-infinity"}}`},
		"a long one":          {"/v1/audio/transcriptions", "", `{"text":"a","duration":"1e15"}`},
		"a relayed one":       {"/v1/unheard/of", hello, openai(`"usage":{"prompt_tokens":NaN,"seconds":NaN}`)},
		"twice":               {"gemini", hello, gemini(`{"promptTokenCount":9223372036854775807,"toolUsePromptTokenCount":9223372036854775807}`)},
		"of a kind":           {"gemini", hello, gemini(`{"promptTokenCount":7,"candidatesTokenCount":12.0,"candidatesTokensDetails":[` + many + `]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1e6), budget(quota.TokenCount, 1e12)}})
			headers := r.custom()
			if c.path == "gemini" {
				c.path, c.body = "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "gemini-2.5-flash", 1)
				headers = []string{"x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL()}
				r.up.Handle("/v1beta/models/gemini-2.5-flash:generateContent", upstream.Always(upstream.JSON(200, json.RawMessage(c.response))))
			}
			if c.body == "" {
				body, kind := form(t, "model", "whisper-1", "@file", "a.mp3:aaaa")
				c.body, headers = body, r.custom("content-type: "+kind)
			}
			r.up.Handle(c.path, func(upstream.Seen) *upstream.Response {
				a := upstream.Text(200, "application/json", c.response)
				return &a
			})
			if a := r.call("POST", c.path, c.body, headers...); a.StatusCode != 200 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			row := r.journal.one(t)
			if b, err := json.Marshal(row.Usage); err != nil || strings.Contains(string(b), ":-") || row.Spend.Cost < 0 {
				t.Errorf("%s (%v), %+v", b, err, row.Spend)
			}
			for i := range plan.Budgets {
				if s := r.limiter.State(time.Now(), &plan.Budgets[i]); s.Held != 0 || s.Used < 0 || s.Used > quota.MaxCallUnits || plan.Budgets[i].Measure == quota.Cost && s.Used != quota.Counted(row.Spend.Cost) {
					t.Errorf("%s: %+v", name, s)
				}
			}
		})
	}
}

// The sum of a conversation's responses overflows as little as each of them.
func TestSlipsAddUp(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	huge := `{"type":"response.done","response":{"usage":{"input_tokens":1125899906842624,"output_tokens":1125899906842624,"input_token_details":{"audio_tokens":1125899906842624}}}}`
	conn := r.converse(t, ctx, talker(t, nil, []string{created, huge}, []string{created, huge}, []string{created, huge}))
	for range 3 {
		sendEvents(t, ctx, conn, asking)
		readUntil(t, ctx, conn, "response.done")
	}
	_ = conn.CloseNow()
	if row := r.journal.some(t, 1)[0]; row.Spend.Cost <= 0 || strings.Contains(row.Spend.Terms, ":-") {
		t.Errorf("%+v", row.Spend)
	}
}
