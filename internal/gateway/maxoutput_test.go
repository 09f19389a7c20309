package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// However many answers a call asks for, in the words of its provider, none of them is more
// than was held for it.
func TestEveryAnswerIsHeld(t *testing.T) {
	t.Parallel()
	const legacy = 2000 // nano-dollars a token of gpt-3.5-turbo-instruct's answers
	for name, c := range map[string]struct {
		ask          string
		minResponses int64 // answers of 100 tokens
	}{
		"one":              {`"prompt":"a"`, 1},
		"several choices":  {`"prompt":"a","n":3`, 3},
		"a number as text": {`"prompt":"a","n":"3"`, 3},
		"several prompts":  {`"prompt":["a","b","c","d"]`, 4},
		"of each several":  {`"prompt":["a","b"],"n":2,"best_of":5`, 10},
		"tokens":           {`"prompt":[1,2,3]`, 1},
		"lists of tokens":  {`"prompt":[[1,2],[3],[4]]`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tokens := c.minResponses * 100
			r.up.Handle("/v1/completions", upstream.Always(upstream.JSON(200, json.RawMessage(fmt.Sprintf(`{"id":"c","object":"text_completion","choices":[{"index":0,"text":"x","finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":%d,"total_tokens":%d}}`, tokens, tokens)))))
			body := `{"model":"gpt-3.5-turbo-instruct","max_tokens":100,` + c.ask + `}`
			if a := r.call("POST", "/v1/completions", body, r.custom()...); a.StatusCode != 200 {
				t.Fatal(a.Text)
			}
			if s := r.journal.one(t).Spend; s.Cost != tokens*legacy || s.MaxCost < s.Cost || s.MaxCost > s.Cost+400*legacy {
				t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
			}
		})
	}
}

// Images are counted by the name under which their provider is told how many to make.
func TestEveryImageIsCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider, path, ask string
		count               int64
	}{
		"one":                        {"openai", "/images/generations", `{"model":"dall-e-3","prompt":"p"}`, 1},
		"n":                          {"openai", "/images/generations", `{"model":"dall-e-3","prompt":"p","n":3}`, 3},
		"a name of another provider": {"openai", "/images/generations", `{"model":"dall-e-3","prompt":"p","samples":9,"batch_size":9}`, 1},
		"siliconflow's own":          {"siliconflow", "/m/text-to-image", `{"model":"m","prompt":"p","batch_size":4}`, 4},
		"siliconflow's own and n":    {"siliconflow", "/m/text-to-image", `{"model":"m","prompt":"p","n":9,"batch_size":4}`, 4},
		"n at siliconflow":           {"siliconflow", "/m/text-to-image", `{"model":"m","prompt":"p","n":3}`, 3},
		"fireworks' own":             {"fireworks-ai", "/image_generation/m", `{"model":"m","prompt":"p","samples":4}`, 4},
		"fireworks' own and n":       {"fireworks-ai", "/image_generation/m", `{"model":"m","prompt":"p","samples":4,"n":2}`, 2},
		"segmind's own":              {"segmind", "/m", `{"model":"m","prompt":"p","samples":4}`, 4},
		"stability's own":            {"stability-ai", "/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image", `{"model":"stable-diffusion-xl-1024-v1-0","prompt":"p","samples":4}`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.path, upstream.Always(upstream.JSON(200, json.RawMessage(`{"created":1,"data":[{"b64_json":"QQ=="}],"images":[{"url":"https://e.com/1.png"}],"image":"QQ==","artifacts":[{"base64":"QQ=="}]}`))))
			r.call("POST", "/v1/images/generations", c.ask, "x-gateway-provider: "+c.provider, "authorization: Bearer sk-upstream", "x-gateway-custom-host: "+r.up.URL())
			seen, want := r.up.Seen(), fmt.Sprintf(`"count":%d}`, c.count)
			if len(seen) != 1 {
				t.Fatalf("%d calls", len(seen))
			}
			if s := r.journal.one(t).Spend; !strings.Contains(s.Basis, want) {
				t.Errorf("sent %s and counted %s", seen[0].Body, s.Basis)
			}
		})
	}
}
