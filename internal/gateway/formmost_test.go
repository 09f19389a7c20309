package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// An edit of a picture costs by what its model looks at and draws, however few bytes the
// picture has, and no more than was held for it.
func TestEditsOfPicturesAreHeldFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/images/edits", upstream.Always(upstream.JSON(200, json.RawMessage(`{"created":1,"data":[{"b64_json":"aGk="},{"b64_json":"aGk="}],"usage":{"input_tokens":6700,"output_tokens":12480,"total_tokens":19180,"input_tokens_details":{"text_tokens":10,"image_tokens":6690}}}`))))
	body, kind := form(t, "model", "gpt-image-1", "prompt", "a cat", "n", "2", "@image", "a.png:tiny")
	if a := r.call("POST", "/v1/images/edits", body, r.custom("content-type: "+kind)...); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if s := r.journal.one(t).Spend; s.State != "settled" || s.Cost <= 0 || s.Cost > s.MaxCost {
		t.Errorf("%+v", s)
	}
}

// A file that is merely kept takes no tokens of a limit, however large it is.
func TestFilesTakeNoTokens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 10)}})
	r.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, json.RawMessage(`{"id":"file-1","object":"file"}`))))
	body, kind := form(t, "purpose", "batch", "@file", "a.jsonl:"+strings.Repeat("{}\n", 100_000))
	if a := r.call("POST", "/v1/files", body, r.custom("content-type: "+kind)...); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != 0 {
		t.Errorf("%+v", s)
	}
}
