package control_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
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

// Guesses in parallel from one address are refused when too many wait, whether or not it
// failed before, and do not keep a correct password from another slow address waiting. The
// acceptance of invitations is apart from logins.
func TestParallelGuessesDelayNoOtherAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "ada@acme.example", "member", "")
	post := func(path, from, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.RemoteAddr = from + ":40000"
		rec := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(rec, r)
		return rec
	}
	guess := func(from string, i int) *httptest.ResponseRecorder {
		return post("/v1/auth/login", from, fmt.Sprintf(`{"email":"u%d@acme.example","password":"s3cr3t-guess-1"}`, i))
	}
	for i := range 10 {
		guess("198.51.100.9", i)
	}
	const guesses = 60
	for _, from := range []string{"198.51.100.9", "198.51.100.10"} { // slow already, and not yet
		answers := make(chan *httptest.ResponseRecorder, guesses)
		for i := range guesses {
			go func() { answers <- guess(from, 100+i) }()
		}
		refused := 0
		for range guesses {
			if a := <-answers; a.Code == http.StatusTooManyRequests {
				if refused++; a.Header().Get("Retry-After") == "" {
					t.Errorf("%s: refused without Retry-After: %s", from, a.Body)
				}
			} else if a.Code != http.StatusUnauthorized {
				t.Errorf("%s: a guess: %d %s", from, a.Code, a.Body)
			}
		}
		if refused < guesses/3 {
			t.Errorf("%s: %d of %d parallel guesses are refused", from, refused, guesses)
		}
		if code := post("/v1/auth/login", from, `{"email":"ada@acme.example","password":"correct horse battery"}`).Code; code != http.StatusOK {
			t.Errorf("%s: a correct password after them: %d", from, code)
		}
	}
	if code := post("/v1/admin/users/invites/guess/accept", "198.51.100.9", `{"password":"s3cr3t-guess-1"}`).Code; code != http.StatusNotFound {
		t.Errorf("an invitation: %d", code)
	}
}
