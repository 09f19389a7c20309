package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
)

// TestSlugsCollideWithinAnOrganisationAlone: no slug of another organisation is refused. One
// of another workspace is refused where the contract makes slugs unique in the organisation,
// and then with the slug as it was sent and nothing of the other record.
func TestSlugsCollideWithinAnOrganisationAlone(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	seen := 0
	for _, l := range w.lines {
		op := w.describe.find(httptest.NewRequest(l.method, "/v1"+l.path, http.NoBody))
		if l.makes == "" || op == nil || op.RequestBody == nil || l.named {
			continue
		}
		body := op.RequestBody.Value.Content.Get("application/json").Schema.Value
		kind, _, _ := strings.Cut(l.makes, " ")
		if body.Properties["slug"] == nil || w.slugs[w.otherOrg.ids[kind]] == "" {
			continue
		}
		seen++
		with := *l
		send := func(slug string) *httptest.ResponseRecorder {
			with.body = `{"slug":"` + slug + `",` + strings.Replace(l.body[1:], `,"slug":"vk-{n}"`, "", 1)
			return w.ask(t, "admin", &with, w.main, true)
		}
		if rec := send(w.slugs[w.otherOrg.ids[kind]]); rec.Code != 200 {
			t.Errorf("%s with the slug of another organisation: %d %s", l, rec.Code, rec.Body)
		}
		w.checkTaken(t, l, kind, send)
	}
	if seen < 8 {
		t.Errorf("%d kinds have slugs", seen)
	}
}

// checkTaken sends the slug that a record of the other workspace has.
func (w *accessWorld) checkTaken(t *testing.T, l *rightsOf, kind string, send func(slug string) *httptest.ResponseRecorder) {
	t.Helper()
	id := w.second.ids[kind]
	slug := w.slugs[id]
	rec := send(slug)
	perPlace := kind == "provider" || kind == "virtualkey" // Source: contract/identity-and-governance.yaml, ProviderIn.slug
	if perPlace != (rec.Code == 200) {
		t.Errorf("%s with the slug of another workspace: %d %s", l, rec.Code, rec.Body)
	}
	if text := rec.Body.String(); rec.Code != 200 && (!strings.Contains(text, `has the slug \"`+slug+`\"`) || strings.Contains(text, id) || strings.Contains(text, w.second.ws)) {
		t.Errorf("%s with the slug of another workspace: %d %s", l, rec.Code, text)
	}
}
