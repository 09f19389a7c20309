package admin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/store/storetest"
)

var inline = regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</`)

// The page of the description runs its own script and no other, and nobody frames it.
func TestThePolicyOfTheDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/docs", nil))
	policy := rec.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") {
		t.Errorf("anything may run: %s", policy)
	}
	for _, must := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, must) {
			t.Errorf("%s lacks %s", policy, must)
		}
	}
	elements := inline.FindAllStringSubmatch(rec.Body.String(), -1)
	if len(elements) != 2 {
		t.Fatalf("%d scripts and styles", len(elements))
	}
	for _, e := range elements {
		sum := sha256.Sum256([]byte(e[2]))
		if must := e[1] + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, must) {
			t.Errorf("%s lacks %s", policy, must)
		}
	}
}
