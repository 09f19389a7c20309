package sign_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// robot is the key of the tests' service account; making one takes a while.
var robot = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// serviceAccount is the document of an account, changed as said.
func serviceAccount(t *testing.T, change map[string]string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(robot())
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]string{
		"type": "service_account", "project_id": "p-1", "private_key_id": "kid-1", "client_email": "robot@p-1.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": "https://oauth2.googleapis.com/token",
	}
	for k, v := range change {
		doc[k] = v
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// google is a token service that checks the word of an account, and a metadata server.
// A token names who asked where, and how often anybody did.
type google struct {
	mu    sync.Mutex
	calls int
	life  int
	fail  bool
	hold  chan struct{} // answers wait for it
	now   time.Time
}

func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.hold != nil {
		<-g.hold
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	who, err := g.who(r)
	if err != nil || g.fail {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"%v"}`, err)
		return
	}
	fmt.Fprintf(w, `{"access_token":"%s at %s #%d","expires_in":%d,"token_type":"Bearer"}`, who, r.Header.Get("X-Asked-For"), g.calls, g.life)
}

func (g *google) who(r *http.Request) (string, error) {
	if r.Method == http.MethodGet {
		if r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" || r.Header.Get("Metadata-Flavor") != "Google" {
			return "", errors.New("not for machines")
		}
		return "machine", nil
	}
	if err := r.ParseForm(); err != nil {
		return "", err
	}
	parts := strings.Split(r.Form.Get("assertion"), ".")
	if len(parts) != 3 || r.Form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return "", errors.New("no assertion")
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&robot().PublicKey, crypto.SHA256, sum[:], sig); err != nil {
		return "", err
	}
	var head struct{ Alg, Kid string }
	var claims struct {
		Iss, Sub, Aud, Scope string
		Iat, Exp             int64
	}
	for i, into := range []any{&head, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return "", err
		}
	}
	if head.Alg != "RS256" || head.Kid != "kid-1" || claims.Iss != claims.Sub || claims.Exp != claims.Iat+3600 || claims.Iat != g.now.Unix() ||
		claims.Scope != "https://www.googleapis.com/auth/cloud-platform" || !strings.HasPrefix(claims.Aud, "https://"+r.Header.Get("X-Asked-For")) {
		return "", fmt.Errorf("claims %+v", claims)
	}
	return claims.Iss, nil
}

// ticking is a clock that tests turn.
type ticking struct {
	mu  sync.Mutex
	now time.Time
}

func (c *ticking) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *ticking) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func gcpRig(t *testing.T, g *google) (*sign.Set, *ticking) {
	t.Helper()
	clock := &ticking{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	g.now = clock.now
	client := redirect(t, g)
	return sign.New(sign.Options{HTTP: client, Outside: client, Clock: clock}), clock
}

func gcpSign(ctx context.Context, set *sign.Set, v provider.Values) (string, error) {
	h := wire.Header{}
	err := set.Sign(ctx, &sign.Request{Method: "POST", Scheme: "https", Host: "aiplatform.googleapis.com", Target: "/", Header: &h}, &provider.Auth{Scheme: "gcp"}, v)
	return h.Get("authorization"), err
}

func TestGCPTokens(t *testing.T) {
	t.Parallel()
	doc := serviceAccount(t, nil)
	for _, c := range []struct {
		name   string
		values provider.Values
		want   string
	}{
		{"a token as the key", provider.Values{"key": "ya29.x"}, "Bearer ya29.x"},
		{"a token with its word before it", provider.Values{"key": "Bearer ya29.x", "vertex_auth_type": "basic"}, "Bearer ya29.x"},
		{"a service account", provider.Values{"vertex_auth_type": "serviceAccount", "vertex_service_account_json": doc, "key": "unused"}, "Bearer robot@p-1.iam.gserviceaccount.com at oauth2.googleapis.com #1"},
		{"a service account, unsaid", provider.Values{"vertex_service_account_json": doc}, "Bearer robot@p-1.iam.gserviceaccount.com at oauth2.googleapis.com #1"},
		{"of another cloud", provider.Values{"vertex_service_account_json": serviceAccount(t, map[string]string{"token_uri": "https://oauth2.s3nsapis.fr/token"})}, "Bearer robot@p-1.iam.gserviceaccount.com at oauth2.s3nsapis.fr #1"},
		{"the machine", provider.Values{"vertex_auth_type": "workload"}, "Bearer machine at metadata.google.internal #1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set, _ := gcpRig(t, &google{life: 3600})
			for range 2 {
				if got, err := gcpSign(t.Context(), set, c.values); got != c.want || err != nil {
					t.Errorf("got %q %v, want %q", got, err, c.want)
				}
			}
		})
	}
}

// A token of an hour is used for 3000 seconds, a short one for five sixths of its life.
func TestGCPRenewsEarly(t *testing.T) {
	t.Parallel()
	for life, used := range map[int]time.Duration{3600: 3000 * time.Second, 300: 250 * time.Second} {
		g := &google{life: life}
		set, clock := gcpRig(t, g)
		v := provider.Values{"vertex_auth_type": "workload"}
		for _, step := range []struct {
			wait  time.Duration
			calls int
		}{{0, 1}, {used - time.Second, 1}, {time.Second, 2}} {
			clock.add(step.wait)
			_, err := gcpSign(t.Context(), set, v)
			set.Wait() // it is renewed behind the call
			if err != nil || g.calls != step.calls {
				t.Errorf("life %d: %d fetches after %v, want %d: %v", life, g.calls, step.wait, step.calls, err)
			}
		}
	}
}

// Many calls at once make one fetch, which goes on when the first of them gives up.
func TestGCPFetchesOnce(t *testing.T) {
	t.Parallel()
	g := &google{life: 3600, hold: make(chan struct{})}
	set, _ := gcpRig(t, g)
	v := provider.Values{"vertex_service_account_json": serviceAccount(t, nil)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gcpSign(ctx, set, v); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := gcpSign(t.Context(), set, v); err != nil {
				t.Error(err)
			}
		})
	}
	close(g.hold)
	all.Wait()
	if g.calls != 1 {
		t.Errorf("%d fetches", g.calls)
	}
}

func TestGCPRefuses(t *testing.T) {
	t.Parallel()
	account := func(change map[string]string) provider.Values {
		return provider.Values{"vertex_service_account_json": serviceAccount(t, change)}
	}
	const field = "vertex_service_account_json"
	for _, c := range []struct {
		name   string
		values provider.Values
		param  string
	}{
		{"nothing", provider.Values{}, field},
		{"no JSON", provider.Values{field: "{"}, field},
		{"no service account", account(map[string]string{"type": "external_account"}), field},
		{"no address", account(map[string]string{"client_email": ""}), field},
		{"no key", account(map[string]string{"private_key": "hidden"}), field},
		{"another kind of key", account(map[string]string{"private_key": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIDCvY1g0v8Xn3XzZl1pC8k8uQ9m9cKqFzv3s1XcFJm0B\n-----END PRIVATE KEY-----\n"}), field},
		{"a token service without TLS", account(map[string]string{"token_uri": "http://169.254.169.254/x"}), field},
		{"an unknown way", provider.Values{"vertex_auth_type": "magic"}, "vertex_auth_type"},
		{"a service account that is missing", provider.Values{"vertex_auth_type": "serviceAccount"}, field},
	} {
		set, _ := gcpRig(t, &google{life: 3600})
		got, err := gcpSign(t.Context(), set, c.values)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidRequest || f.Param != c.param || got != "" || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %q %v", c.name, got, err)
		}
	}
}

// Without a token the call fails, and the next one asks again.
func TestGCPTokenRefused(t *testing.T) {
	t.Parallel()
	g := &google{life: 3600, fail: true}
	set, _ := gcpRig(t, g)
	v := provider.Values{"vertex_service_account_json": serviceAccount(t, nil)}
	got, err := gcpSign(t.Context(), set, v)
	if !fault.Has(err, fault.Unauthenticated) || got != "" || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("%q %v", got, err)
	}
	g.fail = false
	if _, err := gcpSign(t.Context(), set, v); err != nil {
		t.Errorf("the second call: %v", err)
	}
}

// An address that a credential names is asked over the guarded client alone.
func TestGCPStrangeTokenService(t *testing.T) {
	t.Parallel()
	g := &google{life: 3600}
	v := provider.Values{"vertex_service_account_json": serviceAccount(t, map[string]string{"token_uri": "https://tokens.example.com/t"})}
	if _, err := gcpSign(t.Context(), sign.New(sign.Options{HTTP: redirect(t, g)}), v); !fault.Has(err, fault.Unauthenticated) || g.calls != 0 {
		t.Errorf("%d calls, %v", g.calls, err)
	}
}
