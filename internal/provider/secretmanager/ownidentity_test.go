package secretmanager_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/provider/secretmanager"
)

// A reference that is stored already sends the gateway's own identity only to hosts that
// the operator lists, and to Azure's own vaults.
func TestTheOwnIdentityGoesToListedHostsAlone(t *testing.T) {
	t.Parallel()
	jwt := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(jwt, []byte("pod-jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, m, _ := start(t, func(o *secretmanager.Options) { o.KubernetesToken = jwt })
	m.handle("POST /v1/auth/kubernetes/login", takes(`{"auth":{"client_token":"hvs.pod","lease_duration":3600}}`, map[string]string{"role": "gw", "jwt": "pod-jwt"}))
	m.handle("GET /v1/kv/a", textHandler(`{"data":{"only":"sk"}}`))
	m.handle("GET /v1/kv/b", textHandler(`{"data":{"only":"sk"}}`))
	for _, c := range []struct {
		name, path, auth string
		refused          bool
	}{
		{"a listed host", "kv/a", "vault_auth_type=kubernetes vault_addr=https://vault.example.com vault_role=gw", false},
		{"another port", "kv/c", "vault_auth_type=kubernetes vault_addr=https://vault.example.com:8200 vault_role=gw", true},
		{"another host", "kv/d", "vault_auth_type=kubernetes vault_addr=https://vault.elsewhere.example vault_role=gw", true},
		{"another host with a token of its own", "kv/b", "vault_auth_type=token vault_addr=https://vault.elsewhere.example vault_token=hvs.t", false},
	} {
		before := len(m.requests())
		got, err := reader.Read(t.Context(), from("hashicorp_vault", c.path, "", "", c.auth))
		switch {
		case !c.refused && (err != nil || got["key"] != "sk"):
			t.Errorf("%s: %v %v", c.name, got, err)
		case c.refused && (!fault.Has(err, fault.SecretUnavailable) || !strings.Contains(err.Error(), "STORED_KEY_HOSTS")):
			t.Errorf("%s: %v %v", c.name, got, err)
		case c.refused && len(m.requests()) != before:
			t.Errorf("%s: asked %v", c.name, m.requests()[before:])
		}
	}
	for _, mode := range []string{"managed", "default"} {
		_, err := reader.Read(t.Context(), from("azure_kv", "x-"+mode, "", "", "azure_auth_mode="+mode+" azure_vault_url=https://mine.example.com"))
		if !fault.Has(err, fault.SecretUnavailable) || !strings.Contains(err.Error(), "STORED_KEY_HOSTS") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
