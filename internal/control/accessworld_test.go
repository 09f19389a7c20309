package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/control/upstreams"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/mcp"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

// undone is a store whose transactions do all their work and leave nothing: what the
// callers of the matrix are allowed to do, they do in a world that stays as it is.
type undone struct {
	resource.Store
	off *atomic.Bool // while the world is made
}

var errUndone = errors.New("undone")

func (u undone) InTx(ctx context.Context, f func(resource.Tx) error) error {
	if u.off.Load() {
		return u.Store.InTx(ctx, f)
	}
	err := u.Store.InTx(ctx, func(tx resource.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// site is a place of the matrix: a workspace with its organisation, and the ids of
// what was made there.
type site struct {
	name, org, ws string
	ids           map[string]string
}

// accessWorld is a world in which every line of the table has something to be about,
// in two workspaces of one organisation and in one of another.
type accessWorld struct {
	*world
	lines                  []*rightsOf
	main, second, otherOrg *site
	slugs                  map[string]string // by id
	number                 atomic.Int64
	known                  sync.Map // principals by credential: nothing about them changes
}

// scopesHeader narrows the scopes of a key for one call: "only logs.list" or
// "but logs.list logs.view".
const scopesHeader = "x-test-scopes"

// identify looks every caller up once.
func (w *accessWorld) identify(r *http.Request) (*access.Principal, error) {
	credential := r.Header.Get("x-gateway-api-key") + r.Header.Get("Authorization")
	found, ok := w.known.Load(credential)
	if !ok {
		p, err := w.authenticate(r)
		if err != nil {
			return nil, err
		}
		found, _ = w.known.LoadOrStore(credential, p)
	}
	p, _ := found.(*access.Principal)
	kind, scopes, narrowed := strings.Cut(r.Header.Get(scopesHeader), " ")
	if !narrowed {
		return p, nil
	}
	named := strings.Fields(scopes)
	q := *p
	q.Scopes = access.NewScopes(slices.DeleteFunc(access.Allowed(p.KeyType), func(s string) bool { return slices.Contains(named, s) != (kind == "only") })...)
	return &q, nil
}

func newAccessWorld(t *testing.T, st *sqlstore.Store) *accessWorld {
	t.Helper()
	return newAccessWorldOn(t, st, func(s resource.Store) resource.Store { return s })
}

// newAccessWorldOn makes the world in st, with an administration that works on what wrap
// makes of it.
func newAccessWorldOn(t *testing.T, st *sqlstore.Store, wrap func(resource.Store) resource.Store) *accessWorld {
	t.Helper()
	off := &atomic.Bool{}
	off.Store(true)
	w := &accessWorld{world: newWorldOn(t, st, wrap(undone{st, off}))}
	w.draining.Store(true)
	w.lines = readAccess(t)
	w.main, w.second, w.otherOrg = w.site("main", "", "main"), w.site("second", "", "second"), w.site("away", "other-", "main")
	w.people(t)
	w.orders(t)
	for _, target := range []*site{w.main, w.second, w.otherOrg} {
		for _, l := range w.lines {
			if l.makes != "" && (l.inWorkspace || target != w.second) {
				w.make(t, l, target)
			}
		}
	}
	for name, id := range w.main.ids { // what is the organisation's is the same in both
		if w.second.ids[name] == "" {
			w.second.ids[name] = id
		}
	}
	w.readSlugs(t)
	off.Store(false)
	w.asks = w.identify
	return w
}

// readSlugs notes the slugs of what was made.
func (w *accessWorld) readSlugs(t *testing.T) {
	t.Helper()
	w.slugs = make(map[string]string)
	for _, target := range []*site{w.main, w.second, w.otherOrg} {
		for _, l := range w.lines {
			name := l.path[strings.LastIndexByte(l.path, '/')+1:]
			if l.method != http.MethodGet || !strings.HasPrefix(name, "<") || !slices.Contains(l.keys, "A") {
				continue
			}
			var shown struct {
				Slug string `json:"slug"`
				Data struct {
					Slug string `json:"slug"`
				} `json:"data"`
			}
			rec := w.ask(t, map[*site]string{w.otherOrg: "other-"}[target]+"admin", l, target, true)
			if json.Unmarshal(rec.Body.Bytes(), &shown) == nil && rec.Code == http.StatusOK {
				w.slugs[target.ids[strings.Trim(name, "<>")]] = shown.Slug + shown.Data.Slug
			}
		}
	}
}

func (w *accessWorld) site(name, prefix, ws string) *site {
	s := &site{name: name, org: w.names.values[prefix+"org"], ws: w.names.values[prefix+ws], ids: map[string]string{}}
	s.ids["org"], s.ids["ws"], s.ids["main"], s.ids["log"] = s.org, s.ws, w.names.values[prefix+"main"], w.names.values[prefix+"log1"]
	if ws == "second" {
		s.ids["log"] = w.names.values[prefix+"log3"]
	}
	return s
}

// orders makes a log export in each place that is under way, and one that is done.
func (w *accessWorld) orders(t *testing.T) {
	t.Helper()
	for _, target := range []*site{w.main, w.second, w.otherOrg} {
		for name, state := range map[string]record.ExportState{"running": record.ExportRunning, "done": record.ExportDone} {
			target.ids[name] = ident.NewID()
			e := record.Export{Fields: []string{"id"}, State: state, Run: record.ExportRun{ID: ident.NewID(), Node: w.exports.node, Started: began, Ended: began}}
			w.put(t, resource.Record{Kind: record.ExportKind, ID: target.ids[name], OrgID: target.org, WorkspaceID: target.ws}, e)
			w.exports.writeFile(t, target.ids[name])
		}
	}
}

// people makes users with their sessions and keys: one of each role in the first
// workspace, one who belongs to none, and two to do things to.
func (w *accessWorld) people(t *testing.T) {
	t.Helper()
	for _, target := range []*site{w.main, w.otherOrg} {
		prefix := map[*site]string{w.otherOrg: "other-"}[target]
		w.session(t, prefix+"owner", target.org, w.names.values[prefix+"owner"])
		target.ids["mail"] = ident.NewID()
		w.put(t, resource.Record{Kind: mail.Kind, ID: target.ids["mail"], OrgID: target.org}, mail.Message{Template: "user-invite", To: []string{"guest@acme.example"}})
		for name, role := range map[string]string{"orgadmin": "admin", "wsadmin": "member", "manager": "member", "member": "member", "outsider": "member", "mate": "member", "spare": "member"} {
			target.ids[name] = w.user(t, prefix+name, target.org, access.Role(role))
			w.session(t, prefix+name, target.org, target.ids[name])
		}
		for name, role := range map[string]access.Role{"wsadmin": access.Admin, "manager": access.Manager, "member": access.Member, "mate": access.Member} {
			w.join(t, target, target.ids[name], role)
			w.addKey(t, prefix+name+"-key", access.WorkspaceUser, target.org, target.ws, target.ids[name], nil)
		}
	}
	for _, name := range []string{"member", "mate", "spare", "mail"} {
		w.second.ids[name] = w.main.ids[name]
	}
	mate := w.user(t, "second-mate", w.main.org, access.Member)
	w.second.ids["mate"], w.second.ids["member"] = mate, mate
	w.join(t, w.second, mate, access.Member)
	w.addKey(t, "outsider-key", access.WorkspaceUser, w.main.org, w.main.ws, w.main.ids["outsider"], nil)
	w.spoiled(t)
}

// spoiled makes keys that were good once.
func (w *accessWorld) spoiled(t *testing.T) {
	t.Helper()
	past := began.Add(-time.Hour)
	for _, caller := range []string{"admin", "service", "member"} {
		raw := ident.NewKey("sk-")
		kind, user := access.OrganisationService, ""
		switch caller {
		case "service":
			kind = access.WorkspaceService
		case "member":
			kind, user = access.WorkspaceUser, w.main.ids["member"]
		}
		k := keys.Key{Name: caller, Type: kind, Scopes: access.Allowed(kind), UserID: user, Secret: keys.Secret{Hash: w.hasher.Sum(raw), Masked: keys.Mask(raw)}, CreationMode: "api", ExpiresAt: &past}
		workspaceID := w.main.ws
		if caller == "admin" {
			workspaceID = ""
		}
		w.put(t, resource.Record{Kind: keys.Kind, ID: ident.NewID(), OrgID: w.main.org, WorkspaceID: workspaceID, Name: caller, Index: apikeys.KeyIndex(&k)}, k)
		w.keys[caller+"-expired"] = raw
		w.addKey(t, caller+"-revoked", kind, w.main.org, workspaceID, user, nil)
		id := w.names.values[caller+"-revoked-key"]
		if err := w.store.InTx(t.Context(), func(tx resource.Tx) error {
			r, err := tx.Find(t.Context(), keys.Kind, id)
			if err != nil {
				return err
			}
			r.Status = resource.Archived
			return tx.Update(t.Context(), r)
		}); err != nil {
			t.Fatal(err)
		}
	}
	w.keys["unknown"] = ident.NewKey("sk-")
	w.keys["session-over"] = identity.NewToken()
}

func (w *accessWorld) user(t *testing.T, name, org string, role access.Role) string {
	t.Helper()
	u := tenant.User{Email: name + "@acme.example", Role: role}
	id := w.id(name)
	w.put(t, resource.Record{Kind: tenant.UserKind, ID: id, OrgID: org, Name: u.Email, Index: people.UserIndex(org, &u)}, u)
	return id
}

func (w *accessWorld) session(t *testing.T, name, org, user string) {
	t.Helper()
	token := identity.NewToken()
	s := identity.Session{UserID: user, Began: began, ExpiresAt: began.Add(identity.Life)}
	w.put(t, resource.Record{
		Kind: identity.SessionKind, ID: ident.NewID(), OrgID: org,
		Index: []resource.IndexEntry{{Name: "hash", Value: w.hasher.Sum(token).String(), Unique: true}, {Name: "user", Value: user}},
	}, s)
	w.keys[name+"-session"] = token
}

func (w *accessWorld) join(t *testing.T, target *site, user string, role access.Role) {
	t.Helper()
	w.put(t, resource.Record{Kind: tenant.MemberKind, ID: ident.NewID(), OrgID: target.org, WorkspaceID: target.ws, Index: []resource.IndexEntry{{Name: "user", Value: user}, {Name: "workspace_role", Value: string(role)}}}, tenant.Member{UserID: user, Role: role})
}

// make plays a line that makes something, as somebody who may.
func (w *accessWorld) make(t *testing.T, l *rightsOf, target *site) {
	t.Helper()
	prefix := map[*site]string{w.otherOrg: "other-", w.second: "second-"}[target]
	caller := strings.TrimPrefix(prefix, "second-") + "admin"
	if l.keys[0] != "A" {
		caller = prefix + "service"
	}
	rec := w.ask(t, caller, l, target, true)
	var made struct {
		ID        string   `json:"id"`
		VersionID string   `json:"version_id"`
		Feedback  []string `json:"feedback_ids"`
		Data      struct {
			Slug string `json:"slug"`
		} `json:"data"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &made); rec.Code != 200 || err != nil {
		t.Fatalf("%s in %s: %d %s", l, target.name, rec.Code, rec.Body)
	}
	name, _, _ := strings.Cut(l.makes, " ")
	switch {
	case made.ID != "":
		target.ids[name] = made.ID
	case len(made.Feedback) > 0:
		target.ids[name] = made.Feedback[0]
	case made.Data.Slug != "":
		target.ids[name] = w.virtualKey(t, target, made.Data.Slug)
	}
	if strings.HasSuffix(l.makes, "version") {
		target.ids["version"] = made.VersionID
	}
	switch name {
	case "budget":
		const used = "api_key:somebody"
		w.use(t, made.ID+" 5 "+used)
		target.ids["entity"] = quota.EntryOf(used)
	case "toolserver":
		w.connect(t, target, made.ID, target.ids["member"])
		if target.ids["mate"] != target.ids["member"] {
			w.connect(t, target, made.ID, target.ids["mate"])
		}
	case "room":
		target.ids["room-name"] = "W" + fmt.Sprint(w.number.Load())
	}
}

// connect signs a user in at a tool server.
func (w *accessWorld) connect(t *testing.T, target *site, server, user string) {
	t.Helper()
	c := mcp.Connection{ServerID: server, UserID: user}
	w.put(t, resource.Record{Kind: mcp.ConnectionKind, ID: ident.NewID(), OrgID: target.org, WorkspaceID: target.ws, Index: upstreams.ConnectionIndex(&c)}, c)
}

// virtualKey is the id behind a slug.
func (w *accessWorld) virtualKey(t *testing.T, target *site, slug string) string {
	t.Helper()
	rows, err := w.store.List(t.Context(), resource.Query{Kind: "virtual_key", OrgID: target.org, WorkspaceID: target.ws, Limit: 10})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%s: %d rows, %v", slug, len(rows), err)
	}
	return rows[0].ID
}

// ask plays a line in a place. A caller who belongs to no workspace names it, and with
// named everybody does.
func (w *accessWorld) ask(t *testing.T, caller string, l *rightsOf, target *site, named bool) *httptest.ResponseRecorder {
	t.Helper()
	return w.send(t, caller, l, target.ids, map[bool]string{true: target.ws}[named && l.inWorkspace && (l.named || !l.namesRecord())])
}

// send makes the call of a line, with its ids filled in.
func (w *accessWorld) send(t *testing.T, caller string, l *rightsOf, ids map[string]string, workspaceID string) *httptest.ResponseRecorder {
	t.Helper()
	r := w.request(t, caller, l, ids, workspaceID)
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	return rec
}

func (w *accessWorld) request(t *testing.T, caller string, l *rightsOf, ids map[string]string, workspaceID string) *http.Request {
	t.Helper()
	fill := func(s string) string {
		for name, id := range ids {
			s = strings.ReplaceAll(s, "<"+name+">", id)
		}
		if strings.Contains(s, "{n}") {
			s = strings.ReplaceAll(s, "{n}", fmt.Sprint(w.number.Add(1)))
		}
		return s
	}
	path, body := "/v1"+fill(l.path), fill(l.body)
	if workspaceID != "" && w.inQuery(l.method, path) {
		path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + w.workspaceParam(l.method, path) + "=" + workspaceID
	} else if workspaceID != "" {
		body = `{"workspace_id":"` + workspaceID + `",` + body[1:]
	}
	r := httptest.NewRequestWithContext(t.Context(), l.method, path, http.NoBody)
	r.RemoteAddr = "203.0.113.7:40000"
	if body != "" {
		r = httptest.NewRequestWithContext(t.Context(), l.method, path, strings.NewReader(body))
	}
	switch secret := w.key(caller); {
	case identity.IsToken(secret):
		r.Header.Set("Authorization", "Bearer "+secret)
	case secret != "":
		r.Header.Set("x-gateway-api-key", secret)
	}
	return r
}

// narrowed plays a line in the first workspace with other scopes than the key has.
func (w *accessWorld) narrowed(t *testing.T, caller string, l *rightsOf, scopes string) *httptest.ResponseRecorder {
	t.Helper()
	workspaceID := ""
	if caller == "admin" && l.inWorkspace && (l.named || !l.namesRecord()) {
		workspaceID = w.main.ws
	}
	r := w.request(t, caller, l, w.main.ids, workspaceID)
	r.Header.Set(scopesHeader, scopes)
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	return rec
}

// inQuery reports whether an operation takes the workspace in its query.
func (w *accessWorld) inQuery(method, path string) bool {
	op := w.describe.find(httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody))
	return op == nil || method == http.MethodGet || op.Parameters.GetByInAndName("query", "workspace_id") != nil
}

// workspaceParam is the name under which an operation takes a workspace in its query.
func (w *accessWorld) workspaceParam(method, path string) string {
	op := w.describe.find(httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody))
	if op != nil && op.Parameters.GetByInAndName("query", "workspace_id") == nil && op.Parameters.GetByInAndName("query", "workspace_slug") != nil {
		return "workspace_slug"
	}
	return "workspace_id"
}
