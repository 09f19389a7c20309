package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/store/storetest"
)

// Behind a trusted proxy guesses count for the one who guesses, not for the proxy.
func TestGuessesCountForTheCallerBehindAProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	login := func(from, email string) int {
		r := httptest.NewRequest(http.MethodPost, "/v1/auth/login", strings.NewReader(`{"email":"`+email+`","password":"s3cr3t-guess-1"}`))
		r.RemoteAddr = "203.0.113.7:40000" // the proxy of the world
		r.Header.Set("X-Forwarded-For", from)
		rec := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(rec, r)
		return rec.Code
	}
	for i := range 10 {
		if code := login("198.51.100.1", fmt.Sprintf("u%d@acme.example", i)); code != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i, code)
		}
	}
	if code := login("198.51.100.1", "another@acme.example"); code != http.StatusUnauthorized {
		t.Errorf("the eleventh guess from one place, at another account: %d", code)
	}
	for range 10 {
		login("198.51.100.1", "ada@acme.example")
	}
	if code := login("198.51.100.1", "ada@acme.example"); code != http.StatusTooManyRequests {
		t.Errorf("the eleventh guess at one account from one place: %d", code)
	}
	if code := login("198.51.100.2", "ada@acme.example"); code != http.StatusUnauthorized {
		t.Errorf("a guess from another place behind the same proxy: %d", code)
	}
}

// Failed logins from an address that many share, as behind a proxy that is not listed, keep
// nobody out who knows their password.
func TestFailuresOfAnAddressLockNobodyOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	login := func(email, password string) int {
		return w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"`+email+`","password":"`+password+`"}`).Code
	}
	for i := range 25 {
		if code := login(fmt.Sprintf("u%d@acme.example", i), "s3cr3t-guess-1"); code != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i, code)
		}
	}
	if code := login("ada@acme.example", "correct horse battery"); code != http.StatusOK {
		t.Errorf("a correct password: %d", code)
	}
}

// Who has a network of IPv6 has as many addresses as they like, and is one guesser.
func TestGuessesCountForANetworkOfIPv6(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	post := func(path, from, body string) int {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.RemoteAddr = "[" + from + "]:40000"
		rec := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(rec, r)
		return rec.Code
	}
	for _, guess := range []struct {
		name  string
		code  int
		last  int // of the eleventh
		guess func(i int, from string) int
	}{
		{"passwords", http.StatusUnauthorized, http.StatusTooManyRequests, func(_ int, from string) int {
			return post("/v1/auth/login", from, `{"email":"u@acme.example","password":"s3cr3t-guess-1"}`)
		}},
		{"invitations", http.StatusNotFound, http.StatusNotFound, func(i int, from string) int {
			return post(fmt.Sprintf("/v1/admin/users/invites/guess%d/accept", i), from, `{"password":"s3cr3t-guess-1"}`)
		}},
	} {
		for i := range 10 {
			if code := guess.guess(i, fmt.Sprintf("2001:db8:1:2::%x", i+1)); code != guess.code {
				t.Fatalf("%s: guess %d: %d", guess.name, i, code)
			}
		}
		if code := guess.guess(10, "2001:db8:1:2:ffff::1"); code != guess.last {
			t.Errorf("%s: the eleventh guess from one network: %d", guess.name, code)
		}
		if code := guess.guess(11, "2001:db8:1:3::1"); code != guess.code {
			t.Errorf("%s: a guess from another network: %d", guess.name, code)
		}
	}
}
