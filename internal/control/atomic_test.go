package control_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/storage/sqlstore/storetest"
)

// Whatever is changed, the change and its row in the audit trail are one transaction; and
// wherever that breaks off, nothing is left of either but the row of the refusal.
func TestChangeAndTrailAreOne(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	var watched *watch
	w := newAccessWorldOn(t, st, func(s resource.Store) resource.Store {
		watched = &watch{Store: s, st: st}
		return watched
	})
	held := 0
	for _, l := range w.lines {
		if l.method == http.MethodGet || l.mode != "" || !w.audited(l) {
			continue
		}
		watched.reset(0)
		rec := w.based(t, l, "")
		if l.path == "/agent-integrations" && len(watched.done) == 2 {
			watched.done = watched.done[:1] // the card that was fetched behind it is kept apart
		}
		if rec.Code != 200 || len(watched.done) != 1 || len(watched.done[0].audits) != 1 || watched.done[0].audits[0].Status != 200 {
			t.Errorf("%s: %d %.200s, written: %+v", l, rec.Code, rec.Body, watched.done)
			continue
		}
		held++
		all := watched.done[0].changes + 1
		for n := 1; n <= all; n++ {
			watched.reset(n)
			rec := w.based(t, l, "")
			refused := len(watched.done) == 1 && watched.done[0].changes == 0 && len(watched.done[0].audits) == 1 && watched.done[0].audits[0].Status == 500
			if rec.Code != 500 || !refused {
				t.Errorf("%s broken at write %d of %d: %d %.200s, written: %+v", l, n, all, rec.Code, rec.Body, watched.done)
			}
		}
	}
	if held < 90 {
		t.Errorf("only %d operations were held", held)
	}
}

// unaudited are the operations that leave no row: they are traffic, change nothing, or are
// refused until SCIM runs.
var unaudited = []string{"/scim-token", "/feedback", "/logs", "/render", "/test", "/fetch-agent-card", "/dry-run"}

// audited reports whether the operation of a line leaves a row in the trail.
func (w *accessWorld) audited(l *rightsOf) bool {
	return strings.HasPrefix(l.path, "/logs/exports") || !slices.ContainsFunc(unaudited, func(part string) bool {
		return strings.HasPrefix(l.path, part) || strings.HasSuffix(l.path, part)
	})
}

// What time does is done once, with its mails and its row in the trail, however often the
// database breaks under it, and wherever.
func TestJobsBreakOff(t *testing.T) {
	t.Parallel()
	w := newAgeing(t, storetest.Open(t, storetest.SQLite(t)))
	key := w.call(t, "service", "POST", "/v1/api-keys/workspace/service", `{"name": "Search", "scopes": ["configs.list"], "expires_at": "2026-12-10T00:00:00Z",
		"usage_limits": {"credit_limit": 10, "periodic_reset": "weekly"}, "rotation_policy": {"next_rotation_at": "2026-11-23T00:00:00Z"}}`)["id"].(string)
	w.call(t, "service", "POST", "/v1/integrations", `{"name": "Groq", "slug": "groq-main", "ai_provider_id": "groq", "key": "gsk-s3cr3t-0123456789", "create_default_provider": false}`)
	provider := w.call(t, "service", "POST", "/v1/providers", `{"name": "Short", "slug": "short", "integration_id": "groq-main", "expires_at": "2026-11-20T11:00:00Z"}`)["id"].(string)
	invite := w.call(t, "admin", "POST", "/v1/admin/users/invites", `{"email": "new@acme.example", "role": "member"}`)["id"].(string)
	for id, name := range map[string]string{key: "search", provider: "short", invite: "invitation"} {
		w.names.learn(name, id)
	}
	w.use(t, key+" 12000000000")
	for _, step := range []struct{ when, job, deed, mail string }{
		{"2026-11-20T11:00:00Z", "providers", "expire providers short", "virtualkey-expired-alert"},
		{"2026-11-20T11:00:00Z", "budgets", "exhaust api_keys search", "apikey-usage-exhausted-alert"},
		{"2026-11-23T00:00:00Z", "budgets", "reset api_keys search", ""},
		{"2026-11-23T00:00:00Z", "keys", "rotate api_keys search", "apikey-rotated"},
		{"2026-11-23T00:30:00Z", "keys", "end_transition api_keys search", ""},
		{"2026-12-10T00:00:00Z", "invites", "expire user_invites invitation", ""},
		{"2026-12-10T00:00:00Z", "keys", "expire api_keys search", "apikey-expired-alert"},
	} {
		w.to(t, step.when)
		before, mails := w.deeds(t), w.posted(t)
		broken := w.breakOff(t, step.job)
		deeds, posted := w.deeds(t), w.posted(t)
		if len(deeds) != len(before)+1 || !strings.HasPrefix(deeds[len(deeds)-1], step.deed+" ") || broken < 2 {
			t.Errorf("%s, broken off %d times, left %q", step.deed, broken, deeds[len(before):])
		}
		if want := map[bool]int{true: 1}[step.mail != ""]; len(posted)-len(mails) != want || want == 1 && !strings.HasPrefix(posted[len(mails)], step.mail) {
			t.Errorf("%s posted %q", step.deed, posted[len(mails):])
		}
	}
}

// breakOff runs a job again and again until nothing breaks, each time broken off one write
// later, and returns how often it was. A run that is broken off leaves nothing.
func (w *ageing) breakOff(t *testing.T, name string) int {
	t.Helper()
	defer w.watch.reset(0)
	for n := 1; ; n++ {
		w.watch.reset(n)
		err := w.job(t, name).Run(t.Context(), w.now)
		if w.watch.writes < n {
			if err != nil {
				t.Fatal(err)
			}
			return n - 1
		}
		left := slices.ContainsFunc(w.watch.done, func(d written) bool { return d.changes > 0 || len(d.audits) > 0 })
		if !errors.Is(err, errBroken) || left {
			t.Errorf("%s broken at write %d: %v, written: %+v", name, n, err, w.watch.done)
		}
	}
}
