package sign_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// entra is a token service for all three modes; a token names what was asked for.
type entra struct {
	mu    sync.Mutex
	calls int
	life  int // seconds
	fail  bool
}

func (e *entra) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	host := r.Header.Get("X-Asked-For")
	if strings.HasSuffix(r.URL.Path, "/openid-configuration") {
		tenant := "https://" + host + strings.TrimSuffix(r.URL.Path, "/v2.0/.well-known/openid-configuration")
		fmt.Fprintf(w, `{"token_endpoint":"%[1]s/oauth2/v2.0/token","authorization_endpoint":"%[1]s/oauth2/v2.0/authorize","issuer":"%[1]s/v2.0"}`, tenant)
		return
	}
	if strings.Contains(r.URL.Path, "/discovery/instance") {
		fmt.Fprintf(w, `{"tenant_discovery_endpoint":"https://%[1]s/tenant-1/v2.0/.well-known/openid-configuration","metadata":[{"preferred_network":"%[1]s","preferred_cache":"%[1]s","aliases":["%[1]s"]}]}`, host)
		return
	}
	if err := r.ParseForm(); err != nil || e.fail {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"invalid_client","error_description":"no"}`)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls++
	token := strings.Join([]string{host, r.URL.Path, r.Form.Get("client_id"), r.Form.Get("client_secret"), r.Form.Get("client_assertion"), r.Form.Get("scope"), r.Form.Get("resource")}, "|")
	fmt.Fprintf(w, `{"token_type":"Bearer","access_token":%q,"expires_in":%d}`, token, e.life)
}

func TestAzureTokens(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("federated"), 0o600); err != nil {
		t.Fatal(err)
	}
	deployment := sign.Azure{AuthorityHost: "https://login.example.com/", TenantID: "tenant-1", ClientID: "client-1", FederatedTokenFile: file}
	app := provider.Values{"azure_auth_mode": "entra", "azure_entra_tenant_id": "tenant-1", "azure_entra_client_id": "app", "azure_entra_client_secret": "s3cret", "key": "unused"}
	scoped := provider.Values{"azure_entra_scope": "https://ai.azure.com/.default"}
	for k, v := range app {
		scoped[k] = v
	}
	identity := "mi-" + rand.Text() // the library keeps tokens of identities for the whole process, also for the next run
	const usual = "https://cognitiveservices.azure.com/.default openid offline_access profile"
	cases := []struct {
		name   string
		set    sign.Azure
		values provider.Values
		want   []string // parts of the token
	}{
		{"entra", sign.Azure{}, app, []string{"login.microsoftonline.com|/tenant-1/oauth2/v2.0/token|app|s3cret||" + usual}},
		{"entra, scope", sign.Azure{}, scoped, []string{"|app|s3cret||https://ai.azure.com/.default openid"}},
		{"entra, other authority", deployment, app, []string{"login.example.com|/tenant-1/oauth2/v2.0/token|app|"}},
		{"managed", sign.Azure{}, provider.Values{"azure_auth_mode": "managed", "azure_managed_client_id": identity}, []string{"169.254.169.254|/metadata/identity/oauth2/token|" + identity + "|", "|https://cognitiveservices.azure.com"}},
		{"workload", deployment, provider.Values{"azure_auth_mode": "workload"}, []string{"login.example.com|/tenant-1/oauth2/v2.0/token|client-1||federated|" + usual}},
		{"workload, own client", deployment, provider.Values{"azure_auth_mode": "workload", "azure_workload_client_id": "other"}, []string{"|other||federated|"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			service := &entra{life: 3600}
			set := sign.New(sign.Options{HTTP: redirect(t, service), Azure: c.set})
			got := azureSign(t, set, c.values)
			for _, part := range c.want {
				if !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, part) {
					t.Errorf("token %q\nwant in it %q", got, part)
				}
			}
			if again := azureSign(t, set, c.values); again != got || service.calls != 1 {
				t.Errorf("the token was fetched %d times", service.calls)
			}
		})
	}
}

// azureSign signs one call and returns its authorization header.
func azureSign(t *testing.T, set *sign.Set, v provider.Values) string {
	t.Helper()
	h := wire.Header{}
	r := &sign.Request{Method: "POST", Scheme: "https", Host: "contoso.openai.azure.com", Target: "/", Header: &h}
	auth := &provider.Auth{Scheme: "azure", Header: "api-key", Format: "{key}", Scope: "https://cognitiveservices.azure.com/.default"}
	if err := set.Sign(t.Context(), r, auth, v); err != nil {
		t.Fatal(err)
	}
	if h.Has("api-key") {
		t.Error("the key went out beside the token")
	}
	return h.Get("authorization")
}

// A token about to end is renewed, so that no call leaves with it.
func TestAzureRenewsEarly(t *testing.T) {
	t.Parallel()
	service := &entra{life: 60}
	set := sign.New(sign.Options{HTTP: redirect(t, service)})
	v := provider.Values{"azure_auth_mode": "entra", "azure_entra_tenant_id": "tenant-1", "azure_entra_client_id": "app", "azure_entra_client_secret": "s"}
	azureSign(t, set, v)
	azureSign(t, set, v)
	if service.calls != 2 {
		t.Errorf("a token with 60 s to live was fetched %d times in two calls", service.calls)
	}
	v["azure_entra_client_secret"] = "rotated"
	if got := azureSign(t, set, v); !strings.Contains(got, "|rotated|") {
		t.Errorf("the token of the old secret is used: %s", got)
	}
}

// Without a token the call fails: it does not go out with an empty key.
func TestAzureTokenRefused(t *testing.T) {
	t.Parallel()
	set := sign.New(sign.Options{HTTP: redirect(t, &entra{fail: true})})
	h := wire.Header{}
	r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h}
	v := provider.Values{"azure_auth_mode": "entra", "azure_entra_tenant_id": "tenant-1", "azure_entra_client_id": "app", "azure_entra_client_secret": "hidden"}
	err := set.Sign(t.Context(), r, &provider.Auth{Scheme: "azure", Header: "api-key", Format: "{key}"}, v)
	if !fault.Has(err, fault.Unauthenticated) || len(h) != 0 {
		t.Errorf("got %v, header %v", err, h)
	}
	if strings.Contains(err.Error(), "hidden") {
		t.Error("the secret is in the error")
	}
}
