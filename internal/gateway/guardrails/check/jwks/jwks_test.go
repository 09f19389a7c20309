package jwks_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/gateway/guardrails/check/jwks"
)

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func rsaKey(t testing.TB, bits int, more string) string {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"kty":"RSA","n":%q,"e":"AQAB"%s}`, encode(k.N.Bytes()), more)
}

func ecKey(t testing.TB, c elliptic.Curve, name, more string) string {
	t.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	size := (len(point) - 1) / 2
	return fmt.Sprintf(`{"kty":"EC","crv":%q,"x":%q,"y":%q%s}`, name, encode(point[1:1+size]), encode(point[1+size:]), more)
}

func edKey(t testing.TB, more string) string {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q%s}`, encode(public), more)
}

func set(keys ...string) []byte { return []byte(`{"keys":[` + strings.Join(keys, ",") + `]}`) }

func TestParse_BindsKeysToAlgorithms(t *testing.T) {
	t.Parallel()
	s, err := jwks.Parse(set(
		rsaKey(t, 2048, `,"kid":"a"`), rsaKey(t, 2048, `,"kid":"b","alg":"PS256","use":"sig"`),
		ecKey(t, elliptic.P256(), "P-256", `,"kid":"c"`), ecKey(t, elliptic.P521(), "P-521", `,"kid":"d","key_ops":["verify"]`), edKey(t, `,"kid":"e"`),
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, algorithm string
		want          int
	}{
		{"a", "RS256", 1}, {"a", "PS512", 1}, {"a", "ES256", 0}, {"b", "PS256", 1}, {"b", "RS256", 0}, {"c", "ES256", 1}, {"c", "ES384", 0},
		{"d", "ES512", 1}, {"e", "EdDSA", 1}, {"e", "RS256", 0}, {"", "RS256", 1}, {"", "PS256", 2}, {"x", "RS256", 0}, {"a", "HS256", 0}, {"a", "none", 0},
	} {
		if got := len(s.Find(c.id, c.algorithm)); got != c.want {
			t.Errorf("%q %s: %d keys, want %d", c.id, c.algorithm, got, c.want)
		}
	}
}

func TestParse_LeavesOutUnusableKeys(t *testing.T) {
	t.Parallel()
	x := encode(big.NewInt(1).Bytes())
	for name, key := range map[string]string{
		"a secret":                    `{"kty":"oct","k":"c2VjcmV0"}`,
		"a key for encryption":        rsaKey(t, 2048, `,"use":"enc"`),
		"a key that signs only":       rsaKey(t, 2048, `,"key_ops":["sign"]`),
		"a small key":                 rsaKey(t, 1024, ""),
		"an algorithm of a secret":    rsaKey(t, 2048, `,"alg":"HS256"`),
		"an even exponent":            `{"kty":"RSA","n":"` + strings.Repeat("f", 342) + `","e":"Ag"}`,
		"a point off the curve":       `{"kty":"EC","crv":"P-256","x":"` + x + `","y":"` + x + `"}`,
		"a point that is too long":    `{"kty":"EC","crv":"P-256","x":"` + strings.Repeat("f", 80) + `","y":"AQ"}`,
		"an unknown curve":            `{"kty":"EC","crv":"secp256k1","x":"AQ","y":"AQ"}`,
		"a short key":                 `{"kty":"OKP","crv":"Ed25519","x":"AQ"}`,
		"a key that is not base64":    `{"kty":"RSA","n":"***","e":"AQAB"}`,
		"a key that is not an object": `"key"`,
	} {
		if _, err := jwks.Parse(set(key)); !errors.Is(err, jwks.ErrNoKey) {
			t.Errorf("%s: %v, want ErrNoKey", name, err)
		}
	}
	for _, raw := range []string{"", "<html>", "[]", `{"keys":{}}`, `{"keys":[` + strings.Repeat("1,", 100) + `1]}`, strings.Repeat(" ", jwks.MaxBytes+1)} {
		if _, err := jwks.Parse([]byte(raw)); !errors.Is(err, jwks.ErrFormat) {
			t.Errorf("%.20q: %v, want ErrFormat", raw, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(set(edKey(f, `,"kid":"e"`), ecKey(f, elliptic.P256(), "P-256", "")))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-521","x":"","y":""},{"kty":"RSA"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := jwks.Parse(raw); err == nil && len(s) == 0 {
			t.Fatal("an empty set without an error")
		}
	})
}

// issuer publishes a key set.
type issuer struct {
	fetches atomic.Int64
	mu      sync.Mutex
	raw     []byte
	err     error
	now     time.Time
}

func (i *issuer) source() *jwks.Source {
	return &jwks.Source{
		URL: "https://issuer.example/keys", MaxAge: time.Hour,
		Now: func() time.Time { i.mu.Lock(); defer i.mu.Unlock(); return i.now },
		Fetch: func(context.Context) ([]byte, error) {
			i.fetches.Add(1)
			i.mu.Lock()
			defer i.mu.Unlock()
			return i.raw, i.err
		},
	}
}

func (i *issuer) advance(d time.Duration) { i.mu.Lock(); i.now = i.now.Add(d); i.mu.Unlock() }

func TestCache_FetchesOncePerMaxAge(t *testing.T) {
	t.Parallel()
	i, c := &issuer{raw: set(edKey(t, "")), now: time.Unix(1e9, 0)}, jwks.NewCache()
	for _, step := range []struct {
		wait    time.Duration
		refresh bool
		want    int64
	}{
		{0, false, 1}, {time.Minute, false, 1}, {0, true, 2}, {5 * time.Second, true, 2}, {6 * time.Second, true, 3}, {59 * time.Minute, false, 3}, {time.Hour, false, 4},
	} {
		i.advance(step.wait)
		get := c.Keys
		if step.refresh {
			get = c.Refresh
		}
		if s, err := get(t.Context(), i.source()); err != nil || len(s) != 1 {
			t.Fatalf("%v %v", s, err)
		}
		if got := i.fetches.Load(); got != step.want {
			t.Errorf("after %v: %d fetches, want %d", step.wait, got, step.want)
		}
	}
}

func TestCache_ReturnsErrorsWithoutCachingThem(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	i, c := &issuer{err: down, now: time.Unix(1e9, 0)}, jwks.NewCache()
	if _, err := c.Keys(t.Context(), i.source()); !errors.Is(err, down) {
		t.Errorf("%v, want %v", err, down)
	}
	i.err, i.raw = nil, []byte("garbage")
	if _, err := c.Keys(t.Context(), i.source()); !errors.Is(err, jwks.ErrFormat) {
		t.Errorf("%v, want ErrFormat", err)
	}
	i.raw = set(edKey(t, ""))
	if s, err := c.Keys(t.Context(), i.source()); err != nil || len(s) != 1 {
		t.Errorf("%v %v", s, err)
	}
}

func TestCache_CallersShareAFetchThatOutlivesTheFirst(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	i, c := &issuer{raw: set(edKey(t, "")), now: time.Unix(1e9, 0)}, jwks.NewCache()
	s := i.source()
	fetch := s.Fetch
	s.Fetch = func(ctx context.Context) ([]byte, error) {
		<-release
		if ctx.Err() != nil {
			t.Error("the fetch ended with its first caller")
		}
		return fetch(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Keys(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if got, err := c.Keys(t.Context(), s); err != nil || len(got) != 1 {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	close(release)
	wait.Wait()
	if got := i.fetches.Load(); got != 1 {
		t.Errorf("%d fetches, want 1", got)
	}
}
