package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An Admin key is for the administration alone, and is answered in its words everywhere.
func TestUnknownPathsOfAdminKeysOutsideVersions(t *testing.T) {
	t.Parallel()
	a, first := opened(t, freshSettings(t))
	r := a.newRouter()
	for _, path := range []string{"/nothing", "/v3/configs", "/v1/nothing", "/v1/nothing/at/all"} {
		for _, lines := range [][]string{{"x-gateway-api-key: " + first.Admin}, {"authorization: Bearer " + first.Admin}} {
			req := httptest.NewRequest("POST", path, nil)
			name, value, _ := strings.Cut(lines[0], ": ")
			req.Header.Set(name, value)
			w := httptest.NewRecorder()
			r.ServeHTTP(w, req)
			var body struct {
				Data struct{ Message, ErrorCode string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); w.Code != http.StatusNotFound || err != nil || body.Data.ErrorCode != "AB08" || body.Data.Message == "" {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	}
	req := httptest.NewRequest("POST", "/nothing", nil)
	req.Header.Set("x-gateway-api-key", first.Workspace)
	w := httptest.NewRecorder()
	if r.ServeHTTP(w, req); w.Code != 404 || strings.Contains(w.Body.String(), "AB08") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
