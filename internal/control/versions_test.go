package control_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// versionless are the changes that are about no record that a caller could have read:
// the own sessions and password, a set of connections, and cached responses.
var versionless = []string{"/auth/sessions", "/auth/password", "/connections", "/cache"}

// writer is a caller who may do what a line says.
func (l *rightsOf) writer() string {
	if slices.Contains(l.keys, "A") {
		return "admin"
	}
	return "service"
}

// Of every record, whatever its kind, a change that is based on a version that somebody
// else has replaced is refused, one that is based on the present version is made, and so
// is one whose caller names none.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	held := 0
	for _, l := range w.lines {
		if l.method != http.MethodPut && l.method != http.MethodDelete || l.mode != "" ||
			slices.ContainsFunc(versionless, func(part string) bool { return strings.Contains(l.path, part) }) {
			continue
		}
		held++
		if rec := w.based(t, l, `"999999"`); rec.Code != 409 || !strings.Contains(rec.Body.String(), `"path":"If-Match"`) {
			t.Errorf("%s over what somebody else changed: %d %s", l, rec.Code, rec.Body)
		}
		for _, version := range []string{w.version(t, l), "*", ""} {
			if rec := w.based(t, l, version); rec.Code != 200 {
				t.Errorf("%s based on %q: %d %s", l, version, rec.Code, rec.Body)
			}
		}
	}
	if held < 70 {
		t.Errorf("only %d changes were held", held)
	}
}

// based makes the change of a line, based on a version.
func (w *accessWorld) based(t *testing.T, l *rightsOf, version string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	caller, workspaceID := l.writer(), ""
	if caller == "admin" && l.inWorkspace && (l.named || !l.namesRecord()) {
		workspaceID = w.main.ws
	}
	r, rec := w.request(t, caller, l, w.main.ids, workspaceID), httptest.NewRecorder()
	if version != "" {
		r.Header.Set("If-Match", version)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w.admin.Handler().ServeHTTP(rec, r)
	return rec
}

// version is the ETag of the record that a line changes, "*" where it cannot be read.
func (w *accessWorld) version(t *testing.T, l *rightsOf) string {
	t.Helper()
	path, _, _ := strings.Cut(l.path, "?")
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		i := slices.IndexFunc(w.lines, func(one *rightsOf) bool { return one.method == http.MethodGet && one.path == path })
		if i < 0 {
			continue
		}
		if rec := w.based(t, w.lines[i], ""); rec.Code == 200 && rec.Header().Get("ETag") != "" {
			return rec.Header().Get("ETag")
		}
	}
	t.Logf("%s: nothing says which version it is", l)
	return "*"
}
