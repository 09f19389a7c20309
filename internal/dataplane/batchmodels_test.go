package dataplane_test

import (
	"strings"
	"testing"

	"sluice/internal/credential"
	"sluice/test/upstream"
)

// The requests of a batch name models of their own. An account that allows some models
// only is not asked for others this way, wherever the requests come from.
func TestBatchOfModelsNotAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["some"] = &credential.Account{
		Slug: "some", Spec: "anthropic", Status: "active", Models: []credential.Model{{Slug: "claude-haiku", Enabled: true}},
		Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
	}
	r.up.On("/v1/messages/batches", upstream.Always(upstream.JSON(200, []byte(`{"id":"msgbatch_1","type":"message_batch","processing_status":"in_progress"}`))))
	const good, bad = `[{"custom_id":"1","params":{"model":"claude-haiku"}}]`, `[{"custom_id":"1","params":{"model":"claude-haiku"}},{"custom_id":"2","params":{"model":"claude-opus"}}]`
	for name, c := range map[string]struct {
		body, config string
		status       int
	}{
		"allowed":         {`{"requests":` + good + `}`, "", 200},
		"in the body":     {`{"requests":` + bad + `}`, "", 412},
		"said twice":      {`{"requests":[{"custom_id":"1","params":{"model":"claude-haiku"},"params":{"model":"claude-opus"}}]}`, "", 412},
		"escaped":         {`{"requests":[{"custom_id":"1","p\u0061rams":{"mod\u0065l":"claude-opus"}}]}`, "", 412},
		"in the override": {`{"requests":` + good + `}`, `,"override_params":{"requests":` + bad + `}`, 412},
	} {
		before := r.up.Total()
		a := r.call("POST", "/v1/batches", c.body, `x-gateway-config: {"provider":"@some"`+c.config+`}`)
		if a.StatusCode != c.status || c.status != 200 && (!strings.Contains(a.Text, "model_not_allowed") || r.up.Total() != before) {
			t.Errorf("%s: %d after %d calls: %s", name, a.StatusCode, r.up.Total()-before, a.Text)
		}
	}
}
