package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/test/upstream"
)

// A model with configurations of its own is called at its host with its headers; the other
// models of the account are called as the account says.
func TestModelsOfAnAccountHaveHostsOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["local"] = &credential.Account{
		Slug: "local", Spec: "openai", Status: "active", AllModels: true,
		Values:    map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
		Overrides: map[string]map[string]string{"own": {"custom_host": r.up.URL() + "/own", "custom_headers": `{"x-team":"search"}`}},
	}
	script := upstream.Always(upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)))
	r.up.Handle("/v1/chat/completions", script)
	r.up.Handle("/own/chat/completions", script)
	for model, want := range map[string][2]string{"own": {"/own/chat/completions", "search"}, "other": {"/v1/chat/completions", ""}} {
		a := r.call("POST", "/v1/chat/completions", `{"model":"@local/`+model+`","messages":[{"role":"user","content":"hi"}]}`)
		seen := r.up.Seen()
		sent := seen[len(seen)-1]
		if a.StatusCode != 200 || sent.Path() != want[0] || sent.Get("x-team") != want[1] {
			t.Errorf("%s: %d, sent to %s with %q: %s", model, a.StatusCode, sent.Path(), sent.Get("x-team"), a.Text)
		}
	}
}

// What a client's library says of itself is on record, as far as it is short and plain.
func TestRecordsNameTheLibraryOfTheClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`,
		r.custom("x-gateway-runtime: node", "x-gateway-runtime-version: v22.1.0", "x-gateway-package-version: "+strings.Repeat("1", 100))...)
	a := r.journal.one(t)
	if a.Runtime != "node" || a.RuntimeVersion != "v22.1.0" || a.SDKVersion != "" {
		t.Errorf("recorded %q %q %q", a.Runtime, a.RuntimeVersion, a.SDKVersion)
	}
}
