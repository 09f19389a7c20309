package gateway_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/provider"
)

// A plan that is kept is that of the very call: another model, provider, key, address or
// wish for a stream has one of its own.
func TestKeptPlansAreNotMixedUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	host := r.up.URL()
	inline := func(provider, path string) string {
		return fmt.Sprintf(`x-gateway-config: {"provider":%q,"api_key":"k","custom_host":"%s%s"}`, provider, host, path)
	}
	chat := func(model string, stream bool) string {
		return fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":"x"}]}`, model, stream)
	}
	calls := []struct {
		body    string
		want    string // of the address
		headers []string
	}{
		{chat("gpt-4o", false), "/v1/chat/completions", []string{inline("openai", "/v1")}},
		{chat("gpt-4o-mini", false), "/v1/chat/completions", []string{inline("openai", "/v1")}},
		{chat("gpt-4o", true), "/v1/chat/completions", []string{inline("openai", "/v1")}},
		{chat("gpt-4o", false), "/other/v1/chat/completions", []string{inline("openai", "/other/v1")}},
		{chat("gpt-4o", false), "/third/v1/chat/completions", []string{inline("openai", "/v1"), "x-gateway-custom-host: " + host + "/third/v1"}},
		{chat("gpt-4o", false), "/v1/chat/completions", []string{inline("groq", "/v1")}},
	}
	for round := range 3 {
		for i, c := range calls {
			a := r.call("POST", "/v1/chat/completions", c.body, c.headers...)
			rows := r.journal.all()
			row := rows[len(rows)-1]
			if row.UpstreamURL != host+c.want || !strings.Contains(c.body, `"`+row.Model+`"`) || !strings.Contains(c.headers[0], `"`+row.Provider+`"`) {
				t.Errorf("round %d, call %d: %s at %s for %s, status %d", round, i, row.Provider, row.UpstreamURL, row.Model, a.StatusCode)
			}
		}
	}
}

// What is kept ends with the snapshot of the control plane that it was made of.
func TestKeptPlansEndWithTheirSnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	account := &credential.Account{Slug: "main", Spec: "azure-openai", Status: "active", AllModels: true}
	for _, version := range []string{"2024-06-01", "2024-06-01", "2024-10-21", "2024-06-01"} {
		next := *r.dir // as a change makes it; the account is the same thing, changed
		next.accounts = maps.Clone(r.dir.accounts)
		account.Values = provider.Values{provider.Key: "sk", "azure_resource_name": "eu1", "azure_deployment_id": "gpt", "azure_api_version": version, "custom_host": r.up.URL()}
		next.accounts["main"] = account
		r.dir = &next
		r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: @main")
		rows := r.journal.all()
		if got, want := rows[len(rows)-1].UpstreamURL, "api-version="+version; !strings.HasSuffix(got, want) {
			t.Errorf("called at %s, want %s (%s)", got, want, rows[len(rows)-1].Error)
		}
	}
}
