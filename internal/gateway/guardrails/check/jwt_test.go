package check_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/wire"
)

// signer signs tokens of one issuer at a fixed time.
type signer struct {
	rsa  *rsa.PrivateKey
	ed   ed25519.PrivateKey
	keys string // published set
	now  time.Time
}

func newSigner(t testing.TB) *signer {
	t.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, e, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := fmt.Sprintf(`{"keys":[{"kty":"RSA","kid":"r","n":%q,"e":"AQAB"},{"kty":"OKP","crv":"Ed25519","kid":"e","x":%q}]}`,
		base64.RawURLEncoding.EncodeToString(r.N.Bytes()), base64.RawURLEncoding.EncodeToString(public))
	return &signer{rsa: r, ed: e, keys: keys, now: time.Unix(1_800_000_000, 0)}
}

// claims adds members to the claims of a fresh token; null removes one.
func (s *signer) claims(t testing.TB, more string) jwt.MapClaims {
	t.Helper()
	c := jwt.MapClaims{"sub": "u-1", "iat": s.now.Unix(), "exp": s.now.Add(time.Hour).Unix(), "roles": []string{"admin", "dev"}, "n": 7}
	var members map[string]any
	if err := json.Unmarshal([]byte("{"+more+"}"), &members); err != nil {
		t.Fatal(err)
	}
	for k, v := range members {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

func (s *signer) sign(t testing.TB, m jwt.SigningMethod, header map[string]any, claims jwt.MapClaims, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(m, claims)
	for k, v := range header {
		token.Header[k] = v
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// token is a valid token with additional claims, signed with the RSA key.
func (s *signer) token(t testing.TB, more string) string {
	t.Helper()
	return s.sign(t, jwt.SigningMethodRS256, map[string]any{"kid": "r"}, s.claims(t, more), s.rsa)
}

func (s *signer) judge(t testing.TB, d *check.Deps, parameters, token string) check.Result {
	t.Helper()
	d.Now = func() time.Time { return s.now }
	in := &check.Input{}
	if token != "" {
		in.Header = wire.Header{{Name: "authorization", Value: token}}
	}
	got := run(t, d, "default.jwt", parameters, in)
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if secret := strings.TrimPrefix(token, "Bearer "); len(secret) > 3 && strings.Contains(string(raw), secret) {
		t.Errorf("the result contains the token: %s", raw)
	}
	return got
}

func TestJWT_RejectsTokensThatAreNotAuthentic(t *testing.T) {
	t.Parallel()
	s, other := newSigner(t), newSigner(t)
	public := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&s.rsa.PublicKey)})
	der, err := x509.MarshalPKIXPublicKey(&s.rsa.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	valid := s.token(t, "")
	parts := strings.Split(valid, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"root","iat":1800000000}`))
	kid := map[string]any{"kid": "r"}
	for name, c := range map[string]struct{ token, reason string }{
		"valid":                            {"Bearer " + valid, "the token is valid"},
		"valid in lower case":              {"bearer  " + valid, "the token is valid"},
		"valid without a scheme":           {valid, "the token is valid"},
		"valid without a key id":           {s.sign(t, jwt.SigningMethodRS256, nil, s.claims(t, ""), s.rsa), "the token is valid"},
		"no header":                        {"", "no header authorization"},
		"only a scheme":                    {"Bearer ", "must contain a token"},
		"two tokens":                       {"Bearer a b", "must contain a token"},
		"garbage":                          {"Bearer garbage", "does not contain a JSON Web Token"},
		"three parts of garbage":           {"a.b.c", "does not contain a JSON Web Token"},
		"too long":                         {strings.Repeat("a", 16385), "must contain a token of at most"},
		"a changed payload":                {parts[0] + "." + forged + "." + parts[2], "the signature of the token is not valid"},
		"no signature":                     {parts[0] + "." + parts[1] + ".", "the signature of the token is not valid"},
		"another issuer":                   {other.token(t, ""), "the signature of the token is not valid"},
		"another key id":                   {s.sign(t, jwt.SigningMethodRS256, map[string]any{"kid": "x"}, s.claims(t, ""), s.rsa), "signed with an unknown key"},
		"algorithm none":                   {s.sign(t, jwt.SigningMethodNone, kid, s.claims(t, ""), jwt.UnsafeAllowNoneSignatureType), "algorithm of the token is not permitted"},
		"the public key as secret":         {s.sign(t, jwt.SigningMethodHS256, kid, s.claims(t, ""), public), "algorithm of the token is not permitted"},
		"the public key in DER as secret":  {s.sign(t, jwt.SigningMethodHS256, kid, s.claims(t, ""), der), "algorithm of the token is not permitted"},
		"an algorithm that is not allowed": {s.sign(t, jwt.SigningMethodRS512, kid, s.claims(t, ""), s.rsa), "algorithm of the token is not permitted"},
		"a critical header field":          {s.sign(t, jwt.SigningMethodRS256, map[string]any{"kid": "r", "crit": []string{"b64"}}, s.claims(t, ""), s.rsa), "critical header fields"},
		"an algorithm of another key":      {s.sign(t, jwt.SigningMethodEdDSA, kid, s.claims(t, ""), s.ed), "signed with an unknown key"},
		"the other algorithm":              {s.sign(t, jwt.SigningMethodEdDSA, map[string]any{"kid": "e"}, s.claims(t, ""), s.ed), "the token is valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.judge(t, &check.Deps{}, `{"algorithms":["RS256","EdDSA"],"jwks":`+s.keys+`}`, c.token)
			compare(t, &got, c.reason == "the token is valid", "", "")
			if text := fmt.Sprint(got.Data); !strings.Contains(text, c.reason) {
				t.Errorf("data %s, want %s", text, c.reason)
			}
		})
	}
}

func TestJWT_JudgesClaims(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	at := func(d time.Duration) string { return fmt.Sprint(s.now.Add(d).Unix()) }
	for _, c := range []struct{ name, parameters, claims, reason string }{
		{"expired", ``, `"exp":` + at(-5*time.Second), "expired"},
		{"expired within the tolerance", ``, `"exp":` + at(-4*time.Second), ""},
		{"expired without tolerance", `"clockTolerance":0`, `"exp":` + at(-time.Second), "expired"},
		{"no expiry", ``, `"exp":null`, ""},
		{"an expiry that is a text", ``, `"exp":"tomorrow"`, "exp of the token is not a time"},
		{"an expiry beyond all bounds", ``, `"exp":1e300`, "exp of the token is not a time"},
		{"not valid yet", ``, `"nbf":` + at(6*time.Second), "not valid yet"},
		{"valid from now", ``, `"nbf":` + at(5*time.Second), ""},
		{"issued in the future", ``, `"iat":` + at(time.Minute), "issued in the future"},
		{"older than a day", ``, `"iat":` + at(-25*time.Hour), "older than maxTokenAge"},
		{"a longer age", `"maxTokenAge":"2 days"`, `"iat":` + at(-25*time.Hour), ""},
		{"an age in seconds", `"maxTokenAge":60`, `"iat":` + at(-66*time.Second), "older than maxTokenAge"},
		{"no time of issue", ``, `"iat":null`, "does not have the claim iat"},
		{"a required claim", `"requiredClaims":["sub","n"]`, ``, ""},
		{"a missing claim", `"requiredClaims":["sub","org"]`, ``, "required claim org"},
		{"an exact value", `"claimValues":{"sub":{"values":"u-1"},"n":{"values":7}}`, ``, ""},
		{"one of several values", `"claimValues":{"sub":{"values":["u-0","u-1"]}}`, ``, ""},
		{"another value", `"claimValues":{"sub":{"values":["u-0"]}}`, ``, "claim sub does not have a permitted value"},
		{"a list with other values", `"claimValues":{"roles":{"values":["admin"]}}`, ``, "claim roles"},
		{"a list that contains one", `"claimValues":{"roles":{"values":["admin","root"],"matchType":"contains"}}`, ``, ""},
		{"an element is compared as a whole", `"claimValues":{"roles":{"values":["adm"],"matchType":"contains"}}`, ``, "claim roles"},
		{"a list that contains all", `"claimValues":{"roles":{"values":["admin","dev"],"matchType":"containsAll"}}`, ``, ""},
		{"a list that does not contain all", `"claimValues":{"roles":{"values":["admin","root"],"matchType":"containsAll"}}`, ``, "claim roles"},
		{"a pattern", `"claimValues":{"sub":{"values":"^u-[0-9]$","matchType":"regex"}}`, ``, ""},
		{"a pattern that does not match", `"claimValues":{"sub":{"values":"^x","matchType":"regex"}}`, ``, "claim sub"},
		{"a value of a missing claim", `"claimValues":{"org":{"values":".*","matchType":"regex"}}`, ``, "claim org"},
		{"equal in header and payload", `"headerPayloadMatch":["tenant"]`, `"tenant":"t"`, ""},
		{"different in header and payload", `"headerPayloadMatch":["tenant"]`, `"tenant":"x"`, "must be equal"},
		{"missing in the payload", `"headerPayloadMatch":["tenant"]`, ``, "must be equal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parameters := strings.TrimSuffix(`{"jwks":`+s.keys+`,`+c.parameters, ",") + "}"
			token := s.sign(t, jwt.SigningMethodRS256, map[string]any{"kid": "r", "tenant": "t"}, s.claims(t, c.claims), s.rsa)
			got := s.judge(t, &check.Deps{}, parameters, token)
			compare(t, &got, c.reason == "", "", "")
			if text := fmt.Sprint(got.Data); !strings.Contains(text, c.reason) {
				t.Errorf("data %s, want %s", text, c.reason)
			}
		})
	}
}

func TestJWT_ExtractsClaimsIntoHeaders(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	got := s.judge(t, &check.Deps{}, `{"jwks":`+s.keys+`,"extractClaims":["sub","roles","n","org","https://a.example/x","bad"]}`,
		s.token(t, `"https://a.example/x":{"a":1},"bad":"a\r\nb: c"`))
	want := wire.Header{
		{Name: "x-jwt-sub", Value: "u-1"}, {Name: "x-jwt-roles", Value: `["admin","dev"]`}, {Name: "x-jwt-n", Value: "7"}, {Name: "x-jwt-org", Value: ""},
		{Name: "x-jwt-https---a.example-x", Value: `{"a":1}`}, {Name: "x-jwt-bad", Value: ""},
	}
	if fmt.Sprint(got.Headers) != fmt.Sprint(want) {
		t.Errorf("headers %v, want %v", got.Headers, want)
	}
	got = s.judge(t, &check.Deps{}, `{"jwks":`+s.keys+`,"extractClaims":["sub"],"claimPrefix":"X-User-"}`, s.token(t, `"exp":1`))
	if got.Headers != nil {
		t.Errorf("headers %v of a rejected token, want none", got.Headers)
	}
}

func TestJWT_FetchesPublishedKeys(t *testing.T) {
	t.Parallel()
	s, later := newSigner(t), newSigner(t)
	var published atomic.Value
	published.Store(s.keys)
	url, requests := recorder(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, published.Load().(string)) })
	d := outside(t)
	d.Now = func() time.Time { return s.now }
	r := open(t, "default.jwt", `{"jwksUri":"`+url+`"}`, d)
	judge := func(token string) check.Result {
		return r.Run(t.Context(), &check.Input{Header: wire.Header{{Name: "authorization", Value: token}}})
	}
	fetches := func(want int) {
		t.Helper()
		if got := len(requests); got != want {
			t.Errorf("%d fetches, want %d", got, want)
		}
	}
	for range 3 {
		got := judge(s.token(t, ""))
		compare(t, &got, true, "", "")
	}
	fetches(1)
	rotated := later.sign(t, jwt.SigningMethodRS256, map[string]any{"kid": "new"}, later.claims(t, ""), later.rsa)
	for range 3 {
		got := judge(rotated)
		compare(t, &got, false, "", `{"explanation":"the token is signed with an unknown key"}`)
	}
	fetches(1) // the set is less than 10 seconds old
	published.Store(strings.ReplaceAll(later.keys, `"kid":"r"`, `"kid":"new"`))
	s.now = s.now.Add(11 * time.Second)
	got := judge(rotated)
	compare(t, &got, true, "", "")
	fetches(2)
}

func TestJWT_FailuresOfServicesAreErrors(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	for _, c := range []struct {
		name    string
		respond http.HandlerFunc
		failure string
	}{
		{"status", static(500, s.keys), "status 500"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, "status 302"},
		{"garbage", static(200, "<html>"), "an object"},
		{"no end", hanging, "TimeoutError"},
		{"too large", static(200, strings.Repeat(" ", 2<<20)), "too large"},
	} {
		for _, name := range []string{"jwksUri", "introspectEndpoint"} {
			t.Run(c.name+" of "+name, func(t *testing.T) {
				t.Parallel()
				url, _ := recorder(t, c.respond)
				failure := c.failure
				if name == "introspectEndpoint" {
					failure = strings.Replace(failure, "an object", "a JSON object", 1)
				}
				timeout := 20_000
				if c.name == "no end" {
					timeout = 200
				}
				got := s.judge(t, outside(t), fmt.Sprintf(`{%q:%q,"timeout":%d}`, name, url, timeout), s.token(t, ""))
				compare(t, &got, false, failure, "")
			})
		}
	}
	got := s.judge(t, outside(t), `{"jwksUri":"http://10.0.0.1/keys"}`, s.token(t, ""))
	compare(t, &got, false, "private address", "")
}

func TestJWT_IntrospectsTokens(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	response := fmt.Sprintf(`{"active":true,"sub":"u-1","exp":%d}`, s.now.Add(time.Minute).Unix())
	url, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, response) })
	d := outside(t)
	d.Now = func() time.Time { return s.now }
	r := open(t, "default.jwt", `{"introspectEndpoint":"`+url+`","introspectContentType":"application/x-www-form-urlencoded","introspectClientId":"id","introspectClientSecret":"se:cret",
		"introspectCacheMaxAge":300,"headerKey":"X-Token","claimValues":{"sub":{"values":"u-1"}}}`, d)
	in := &check.Input{Header: wire.Header{{Name: "x-token", Value: "opaque"}, {Name: "authorization", Value: "client-secret"}}}
	for range 2 {
		got := r.Run(t.Context(), in)
		compare(t, &got, true, "", "")
	}
	if len(requests) != 1 {
		t.Errorf("%d introspections, want 1", len(requests))
	}
	q := <-requests
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("id:se%3Acret"))
	if string(q.body) != "token=opaque" || q.header.Get("Authorization") != want || q.header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("request %v %s", q.header, q.body)
	}
	s.now = s.now.Add(66 * time.Second) // the cached introspection does not outlive the token
	got := r.Run(t.Context(), in)
	compare(t, &got, false, "", `{"explanation":"the token has expired"}`)

	url, requests = recorder(t, static(200, `{"active":false}`))
	got = s.judge(t, outside(t), `{"introspectEndpoint":"`+url+`"}`, "Bearer a\"b")
	compare(t, &got, false, "", `{"explanation":"the token is not active"}`)
	if q := <-requests; string(q.body) != `{"token":"a\"b"}` {
		t.Errorf("body %s", q.body)
	}
}

func TestJWT_RefusesWrongParameters(t *testing.T) {
	t.Parallel()
	s := newSigner(t)
	runRefusals(t, "default.jwt", refusals{
		`{"jwks":{},"algorithms":["HS256"]}`:                                     ".algorithms[0]: one of RS256",
		`{"jwks":{},"algorithms":["none"]}`:                                      ".algorithms[0]: one of RS256",
		`{"jwks":{},"maxTokenAge":"soon"}`:                                       ".maxTokenAge: a duration",
		`{"jwks":{},"clockTolerance":-1}`:                                        ".clockTolerance: a number from 0",
		`{"jwksUri":"file:///etc/keys"}`:                                         ".jwksUri: must be a URL",
		`{"introspectEndpoint":"http://a","introspectContentType":"text/plain"}`: ".introspectContentType: one of",
		`{"jwks":{},"claimValues":{"a":{"values":"b","matchType":"like"}}}`:      ".claimValues.a.matchType: one of exact",
	})
	refuse(t, "default.jwt", `{}`, "jwksUri must be set")
	refuse(t, "default.jwt", `{"jwksUri":"http://a","jwks":{"keys":[]}}`, "jwksUri must be set, or one of")
	refuse(t, "default.jwt", `{"jwks":{"keys":[]}}`, "jwks must be valid: the key set has no usable public key")
	refuse(t, "default.jwt", `{"jwks":{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}}`, "no usable public key")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"maxTokenAge":"999y"}`, "maxTokenAge must be a duration of at most 100 years")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"headerKey":"a b"}`, "headerKey must be a header name")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"claimPrefix":"auth-"}`, "claimPrefix must begin with x-")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"claimPrefix":"x-","extractClaims":["api-key"]}`, "claimPrefix must not make x-api-key")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"claimPrefix":"x-gateway-","extractClaims":["a"]}`, "claimPrefix must not make x-gateway-a")
	refuse(t, "default.jwt", `{"jwks":`+s.keys+`,"claimValues":{"a":{"values":"(?=a)","matchType":"regex"}}}`, "claimValues.a.values must be a regular expression")
	refuse(t, "default.jwt", `{"introspectEndpoint":"http://a","introspectClientSecret":"b"}`, "introspectClientSecret needs introspectClientId")
}
