package gateway_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// vault stands for the secret managers: nil has nothing.
type vault map[string]string

func (v vault) Read(_ context.Context, uses []credential.SecretUse) (map[string]string, error) {
	if v == nil {
		return nil, fault.New(fault.SecretUnavailable, "cannot read the provider's key from the secret manager")
	}
	out := map[string]string{}
	for _, u := range uses {
		out[u.Field] = v[u.Field]
	}
	return out, nil
}

// mapped is a rig with an account whose key is in a secret manager.
func mapped(t *testing.T, v vault) *rig {
	r := newRig(t)
	r.gateway.Secrets = v
	r.gateway.Reassemble()
	r.dir.accounts["mapped"] = &credential.Account{
		Slug: "mapped", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "sk-stored", "custom_host": r.up.URL() + "/v1"},
		Secrets: []credential.SecretUse{{Field: "key"}},
	}
	r.dir.accounts["plain"] = &credential.Account{
		Slug: "plain", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "sk-plain", "custom_host": r.up.URL() + "/v1"},
	}
	return r
}

// What the secret manager says goes to the provider, and beats what is stored.
func TestMappedSecret(t *testing.T) {
	t.Parallel()
	r := mapped(t, vault{"key": "sk-of-the-vault"})
	for range 2 { // the account itself stays as it is
		if a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: @mapped"); a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
	}
	for _, seen := range r.up.Seen() {
		if got := seen.Get("Authorization"); got != "Bearer sk-of-the-vault" {
			t.Errorf("authorization %q", got)
		}
	}
	if r.dir.accounts["mapped"].Values["key"] != "sk-stored" {
		t.Error("the secret was written into the shared account")
	}
}

// A secret that cannot be had fails its target alone: the walk goes on, whatever
// statuses the fallback is for, and accounts without mappings never ask.
func TestMappedSecretUnavailable(t *testing.T) {
	t.Parallel()
	r := mapped(t, nil)
	a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: @mapped")
	if a.StatusCode != 502 || !strings.Contains(a.Text, "secret_unavailable_error") || r.up.Total() != 0 {
		t.Errorf("%d %s, %d calls", a.StatusCode, a.Text, r.up.Total())
	}
	a = r.call("POST", "/v1/chat/completions", hello, `x-gateway-config: {"strategy":{"mode":"fallback","on_status_codes":[429]},"targets":[{"provider":"@mapped"},{"provider":"@plain"}]}`)
	if a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	seen := r.up.Seen()
	if len(seen) != 1 || seen[0].Get("Authorization") != "Bearer sk-plain" {
		t.Errorf("%d calls went up", len(seen))
	}
	for _, row := range r.journal.all() {
		if row.Status == 502 && row.Outcome != record.Refused {
			t.Errorf("recorded as %v", row.Outcome)
		}
	}
}
