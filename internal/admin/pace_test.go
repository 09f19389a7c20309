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
	if code := login("198.51.100.1", "another@acme.example"); code != http.StatusTooManyRequests {
		t.Errorf("the eleventh guess from one place: %d", code)
	}
	if code := login("198.51.100.2", "another@acme.example"); code != http.StatusUnauthorized {
		t.Errorf("a guess from another place behind the same proxy: %d", code)
	}
}
