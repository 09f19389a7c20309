package control_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// caller is a principal of the matrix, in the words of the table.
type caller struct {
	name     string
	key      string // A, S or U; empty for a session
	person   string // what the user of a session or user key is; empty for other keys
	otherOrg bool   // of the other organisation
}

// callers hold everything that their kind can hold.
var callers = []caller{
	{name: "owner-session", person: "OO"}, {name: "orgadmin-session", person: "OA"}, {name: "wsadmin-session", person: "WA"},
	{name: "manager-session", person: "WM"}, {name: "member-session", person: "WU"}, {name: "outsider-session", person: "OM"},
	{name: "admin", key: "A"}, {name: "service", key: "S"},
	{name: "user", key: "U", person: "OO"}, {name: "wsadmin-key", key: "U", person: "WA"}, {name: "manager-key", key: "U", person: "WM"},
	{name: "member-key", key: "U", person: "WU"}, {name: "outsider-key", key: "U", person: "OM"},
	{name: "other-owner-session", person: "OO", otherOrg: true}, {name: "other-member-session", person: "WU", otherOrg: true}, {name: "other-outsider-session", person: "OM", otherOrg: true},
	{name: "other-admin", key: "A", otherOrg: true}, {name: "other-service", key: "S", otherOrg: true}, {name: "other-member-key", key: "U", person: "WU", otherOrg: true},
}

// strangers are known to nobody, or not any more.
var strangers = []string{
	"nobody", "unknown", "session-over", "admin-expired", "service-expired", "member-expired", "admin-revoked", "service-revoked", "member-revoked",
}

// may is what the table says of a caller in a place.
func (l *rightsOf) may(c caller, w *accessWorld, target *site) bool {
	switch {
	case l.keyed && c.key == "", c.otherOrg != (target == w.otherOrg), c.key != "" && !slices.Contains(l.keys, c.key), c.person != "" && !slices.Contains(l.people, c.person):
		return false
	case c.key == "A", c.key == "" && (c.person == "OO" || c.person == "OA"), !l.inWorkspace:
		return true
	}
	return target != w.second
}

// TestAccess plays every line of the table as every caller, in the own workspace, in
// another one and in another organisation.
func TestAccess(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
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
	for _, target := range []*site{w.main, w.second, w.otherOrg} {
		locked, local := c.key == "S" || c.key == "U", c.otherOrg == (target == w.otherOrg)
		if target == w.second && !l.inWorkspace || !l.inWorkspace && !local && !l.namesOrganisation() || l.unlocked && locked {
			continue
		}
		rec := w.ask(t, c.name, l, target, !locked || !local || target == w.second)
		w.judge(t, c, l, target, rec)
	}
	for _, other := range w.unseen(c) {
		if l.namesRecord() && !l.named && !strings.Contains(l.path, "<ws>") {
			w.guess(t, c, l, other)
		}
		w.guessReferences(t, c, l, other)
	}
	if l.inWorkspace && !c.otherOrg && c.key != "A" && (c.key != "" || c.person != "OO" && c.person != "OA") {
		w.guessWorkspace(t, c, l)
	}
}

// judge holds an answer against the table, and looks for what it must not show.
func (w *accessWorld) judge(t *testing.T, c caller, l *rightsOf, target *site, rec *httptest.ResponseRecorder) {
	t.Helper()
	elsewhere := c.otherOrg != (target == w.otherOrg) || target == w.second
	switch may := l.may(c, w, target); {
	case may && !isAllowed(rec):
		t.Errorf("%s of %s is allowed, and answered with %d: %s", l, target.name, rec.Code, rec.Body)
	case may:
	case isMissing(rec) && (elsewhere || l.namesRecord() && !w.reads(c, l, target)):
	case rec.Code == 403 && (!elsewhere || !w.mayAtCallerSite(c, l)): // it may be read, or the caller may do this nowhere
	default:
		t.Errorf("%s of %s is refused, and answered with %d: %.300s", l, target.name, rec.Code, rec.Body)
	}
	if rec.Code == 200 && l.method == "GET" {
		w.leaks(t, c, l, target, rec.Body.String())
	}
}

// leaks fails when an answer holds an id of a place that the caller does not see.
func (w *accessWorld) leaks(t *testing.T, c caller, l *rightsOf, target *site, body string) {
	t.Helper()
	hidden := []*site{w.otherOrg}
	if c.otherOrg {
		hidden = []*site{w.main, w.second}
	} else if c.key != "A" && (c.person != "OO" && c.person != "OA" || c.key != "") {
		hidden = append(hidden, w.second)
	}
	if c.person == "OM" && !c.otherOrg {
		hidden = append(hidden, w.main)
	}
	for _, other := range hidden {
		for name, id := range other.ids {
			visible := other == w.second && w.main.ids[name] == id
			common := c.person == "OM" && slices.Contains([]string{"org", "outsider"}, name)
			if id != "" && !visible && !common && len(id) == 36 && strings.Contains(body, id) {
				t.Errorf("%s of %s shows the %s of %s: %.300s", l, target.name, name, other.name, body)
			}
		}
	}
}

// callerSite is the place that a caller belongs to.
func (w *accessWorld) callerSite(c caller) *site {
	if c.otherOrg {
		return w.otherOrg
	}
	return w.main
}

// reads reports whether the table lets a caller read the record that a line names.
func (w *accessWorld) reads(c caller, l *rightsOf, target *site) bool {
	record := l.path[:strings.LastIndexByte(l.path, '>')+1]
	return slices.ContainsFunc(w.lines, func(r *rightsOf) bool { return r.method == "GET" && r.path == record && r.may(c, w, target) })
}

// unseen are the places whose records a caller cannot read.
func (w *accessWorld) unseen(c caller) []*site {
	switch {
	case c.otherOrg:
		return []*site{w.main, w.second}
	case c.key == "A", c.key == "" && (c.person == "OO" || c.person == "OA"):
		return []*site{w.otherOrg}
	}
	return []*site{w.otherOrg, w.second}
}

// mayAtCallerSite reports whether the table lets a caller play a line where they belong.
func (w *accessWorld) mayAtCallerSite(c caller, l *rightsOf) bool {
	return l.may(c, w, w.callerSite(c))
}

// isAllowed reports whether a caller was let in: 501 refuses what does not run yet.
func isAllowed(rec *httptest.ResponseRecorder) bool { return rec.Code == 200 || rec.Code == 501 }

// isMissing reports whether an answer is the one for what does not exist.
func isMissing(rec *httptest.ResponseRecorder) bool {
	return rec.Code == 404 && strings.Contains(rec.Body.String(), `"AB08"`)
}

// guessReferences: an id in a body or query that names a record of another place is
// answered like one that exists nowhere.
func (w *accessWorld) guessReferences(t *testing.T, c caller, l *rightsOf, other *site) {
	t.Helper()
	local := w.callerSite(c)
	workspaceID := map[bool]string{true: local.ws}[l.inWorkspace && (l.named || !l.namesRecord()) && c.key != "S" && c.key != "U"]
	for name, id := range other.ids {
		if !strings.Contains(l.body, "<"+name+">") || strings.Contains(l.path, "<"+name+">") || local.ids[name] == id || id == "" || len(id) != 36 {
			continue
		}
		there, nowhere := maps.Clone(local.ids), maps.Clone(local.ids)
		there[name], nowhere[name] = id, ident.NewID()
		if name == "org" {
			there["org"], nowhere["org"] = other.org, ident.NewID()
		}
		a, b := w.send(t, c.name, l, there, workspaceID), w.send(t, c.name, l, nowhere, workspaceID)
		if a.Code != b.Code || a.Body.String() != b.Body.String() {
			t.Errorf("%s reveals the %s of %s: %d %s, and elsewhere %d %s", l, name, other.name, a.Code, a.Body, b.Code, b.Body)
		}
		if w.mayAtCallerSite(c, l) && !isMissing(a) {
			t.Errorf("%s with the %s of %s: %d %s", l, name, other.name, a.Code, a.Body)
		}
	}
}

// guess: what a caller cannot read is answered like what exists nowhere.
func (w *accessWorld) guess(t *testing.T, c caller, l *rightsOf, other *site) {
	t.Helper()
	local := w.callerSite(c)
	var names []string
	there, nowhere := maps.Clone(local.ids), maps.Clone(local.ids)
	for name, id := range local.ids {
		if strings.Contains(l.path, "<"+name+">") && other.ids[name] != id {
			there[name], nowhere[name] = other.ids[name], ident.NewID()
			names = append(names, name)
		}
	}
	if len(names) == 0 { // a record of the organisation, which both have
		return
	}
	w.checkSameResponse(t, c, l, other, there, nowhere, true)
	for _, name := range names {
		there, nowhere := maps.Clone(local.ids), maps.Clone(local.ids)
		if slug := w.slugs[other.ids[name]]; slug != "" {
			there[name], nowhere[name] = slug, "nowhere-"+slug
			w.checkSameResponse(t, c, l, other, there, nowhere, false)
		}
		if len(names) > 1 {
			there[name], nowhere[name] = other.ids[name], ident.NewID()
			w.checkSameResponse(t, c, l, other, there, nowhere, true)
		}
	}
}

// checkSameResponse holds that a line is answered alike with the ids of what is in another place
// and with those of what is nowhere; byID says that they are ids, not slugs, which some
// routes do not take.
func (w *accessWorld) checkSameResponse(t *testing.T, c caller, l *rightsOf, other *site, there, nowhere map[string]string, byID bool) {
	t.Helper()
	a, b := w.send(t, c.name, l, there, ""), w.send(t, c.name, l, nowhere, "")
	if a.Code != b.Code || a.Body.String() != b.Body.String() || a.Code == 200 {
		t.Errorf("%s reveals what %s has: %d %s, and elsewhere %d %s", l, other.name, a.Code, a.Body, b.Code, b.Body)
	}
	if w.mayAtCallerSite(c, l) && !isMissing(a) && (byID || a.Code != 400) {
		t.Errorf("%s of %s: %d %s", l, other.name, a.Code, a.Body)
	}
}

// guessWorkspace: a workspace of the organisation that is none of the caller's is answered like
// one that does not exist, by its id and by its slug.
func (w *accessWorld) guessWorkspace(t *testing.T, c caller, l *rightsOf) {
	t.Helper()
	inPath := strings.Contains(l.path, "<ws>")
	if !inPath && l.namesRecord() && !l.named {
		return
	}
	ask := func(workspaceID string) *httptest.ResponseRecorder {
		if !inPath {
			return w.send(t, c.name, l, w.main.ids, workspaceID)
		}
		ids := maps.Clone(w.main.ids)
		ids["ws"] = workspaceID
		return w.send(t, c.name, l, ids, "")
	}
	for there, nowhere := range map[string]string{w.second.ws: ident.NewID(), "ws-two": "ws-nowhere"} {
		a, b := ask(there), ask(nowhere)
		if a.Code != b.Code || a.Body.String() != b.Body.String() || a.Code == 200 {
			t.Errorf("%s tells that there is the workspace %s: %d %s, and of none %d %s", l, there, a.Code, a.Body, b.Code, b.Body)
		}
		if w.mayAtCallerSite(c, l) && !isMissing(a) {
			t.Errorf("%s of the workspace %s: %d %s", l, there, a.Code, a.Body)
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
	case "anyone":
		if rec.Code != 200 {
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
	other := map[string]access.KeyType{"admin": access.OrganisationService, "service": access.WorkspaceService, "wsadmin-key": access.WorkspaceUser}
	for letter, name := range map[string]string{"A": "admin", "S": "service", "U": "wsadmin-key"} {
		for _, l := range w.lines {
			if !slices.Contains(l.keys, letter) || letter == "U" && !slices.Contains(l.people, "WA") {
				continue
			}
			if rec := w.narrowed(t, name, l, "but "+strings.Join(l.eachScope(), " ")); rec.Code != 403 && (!l.namesRecord() || !isMissing(rec)) {
				t.Errorf("%s as %s without %v: %d %s", l, name, l.scopes, rec.Code, rec.Body)
			}
			for _, s := range l.scopes {
				together := strings.Split(s, "+")
				if may, _ := access.MayHold(other[name], together[0]); !may {
					continue
				}
				if rec := w.narrowed(t, name, l, "only "+strings.Join(together, " ")+" "+l.gives()); !isAllowed(rec) {
					t.Errorf("%s as %s with %s alone: %d %s", l, name, s, rec.Code, rec.Body)
				}
			}
		}
	}
}

// TestFiltersRevealNoRecordsOfOthers: a query parameter that names a record which the
// caller cannot see is answered like one that names nothing.
func TestFiltersRevealNoRecordsOfOthers(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, c := range callers {
		if c.name != "admin" && c.name != "service" && c.name != "manager-session" {
			continue
		}
		for _, l := range w.lines {
			if l.method != "GET" || !w.mayAtCallerSite(c, l) || strings.Contains(l.path, "stream") {
				continue
			}
			for _, name := range w.filters(l) {
				w.guessFilter(t, c, l, name)
			}
		}
	}
}

// filters are the query parameters of a line that may name a record.
func (w *accessWorld) filters(l *rightsOf) (names []string) {
	path, _, _ := strings.Cut(l.path, "?")
	for name, id := range w.main.ids {
		path = strings.ReplaceAll(path, "<"+name+">", id)
	}
	op := w.describe.find(httptest.NewRequest("GET", "/v1"+path, http.NoBody))
	if op == nil {
		return nil
	}
	for _, p := range op.Parameters {
		for _, end := range []string{"id", "ids", "slug", "slugs", "label", "config", "_by", "prompt"} {
			if p.Value.In == "query" && strings.HasSuffix(p.Value.Name, end) {
				names = append(names, p.Value.Name)
				break
			}
		}
	}
	return names
}

// namedBy are the records of the table that a query parameter may name.
func namedBy(param string) []string {
	for stem, names := range map[string][]string{
		"workspace": {"ws"}, "collection": {"collection", "folder"}, "integration": {"integration", "tools", "agent", "shared"}, "key": {"servicekey", "userkey", "virtualkey"},
		"user": {"member", "mate"}, "_by": {"member"}, "config": {"config"}, "prompt": {"prompt", "version", "partial"}, "label": {"label"}, "organisation": {"org"},
	} {
		if strings.Contains(param, stem) {
			return names
		}
	}
	return []string{"log", "config", "provider", "rate"}
}

// guessFilter sends the ids and slugs of all that the caller cannot see in one parameter.
func (w *accessWorld) guessFilter(t *testing.T, c caller, l *rightsOf, param string) {
	t.Helper()
	ask := func(value string) string {
		q := *l
		q.path += map[bool]string{true: "&", false: "?"}[strings.Contains(l.path, "?")] + param + "=" + value
		workspaceID := ""
		if l.inWorkspace && (l.named || !l.namesRecord()) && !strings.HasPrefix(param, "workspace_") && c.key != "S" && c.key != "U" {
			workspaceID = w.callerSite(c).ws
		}
		rec := w.send(t, c.name, &q, w.callerSite(c).ids, workspaceID)
		return strings.ReplaceAll(rec.Result().Status+" "+rec.Body.String(), value, "VALUE")
	}
	id, slug := ask(ident.NewID()), ask("nowhere-at-all")
	for _, other := range w.unseen(c) {
		for _, name := range namedBy(param) {
			there, visible := other.ids[name], w.callerSite(c).ids[name]
			if len(there) != 36 || visible == there {
				continue
			}
			if got := ask(there); got != id {
				t.Errorf("%s?%s with the %s of %s: %.300s, and elsewhere %.300s", l, param, name, other.name, got, id)
			}
			if s := w.slugs[there]; s != "" && s != w.slugs[visible] {
				if got := ask(s); got != slug {
					t.Errorf("%s?%s with the slug %s of %s: %.300s, and elsewhere %.300s", l, param, s, other.name, got, slug)
				}
			}
		}
	}
}
