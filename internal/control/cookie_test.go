package control_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/control/people"
	"sluice/internal/kernel/wire"
	"sluice/internal/storage/sqlstore/storetest"
)

// Over TLS, that of the gateway or of a proxy that is trusted, a session is in a cookie that
// no other host of the domain can set, and one without that protection is not looked at.
func TestCookiesOfSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	opened := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"ada@acme.example","password":"correct horse battery"}`).Result().Header.Get("Set-Cookie")
	_, token, _ := strings.Cut(strings.Split(opened, ";")[0], "=")
	if !strings.HasPrefix(token, "ses_") {
		t.Fatal(opened)
	}
	trusted, err := wire.ParseProxies([]string{"192.0.2.0/24"}) // of httptest
	if err != nil {
		t.Fatal(err)
	}
	plain, prefixed := "sluice_session="+token, "__Host-sluice_session="+token
	for _, c := range []struct {
		name     string
		by       people.Browsers
		tls      bool
		proto    string
		cookie   string
		signedIn bool
	}{
		{"plain", people.Browsers{}, false, "", plain, true},
		{"plain, the other cookie", people.Browsers{}, false, "", prefixed, false},
		{"TLS", people.Browsers{}, true, "", prefixed, true},
		{"TLS, a cookie that anybody may have set", people.Browsers{}, true, "", plain, false},
		{"TLS, both", people.Browsers{}, true, "", "sluice_session=ses_" + strings.Repeat("x", 43) + "; " + prefixed, true},
		{"a console behind TLS", people.Browsers{Console: "https://gw.example"}, false, "", prefixed, true},
		{"a console behind TLS, a cookie that anybody may have set", people.Browsers{Console: "https://gw.example"}, false, "", plain, false},
		{"a trusted proxy", people.Browsers{Proxies: trusted}, false, "https", prefixed, true},
		{"a trusted proxy, a cookie that anybody may have set", people.Browsers{Proxies: trusted}, false, "https", plain, false},
		{"a trusted proxy without TLS", people.Browsers{Proxies: trusted}, false, "http", plain, true},
		{"a stranger who says TLS", people.Browsers{}, false, "https", plain, true},
	} {
		r := httptest.NewRequest("GET", "/v1/auth/self", nil)
		r.Header.Set("Cookie", c.cookie)
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		p, ok, err := people.Session(r.Context(), w.store, w.hasher, w.clock, c.by, r)
		if err != nil || ok != c.signedIn || ok && p.UserID == "" {
			t.Errorf("%s: signed in %v, %v", c.name, ok, err)
		}
	}
}

// The cookie that a sign-in sets over TLS has the prefix and what browsers ask for it, and
// signing out ends that one.
func TestCookiesOverTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	call := func(path, body string, header ...string) *http.Cookie {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.TLS = &tls.ConnectionState{}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		rec := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(rec, r)
		for _, c := range rec.Result().Cookies() {
			return c
		}
		t.Fatalf("%s: %d %s sets no cookie", path, rec.Code, rec.Body)
		return nil
	}
	c := call("/v1/auth/login", `{"email":"ada@acme.example","password":"correct horse battery"}`)
	if c.Name != "__Host-sluice_session" || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("%+v", c)
	}
	if end := call("/v1/auth/logout", "", "Authorization", "Bearer "+c.Value); end.Name != c.Name || end.Value != "" || !end.Secure || end.Expires.Year() != 1970 {
		t.Errorf("the end: %+v", end)
	}
}
