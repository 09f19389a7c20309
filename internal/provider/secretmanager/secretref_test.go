package secretmanager_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider/secretmanager"
)

const (
	awsKeys = "aws_auth_type=accessKey aws_access_key_id=AKIA aws_secret_access_key=S aws_region=eu-west-1"
	onToken = "vault_auth_type=token vault_addr=https://vault.example.com vault_token=hvs.t vault_namespace=team/a"
)

// Each manager is asked in its own words.
func TestManagers(t *testing.T) {
	t.Parallel()
	jwt := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(jwt, []byte("pod-jwt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, m, _ := start(t, func(o *secretmanager.Options) { o.KubernetesToken = jwt })
	signed := "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20261120/eu-west-1/secretsmanager/aws4_request"
	m.handle("POST /", textHandler(`{"SecretString":"{\"api_key\":\"sk-aws\",\"n\":5}"}`, signed, "X-Amz-Target: secretsmanager.GetSecretValue"))
	m.handle("GET /v1/kv/one", textHandler(`{"data":{"only":"sk-kv1"}}`, "X-Vault-Token: hvs.t", "X-Vault-Namespace: team/a"))
	m.handle("GET /v1/secret/data/two", textHandler(`{"data":{"data":{"value":"sk-kv2","other":"x","account":{"type":"s"}},"metadata":{"version":3}}}`, "X-Vault-Token: hvs."))
	m.handle("GET /v1/sys/internal/ui/mounts/team/kv/deep", textHandler(`{"data":{"path":"team/kv/","options":{"version":"2"}}}`))
	m.handle("GET /v1/team/kv/data/deep", textHandler(`{"data":{"data":{"k":"sk-deep"},"metadata":{"version":1}}}`))
	for _, path := range []string{"closed/openai", "closed/none"} {
		m.handle("GET /v1/"+path, textHandler("", "X-Vault-Token: hvs.root")) // no policy names it
		m.handle("GET /v1/sys/internal/ui/mounts/"+path, textHandler(`{"data":{"path":"closed/","options":{"version":"2"}}}`))
	}
	m.handle("GET /v1/closed/data/openai", textHandler(`{"data":{"data":{"k":"sk-closed"},"metadata":{"version":1}}}`))
	m.handle("POST /v1/auth/approle/login", takes(`{"auth":{"client_token":"hvs.role","lease_duration":3600}}`, map[string]string{"role_id": "r", "secret_id": "s"}))
	m.handle("POST /v1/auth/kubernetes/login", takes(`{"auth":{"client_token":"hvs.pod","lease_duration":3600}}`, map[string]string{"role": "gw", "jwt": "pod-jwt"}))
	m.handle("GET /secrets/openai-key", textHandler(`{"value":"sk-azure"}`, "Authorization: Bearer entra-token"))
	entra(m)
	for _, c := range []struct {
		name  string
		uses  []credential.SecretUse
		want  string
		wrong string // what the cause of a refusal says
	}{
		{"a member in AWS", from("aws_sm", "prod/openai", "api_key", "", awsKeys), "sk-aws", ""},
		{"a number becomes a text", from("aws_sm", "prod/openai", "n", "", awsKeys), "5", ""},
		{"the whole of a text", from("aws_sm", "prod/openai", "", "json", awsKeys), `{"api_key":"sk-aws","n":5}`, ""},
		{"a member that is not there", from("aws_sm", "prod/openai", "nope", "", awsKeys), "", "does not have the member"},
		{"the only member in Vault", from("hashicorp_vault", "kv/one", "", "", onToken), "sk-kv1", ""},
		{"the member called value", from("hashicorp_vault", "secret/data/two", "", "", onToken), "sk-kv2", ""},
		{"an object as JSON", from("hashicorp_vault", "secret/data/two", "account", "json", onToken), `{"type":"s"}`, ""},
		{"what is no JSON", from("hashicorp_vault", "secret/data/two", "value", "json", onToken), "", "not JSON"},
		{"a path without data", from("hashicorp_vault", "/secret/two", "other", "", onToken), "x", ""},
		{"a mount of several parts", from("hashicorp_vault", "team/kv/deep", "k", "", onToken), "sk-deep", ""},
		{"a path without data, where the policy allows no other", from("hashicorp_vault", "closed/openai", "k", "", onToken), "sk-closed", ""},
		{"nothing there, where the policy allows no other path", from("hashicorp_vault", "closed/none", "k", "", onToken), "", "status 404"},
		{"by AppRole", from("hashicorp_vault", "secret/data/two/", "other", "", "vault_auth_type=approle vault_addr=https://vault.example.com/ vault_role_id=r vault_secret_id=s"), "x", ""},
		{"by Kubernetes", from("hashicorp_vault", "secret/data/two//", "other", "", "vault_auth_type=kubernetes vault_addr=https://vault.example.com vault_role=gw"), "x", ""},
		{"nothing there", from("hashicorp_vault", "secret/none", "", "", onToken), "", "status 404"},
		{"in Azure", from("azure_kv", "openai-key", "", "", "azure_auth_mode=entra azure_entra_tenant_id=tenant-1 azure_entra_client_id=c azure_entra_client_secret=s azure_vault_url=https://mine.vault.azure.net/"), "sk-azure", ""},
		{"a reference that is gone", []credential.SecretUse{{Field: "key"}}, "", "was deleted"},
	} {
		got, err := reader.Read(t.Context(), c.uses)
		if c.wrong != "" {
			if f := fault.From(err); f == nil || f.Code != fault.SecretUnavailable || !strings.Contains(f.Error(), c.wrong) || strings.Contains(f.Text(), "status") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || got["key"] != c.want {
			t.Errorf("%s: %q, %v", c.name, got["key"], err)
		}
	}
	for _, host := range []string{"POST secretsmanager.eu-west-1.amazonaws.com/", "GET mine.vault.azure.net/secrets/openai-key", "GET vault.example.com/v1/kv/one"} {
		if !slices.Contains(m.requests(), host) {
			t.Errorf("nobody asked %s: %v", host, m.requests())
		}
	}
}

// entra is a token service.
func entra(m *manager) {
	const tenant = "https://login.microsoftonline.com/tenant-1"
	m.handle("GET /tenant-1/v2.0/.well-known/openid-configuration", textHandler(`{"token_endpoint":"`+tenant+`/oauth2/v2.0/token","authorization_endpoint":"`+tenant+`/oauth2/v2.0/authorize","issuer":"`+tenant+`/v2.0"}`))
	m.handle("GET /common/discovery/instance", textHandler(`{"tenant_discovery_endpoint":"`+tenant+`/v2.0/.well-known/openid-configuration","metadata":[{"preferred_network":"login.microsoftonline.com","preferred_cache":"login.windows.net","aliases":["login.microsoftonline.com"]}]}`))
	m.handle("POST /tenant-1/oauth2/v2.0/token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("scope") != "https://vault.azure.net/.default openid offline_access profile" {
			http.Error(w, `{"error":"invalid_scope"}`, http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"token_type":"Bearer","expires_in":3600,"access_token":"entra-token"}`)
	})
}

// Another revision of the reference is another source.
func TestRevisions(t *testing.T) {
	t.Parallel()
	reader, m, _ := start(t)
	m.handle("GET /v1/kv/one", textHandler(`{"data":{"k":"v"}}`))
	for i, want := range []int{1, 1, 2} {
		uses := from("hashicorp_vault", "kv/one", "k", "", onToken)
		uses[0].Source.Revision = int64(i / 2)
		if _, err := reader.Read(t.Context(), uses); err != nil || len(m.requests()) != want {
			t.Errorf("%d: %d calls, %v", i, len(m.requests()), err)
		}
	}
}

// However many wait for a source, it is asked once; who leaves does not spoil it for
// the others, and another source does not wait.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	reader, m, _ := start(t)
	m.handle("GET /v1/kv/slow", textHandler(`{"data":{"k":"v"}}`))
	m.hold = make(chan struct{})
	left, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			ctx := t.Context()
			if i == 0 {
				ctx = left
			}
			_, errs[i] = reader.Read(ctx, from("hashicorp_vault", "kv/slow", "k", "", onToken))
		})
	}
	cancel()
	close(m.hold)
	wg.Wait()
	for i, err := range errs[1:] {
		if err != nil {
			t.Errorf("caller %d: %v", i+1, err)
		}
	}
	if n := len(m.requests()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// A login that was revoked is made anew, once.
func TestLoginAnew(t *testing.T) {
	t.Parallel()
	reader, m, clock := start(t)
	n := 0
	m.handle("POST /v1/auth/approle/login", func(w http.ResponseWriter, _ *http.Request) {
		n++
		fmt.Fprintf(w, `{"auth":{"client_token":"t%d","lease_duration":3600}}`, n)
	})
	m.handle("GET /v1/kv/data/one", textHandler("", "X-Vault-Token: hvs.root")) // as all paths with a token that is not valid
	auth := "vault_auth_type=approle vault_addr=https://vault.example.com vault_role_id=r vault_secret_id=s"
	for _, token := range []string{"t1", "t1", "t2"} {
		m.handle("GET /v1/kv/one", textHandler(`{"data":{"k":"`+token+`"}}`, "X-Vault-Token: "+token))
		uses := from("hashicorp_vault", "kv/one", "k", "", auth)
		got, err := reader.Read(t.Context(), uses)
		reader.Wait()
		if err != nil {
			t.Fatalf("%s: %v, %v", token, got, err)
		}
		clock.pass(6 * time.Minute)
	}
	if n != 2 {
		t.Errorf("%d logins", n)
	}
}

// Neither a log line nor an error holds what was sent or read.
func TestNothingIsTold(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	reader, m, _ := start(t, func(o *secretmanager.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	m.handle("GET /v1/kv/one", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `the token hvs.t is bad, the secret was s3cr3t`, http.StatusForbidden)
	})
	m.handle("GET /v1/kv/far", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusFound)
	})
	m.handle("GET /v1/kv/big", textHandler(`{"data":{"k":"`+strings.Repeat("a", 1<<20)+`"}}`))
	for _, path := range []string{"kv/one", "kv/far", "kv/big"} {
		_, err := reader.Read(t.Context(), from("hashicorp_vault", path, "k", "", onToken))
		if text := fmt.Sprint(err); !fault.Has(err, fault.SecretUnavailable) || strings.Contains(text, "hvs") || strings.Contains(text, "s3cr3t") {
			t.Errorf("%s: %s", path, text)
		}
	}
	reader.Close()
	if text := log.String(); strings.Contains(text, "hvs") || strings.Contains(text, "s3cr3t") || !strings.Contains(text, "r-kv/one") {
		t.Errorf("logged: %s", text)
	}
	for _, call := range m.requests() {
		if strings.Contains(call, "elsewhere") {
			t.Error("a redirect was followed")
		}
	}
}
