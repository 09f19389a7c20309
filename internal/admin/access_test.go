package admin_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/internal/access"
	"sluice/internal/ident"
	"sluice/internal/store"
	"sluice/internal/store/storetest"
)

// caller is a principal of the matrix, in the words of the table.
type caller struct {
	name   string
	key    string // A, S or U; empty for a session
	person string // what the user of a session or user key is; empty for other keys
	away   bool   // of the other organisation
}

// callers hold everything that their kind can hold.
var callers = []caller{
	{name: "owner-session", person: "OO"}, {name: "orgadmin-session", person: "OA"}, {name: "wsadmin-session", person: "WA"},
	{name: "manager-session", person: "WM"}, {name: "member-session", person: "WU"}, {name: "outsider-session", person: "OM"},
	{name: "admin", key: "A"}, {name: "service", key: "S"},
	{name: "user", key: "U", person: "OO"}, {name: "wsadmin-key", key: "U", person: "WA"}, {name: "manager-key", key: "U", person: "WM"},
	{name: "member-key", key: "U", person: "WU"}, {name: "outsider-key", key: "U", person: "OM"},
	{name: "other-owner-session", person: "OO", away: true}, {name: "other-member-session", person: "WU", away: true}, {name: "other-outsider-session", person: "OM", away: true},
	{name: "other-admin", key: "A", away: true}, {name: "other-service", key: "S", away: true}, {name: "other-member-key", key: "U", person: "WU", away: true},
}

// strangers are known to nobody, or not any more.
var strangers = []string{
	"nobody", "unknown", "session-over", "admin-expired", "service-expired", "member-expired", "admin-revoked", "service-revoked", "member-revoked",
}

// may is what the table says of a caller in a place.
func (l *rightsOf) may(c caller, w *accessWorld, at *site) bool {
	switch {
	case l.keyed && c.key == "", c.away != (at == w.away), c.key != "" && !slices.Contains(l.keys, c.key), c.person != "" && !slices.Contains(l.people, c.person):
		return false
	case c.key == "A", c.key == "" && (c.person == "OO" || c.person == "OA"), !l.inPlace:
		return true
	}
	return at != w.second
}

// TestAccess plays every line of the table as every caller, in the own workspace, in
// another one and in another organisation.
func TestAccess(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) store.Settings{
		"sqlite": storetest.SQLite, "postgres": storetest.Postgres, "mysql": storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAccessWorld(t, storetest.Open(t, settings(t)))
			t.Run("callers", func(t *testing.T) {
				for _, c := range callers {
					t.Run(c.name, func(t *testing.T) {
						t.Parallel()
						for _, l := range w.lines {
							w.hold(t, c, l)
						}
					})
				}
				t.Run("strangers", func(t *testing.T) { t.Parallel(); w.refuseStrangers(t) })
				t.Run("scopes", func(t *testing.T) { t.Parallel(); w.holdScopes(t) })
			})
		})
	}
}

// hold plays one line as one caller in all places.
func (w *accessWorld) hold(t *testing.T, c caller, l *rightsOf) {
	t.Helper()
	if l.mode != "" {
		w.holdMode(t, c, l)
		return
	}
	for _, at := range []*site{w.main, w.second, w.away} {
		locked, home := c.key == "S" || c.key == "U", c.away == (at == w.away)
		if at == w.second && !l.inPlace || !l.inPlace && !home && !l.namesOrganisation() || l.unlocked && locked {
			continue
		}
		rec := w.ask(t, c.name, l, at, !locked || !home || at == w.second)
		w.judge(t, c, l, at, rec)
	}
	if l.namesRecord() && !l.named && !strings.Contains(l.path, "<ws>") {
		w.guess(t, c, l)
	}
	if l.inPlace && !c.away && c.key != "A" && (c.key != "" || c.person != "OO" && c.person != "OA") {
		w.guessPlace(t, c, l)
	}
}

// judge holds an answer against the table, and looks for what it must not show.
func (w *accessWorld) judge(t *testing.T, c caller, l *rightsOf, at *site, rec *httptest.ResponseRecorder) {
	t.Helper()
	elsewhere := c.away != (at == w.away) || at == w.second
	switch may := l.may(c, w, at); {
	case may && rec.Code != 200:
		t.Errorf("%s of %s is allowed, and answered with %d: %s", l, at.name, rec.Code, rec.Body)
	case may:
	case rec.Code == 404 && (elsewhere || strings.Contains(l.path, "/logs/exports/<")), rec.Code == 403:
	default:
		t.Errorf("%s of %s is refused, and answered with %d: %.300s", l, at.name, rec.Code, rec.Body)
	}
	if rec.Code == 200 && l.method == "GET" {
		w.leaks(t, c, l, at, rec.Body.String())
	}
}

// leaks fails when an answer holds an id of a place that the caller does not see.
func (w *accessWorld) leaks(t *testing.T, c caller, l *rightsOf, at *site, body string) {
	t.Helper()
	hidden := []*site{w.away}
	if c.away {
		hidden = []*site{w.main, w.second}
	} else if c.key != "A" && (c.person != "OO" && c.person != "OA" || c.key != "") {
		hidden = append(hidden, w.second)
	}
	if c.person == "OM" && !c.away {
		hidden = append(hidden, w.main)
	}
	for _, of := range hidden {
		for name, id := range of.ids {
			own := of == w.second && w.main.ids[name] == id
			common := c.person == "OM" && slices.Contains([]string{"org", "outsider"}, name)
			if id != "" && !own && !common && len(id) == 36 && strings.Contains(body, id) {
				t.Errorf("%s of %s shows the %s of %s: %.300s", l, at.name, name, of.name, body)
			}
		}
	}
}

// guess: what is in another organisation is answered like what exists nowhere.
func (w *accessWorld) guess(t *testing.T, c caller, l *rightsOf) {
	t.Helper()
	of, home := w.away, w.main
	if c.away {
		of, home = w.main, w.away
	}
	there, nowhere := map[string]string{}, map[string]string{}
	for name, id := range home.ids {
		there[name], nowhere[name] = id, id
		if strings.Contains(l.path, "<"+name+">") {
			there[name], nowhere[name] = of.ids[name], ident.NewID()
		}
	}
	a, b := w.send(t, c.name, l, there, ""), w.send(t, c.name, l, nowhere, "")
	if a.Code != b.Code || a.Body.String() != b.Body.String() || a.Code == 200 {
		t.Errorf("%s tells what exists in another organisation: %d %s, and elsewhere %d %s", l, a.Code, a.Body, b.Code, b.Body)
	}
}

// guessPlace: a workspace of the organisation that is none of the caller's is answered like
// one that does not exist, by its id and by its slug.
func (w *accessWorld) guessPlace(t *testing.T, c caller, l *rightsOf) {
	t.Helper()
	inPath := strings.Contains(l.path, "<ws>")
	if !inPath && l.namesRecord() && !l.named {
		return
	}
	ask := func(place string) *httptest.ResponseRecorder {
		if !inPath {
			return w.send(t, c.name, l, w.main.ids, place)
		}
		ids := maps.Clone(w.main.ids)
		ids["ws"] = place
		return w.send(t, c.name, l, ids, "")
	}
	for there, nowhere := range map[string]string{w.second.ws: ident.NewID(), "ws-two": "ws-nowhere"} {
		a, b := ask(there), ask(nowhere)
		if a.Code != b.Code || a.Body.String() != b.Body.String() || a.Code == 200 {
			t.Errorf("%s tells that there is the workspace %s: %d %s, and of none %d %s", l, there, a.Code, a.Body, b.Code, b.Body)
		}
	}
}

// holdMode plays what is about the caller alone, or about nobody.
func (w *accessWorld) holdMode(t *testing.T, c caller, l *rightsOf) {
	t.Helper()
	rec := w.send(t, c.name, l, w.main.ids, "")
	refused := rec.Code == 401 || rec.Code == 403
	switch l.mode {
	case "self":
		wrong := c.key == "" && rec.Code == 400 // a password, not the right
		if (c.key != "") != refused && !wrong {
			t.Errorf("%s: %d %s", l, rec.Code, rec.Body)
		}
	case "none":
		if !refused {
			t.Errorf("%s: %d %s", l, rec.Code, rec.Body)
		}
	case "public": // what it asks for instead of a credential is proven elsewhere
	default:
		t.Fatalf("%s: %q is no mode", l, l.mode)
	}
}

// refuseStrangers: without a good credential there is one answer to everything.
func (w *accessWorld) refuseStrangers(t *testing.T) {
	t.Helper()
	for _, name := range strangers {
		for _, l := range w.lines {
			if l.mode == "public" {
				continue
			}
			if rec := w.ask(t, name, l, w.main, true); rec.Code != 401 {
				t.Errorf("%s as %s: %d %s", l, name, rec.Code, rec.Body)
			}
		}
	}
}

// holdScopes: each scope of a line alone lets a key in, and all others together do not.
func (w *accessWorld) holdScopes(t *testing.T) {
	t.Helper()
	of := map[string]access.KeyType{"admin": access.OrganisationService, "service": access.WorkspaceService, "wsadmin-key": access.WorkspaceUser}
	for letter, name := range map[string]string{"A": "admin", "S": "service", "U": "wsadmin-key"} {
		for _, l := range w.lines {
			if !slices.Contains(l.keys, letter) || letter == "U" && !slices.Contains(l.people, "WA") {
				continue
			}
			if rec := w.narrowed(t, name, l, "but "+strings.Join(l.eachScope(), " ")); rec.Code != 403 {
				t.Errorf("%s as %s without %v: %d %s", l, name, l.scopes, rec.Code, rec.Body)
			}
			for _, s := range l.scopes {
				together := strings.Split(s, "+")
				if may, _ := access.MayHold(of[name], together[0]); !may {
					continue
				}
				if rec := w.narrowed(t, name, l, "only "+strings.Join(together, " ")+" "+l.gives()); rec.Code != 200 {
					t.Errorf("%s as %s with %s alone: %d %s", l, name, s, rec.Code, rec.Body)
				}
			}
		}
	}
}
