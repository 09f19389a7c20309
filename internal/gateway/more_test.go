package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// Where a provider takes one input at a time a short request makes many calls: neither
// they nor their answers are without bounds.
func TestFurtherCallsAreBounded(t *testing.T) {
	t.Parallel()
	embed := func(r *rig, inputs int) callResult {
		body := `{"model":"amazon.titan-embed-text-v2:0","input":[` + strings.Repeat(`"x",`, inputs-1) + `"x"]}`
		return r.call("POST", "/v1/embeddings", body, r.bedrock()...)
	}
	r := newRig(t, func(s *gateway.Settings) { s.MaxResponseBytes = 4 << 10 })
	vector := `{"embedding":[` + strings.Repeat("0.25,", 200) + `1],"inputTextTokenCount":1}`
	r.up.Handle("/model/amazon.titan-embed-text-v2%3A0/invoke", upstream.Always(upstream.JSON(200, []byte(vector))))
	if a := embed(r, 3); a.StatusCode != 200 || r.up.Total() != 3 {
		t.Errorf("%d after %d calls: %.200s", a.StatusCode, r.up.Total(), a.Text)
	}
	if a := embed(r, 20); a.StatusCode != 502 || r.up.Total() > 3+6 {
		t.Errorf("%d after %d calls: %.200s", a.StatusCode, r.up.Total(), a.Text)
	}
	before := r.up.Total()
	if a := embed(r, 2049); a.StatusCode != 400 || r.up.Total() != before {
		t.Errorf("%d after %d calls: %.200s", a.StatusCode, r.up.Total()-before, a.Text)
	}
}
