package control_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/control"
	"sluice/internal/control/apikeys"
	"sluice/internal/control/budgets"
	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/deployment"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/rerate"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/requestlogtest"
	"sluice/internal/storage/sqlstore"
)

// marker is in every secret that a transcript sends.
const marker = "s3cr3t"

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// world is an administration with two organisations: "acme" with the workspaces
// ws-main and ws-two, and "other".
type world struct {
	logged   logBuffer // what the program logged
	store    *sqlstore.Store
	admin    *control.Admin
	box      *sealed.Sealer
	hasher   *keys.Hasher
	signer   *audit.Signer
	clock    *clock
	names    *names
	org      string
	keys     map[string]string // raw, by caller
	describe *described
	logs     *memoryLogs
	cache    *purger
	exports  *exports
	asks     func(r *http.Request) (*access.Principal, error) // who calls, instead of what the store says; may be nil
	wakes    int
	draining atomic.Bool // the program is about to stop: nobody follows the log for long
}

// clock goes one second further with each look.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// wait lets time pass.
func (c *clock) wait(t *testing.T, text string) {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newWorld(t *testing.T, st *sqlstore.Store) *world {
	t.Helper()
	return newWorldOn(t, st, st)
}

// newWorldOn makes the world in st, with an administration that works on served.
func newWorldOn(t *testing.T, st *sqlstore.Store, served resource.Store) *world {
	t.Helper()
	box, err := sealed.NewBox([]byte("a sealing key for the tests of admin"))
	if err != nil {
		t.Fatal(err)
	}
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: st, box: box, hasher: keys.NewHasher([]byte("a pepper for the tests")), clock: &clock{now: began}, names: newNames(), keys: map[string]string{}}
	if w.signer, err = audit.NewSigner(audit.NewSeed()); err != nil {
		t.Fatal(err)
	}
	logs := &memoryLogs{feedback: st}
	w.logs = logs
	w.found(t, logs)
	w.cache = &purger{workspace: w.names.values["main"]}
	w.exports = newExports(t, w, st, logs)
	meters := budgets.Meters(st)
	if storeMeters, ok := served.(budgets.Meters); ok {
		meters = storeMeters
	}
	models := catalog.New(w.clock, slog.New(slog.DiscardHandler), catalog.Builtin())
	w.admin = control.New(control.Parts{
		Checks: guardrails.NewCatalog(check.List()).Table(),
		Store:  served, Box: box, Hasher: w.hasher, Identify: w.identify, Wake: func() { w.wakes++ }, Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &w.logged), nil)), Version: "test", KeyPrefix: "sk-", Features: map[string]bool{"POLICY_ENABLED": true},
		Meters: meters, Audit: control.AuditLog{Trail: st, Signer: w.signer}, Requests: control.RequestRules{Proxies: wire.Proxies{netip.MustParsePrefix("203.0.113.0/24")}},
		ConsoleURL: "https://gateway.example.com", SignIn: control.SignIn{Local: true, Passwords: identity.NewPasswords(), Throttle: identity.NewLoginThrottle(), Invites: identity.NewLoginThrottle()},
		Deployments: map[deployment.Type]int{deployment.Production: 1}, Outside: &http.Client{Transport: newOutside(t)},
		Secrets: managers{}, MCPURL: "https://mcp.example.com",
		Specs: specs, Guard: netguard.New([]string{"llm.corp"}).WithKeyHosts([]string{"llm.corp:443", "llm.corp:8200"}), Models: models,
		RequestLog: control.RequestLog{
			Logs: logs, Journal: logs, Replay: w.replayed, Draining: w.draining.Load, Exports: w.exports, ExportRetention: exportRetention,
			Rerate: rerate.New(rerate.Parts{
				Logs: logs, Journal: logs, Prices: catalog.NewPriceList(models), Accounts: func() rerate.Accounts { return noAccounts{} }, Clock: w.clock,
			}),
			MaxBodyBytes: 4 << 10, Retention: tenant.Retention{Bodies: new(90), Rows: new(200), Metrics: new(365)},
			RetentionShown: people.RetentionShown{Bodies: 60, Metrics: 300},
		},
		Configs: control.ConfigRules{Limits: routing.DefaultLimits(), CachePurger: w.cache, Trials: newTrials(), Breakers: func(workspace string) []routing.BreakerState {
			return []routing.BreakerState{{Scope: workspace + "/pc-main", Config: "9f86d081884c7d65", Path: "config.targets[0]", State: routing.StateOpen, Failures: 4, OpenedAt: began, ClosesAt: began.Add(time.Minute)}}
		}},
	})
	w.describe = newDescribed(t, w.admin)
	key := w.signer.Public()
	w.names.learn("genesis", audit.Genesis)
	w.names.learn("audit-key", key.Base64())
	w.names.learn("audit-pem", strings.Trim(strconv.Quote(key.PEM()), `"`))
	w.names.learn("audit-key-id", key.ID())
	return w
}

// replayed answers every replay alike, and says in its text what was asked and which
// key was named to pay.
func (w *world) replayed(_ *http.Request, key sealed.String, _ string, call *replay.Call) (*replay.Outcome, error) {
	if call.Config == "pc-none" {
		return nil, fault.New(fault.InvalidRequest, "there is no such config").WithParam("x-gateway-config")
	}
	paid := ""
	if key.Reveal() != "" {
		paid = ", paid by " + w.names.hide(key.Reveal())
	}
	content, err := json.Marshal(fmt.Sprintf("%s %s by %q %q%s", call.Path, call.Body, call.Provider, call.Config, paid))
	if err != nil {
		return nil, err
	}
	a := record.Attempt{
		ID: "0191f3a0-0000-7000-8000-00000000a001", Provider: "openai", Model: "gpt-4o-mini", Status: 200, Outcome: record.OK, Source: record.FromReplay, ReplayOf: call.AttemptID,
		Duration: 700 * time.Millisecond, FirstByte: 600 * time.Millisecond, Spend: record.Spend{State: "settled", Cost: 90_000},
	}
	a.Usage.InputTokens, a.Usage.OutputTokens = 12, 7
	body := fmt.Appendf(nil, `{"id":"new","choices":[{"message":{"content":%s}}],"model":"gpt-4o-mini"}`, content)
	return &replay.Outcome{Status: 200, Type: "application/json", Body: body, Record: a}, nil
}

// sign writes checkpoints for what is in the trail of the first organisation. Other
// transcripts share the store, so it is not for a keeper, who would look at all trails.
func (w *world) sign(t *testing.T) {
	t.Helper()
	head, err := w.store.Head(t.Context(), w.org)
	if err != nil {
		t.Fatal(err)
	}
	c := audit.Checkpoint{OrgID: w.org, Number: head.Signed.Number + 1, Seq: head.Seq, Hash: head.Hash, First: head.First, Timestamp: audit.Stamp(w.clock.Now())}
	if err := w.store.PutCheckpoint(t.Context(), c.SignedBy(w.signer)); err != nil {
		t.Fatal(err)
	}
}

// found makes the organisations with their workspaces, users and keys.
func (w *world) found(t *testing.T, logs *memoryLogs) {
	t.Helper()
	for _, org := range []string{"", "other-"} {
		id, user := w.id(org+"org"), w.id(org+"owner")
		w.put(t, resource.Record{Kind: tenant.OrganisationKind, ID: id}, tenant.Organisation{Name: "Acme"})
		w.put(t, resource.Record{Kind: tenant.UserKind, ID: user, OrgID: id, Name: "owner@acme.example", Index: people.UserIndex(id, &tenant.User{Email: "owner@acme.example", Role: "owner"})}, tenant.User{Email: "owner@acme.example", Role: "owner"})
		w.put(t, resource.Record{Kind: tenant.UserKind, ID: w.id(org + "colleague"), OrgID: id, Name: "colleague@acme.example", Index: people.UserIndex(id, &tenant.User{Email: org + "colleague@acme.example", Role: "member"})}, tenant.User{Email: org + "colleague@acme.example", Role: "member"})
		for _, ws := range []string{"main", "second"} {
			slug := map[string]string{"main": "ws-main", "second": "ws-two"}[ws]
			w.put(t, resource.Record{Kind: tenant.WorkspaceKind, ID: w.id(org + ws), OrgID: id, Slug: slug, Name: "Workspace " + ws}, tenant.Workspace{Name: "Workspace " + ws, IsDefault: ws == "main"})
		}
		w.addKey(t, org+"admin", access.OrganisationService, id, "", "", nil)
		w.addKey(t, org+"service", access.WorkspaceService, id, w.names.values[org+"main"], "", nil)
		w.addKey(t, org+"second-service", access.WorkspaceService, id, w.names.values[org+"second"], "", nil)
		w.addKey(t, org+"user", access.WorkspaceUser, id, w.names.values[org+"main"], user, nil)
		w.addKey(t, org+"weak", access.WorkspaceService, id, w.names.values[org+"main"], "", []string{"completions.write"})
		logs.add(w, id, org)
	}
	w.org = w.names.values["org"]
}

func (w *world) id(name string) string {
	id := ident.NewID()
	for prompt.DefaultCollectionID(id) < id { // once in 160 times; lists are in the order of ids
		id = ident.NewID()
	}
	w.names.learn(name, id)
	return id
}

func (w *world) put(t *testing.T, r resource.Record, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body, r.Status, r.Version, r.Created, r.Updated = b, resource.Active, 1, began, began
	if err := w.store.InTx(t.Context(), func(tx resource.Tx) error { return tx.Insert(t.Context(), r) }); err != nil {
		t.Fatal(err)
	}
}

func (w *world) addKey(t *testing.T, caller string, kind access.KeyType, org, workspace, user string, scopes []string) {
	t.Helper()
	raw := ident.NewKey("sk-")
	if scopes == nil {
		scopes = access.Allowed(kind)
	}
	k := keys.Key{Name: caller, Type: kind, Scopes: scopes, UserID: user, Secret: keys.Secret{Hash: w.hasher.Sum(raw), Masked: keys.Mask(raw)}, CreationMode: "auto"}
	w.put(t, resource.Record{Kind: keys.Kind, ID: w.id(caller + "-key"), OrgID: org, WorkspaceID: workspace, Name: caller, Index: apikeys.KeyIndex(&k)}, k)
	w.keys[caller] = raw
	w.names.raw(raw)
}

// key is the raw key of a caller: of the world, or one that an answer showed.
func (w *world) key(caller string) string {
	if caller == "nobody" {
		return ""
	}
	if raw, ok := w.keys[caller]; ok {
		return raw
	}
	return w.names.reveal(caller)
}

// identify does what the data plane does, from the store.
func (w *world) identify(r *http.Request) (*access.Principal, error) {
	if w.asks != nil {
		return w.asks(r)
	}
	return w.authenticate(r)
}

func (w *world) authenticate(r *http.Request) (*access.Principal, error) {
	if p, signedIn, err := people.Session(r.Context(), w.store, w.hasher, w.clock, people.Browsers{}, r); signedIn {
		return p, err
	}
	raw := r.Header.Get("x-gateway-api-key")
	if raw == "" {
		return nil, fault.New(fault.Unauthenticated, "no API key")
	}
	h := w.hasher.Sum(raw)
	rows, err := w.store.List(r.Context(), resource.Query{Kind: keys.Kind, Index: []resource.IndexEntry{{Name: "hash", Value: h.String()}}})
	if err != nil || len(rows) != 1 {
		return nil, fault.New(fault.Unauthenticated, "the API key is unknown").WithCause(err)
	}
	row, err := resource.Decode[keys.Key](rows[0])
	if err != nil {
		return nil, err
	}
	k := row.Value
	p := &access.Principal{
		Kind: access.ByKey, ID: row.ID, KeyType: k.Type, OrgID: row.OrgID, WorkspaceID: row.WorkspaceID, UserID: k.UserID, Scopes: access.NewScopes(k.Scopes...), Expires: k.ExpiresAt,
	}
	if k.Type == access.WorkspaceUser {
		if err := people.ApplyUserRights(r.Context(), w.store, p); err != nil {
			return nil, err
		}
	}
	return p, k.Check(row.Status, w.clock.Now())
}

// trail is the audit trail of the first organisation, the oldest row first.
func (w *world) trail(t *testing.T) []byte {
	t.Helper()
	rows, err := w.store.AuditTrail(t.Context(), w.org, "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rows)
	var b strings.Builder
	for _, r := range rows {
		if strings.Contains(string(r.Body), marker) || rawKey.Match(r.Body) {
			t.Errorf("a secret is in the audit trail: %s", r.Body)
		}
		workspace := cmp.Or(r.WorkspaceID, "-")
		fmt.Fprintf(&b, "%s %s %d by %s %s in %s from %s: %s %s %s %s\n", r.Action, r.Kind, r.Status, r.ActorKind, r.ActorID, workspace, r.RemoteIP, r.Method, r.Path, cmp.Or(r.TargetID, "-"), withoutHeaders.ReplaceAll(r.Body, nil))
	}
	return []byte(w.names.hide(b.String()))
}

// withoutHeaders takes out what every call has. auditlogs.txtar shows it.
var withoutHeaders = regexp.MustCompile(`(?:,"headers":\{[^}]*\}|"headers":\{[^}]*\},?)`)

// names stand for what is different in every run.
type names struct {
	values map[string]string // value by name
	named  map[string]string // name by value
	next   map[string]int
	twice  bool // keys of different names have the same mask
}

var (
	someID        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[57][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	cursor        = regexp.MustCompile(`"next_cursor": "([A-Za-z0-9_-]+)"`)
	someSlug      = regexp.MustCompile(`"slug": "([a-z0-9-]+-[a-z0-9]{6})"`)
	someHash      = regexp.MustCompile(`"(?:hash|prev|last_hash|id)": ?"([0-9a-f]{64})"`)
	someSignature = regexp.MustCompile(`"signature": ?"([A-Za-z0-9+/]{86}==)"`)
	rawKey        = regexp.MustCompile(`sk-[A-Za-z0-9]{32}`)
	someSession   = regexp.MustCompile(`ses_[A-Za-z0-9_-]{43}`)
	someInvite    = regexp.MustCompile(`token=(inv_[A-Za-z0-9_-]{43})`)
	someMask      = regexp.MustCompile(`"key": "(sk\*{5}[A-Za-z0-9]{3})"`)
	someLink      = regexp.MustCompile(`signature=([A-Za-z0-9_-]{43})`)
	someName      = regexp.MustCompile(`<[a-z0-9-]+>`)
)

func newNames() *names {
	return &names{values: map[string]string{}, named: map[string]string{}, next: map[string]int{}}
}

func (n *names) learn(name, value string) {
	n.values[name], n.named[value] = value, name
}

// raw learns a raw key, and the mask under which it is shown.
func (n *names) raw(value string) {
	n.next["raw"]++
	name := fmt.Sprintf("raw%d", n.next["raw"]-10) // the keys of the world come first
	mask := keys.Mask(value)
	n.twice = n.twice || strings.HasPrefix(n.named[mask], "masked-")
	n.learn(name, value)
	n.learn("masked-"+name, mask)
}

// hide puts names in the place of values, and gives new ones to what it meets for
// the first time.
func (n *names) hide(s string) string {
	for _, v := range rawKey.FindAllString(s, -1) {
		if n.named[v] == "" {
			n.raw(v)
		}
	}
	n.meet(s, someSession, "session", 0)
	n.meet(s, someInvite, "invite", 1)
	n.meet(s, someMask, "mask", 1)
	n.meet(s, someID, "id", 0)
	n.meet(s, someHash, "hash", 1)
	n.meet(s, someSignature, "signature", 1)
	n.meet(s, someLink, "link", 1)
	n.meet(s, someSlug, "slug", 1)
	n.meet(s, cursor, "cursor", 1)
	values := make([]string, 0, len(n.named))
	for v := range n.named {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		s = strings.ReplaceAll(s, v, "<"+n.named[v]+">")
	}
	return s
}

func (n *names) meet(s string, form *regexp.Regexp, kind string, group int) {
	for _, m := range form.FindAllStringSubmatch(s, -1) {
		if v := m[group]; n.named[v] == "" {
			n.next[kind]++
			n.learn(fmt.Sprintf("%s%d", kind, n.next[kind]), v)
		}
	}
}

// reveal puts values in the place of names.
func (n *names) reveal(s string) string {
	return someName.ReplaceAllStringFunc(s, func(name string) string {
		if v, ok := n.values[name[1:len(name)-1]]; ok {
			return v
		}
		return name
	})
}

// memoryLogs is a request log of a few attempts.
type memoryLogs struct {
	feedback resource.Reader

	mu    sync.Mutex // guards what follows
	rows  []record.Attempt
	trail []record.Correction
	late  map[string]time.Time // when attempts were added, of those that were not there from the first
}

// came is when a row was taken over.
func (m *memoryLogs) came(a *record.Attempt) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if arrived, ok := m.late[a.ID]; ok {
		return arrived
	}
	return began.Add(-time.Hour)
}

// tooDear is by how much every attempt was billed too high, in nano-dollars, until it is
// corrected.
const tooDear = 20_000

// noAccounts are the saved providers of nobody.
type noAccounts struct{}

func (noAccounts) FindAccount(string, string) *credential.Account        { return nil }
func (noAccounts) Agreement(*credential.Account) *catalog.PriceOverrides { return nil }

func (m *memoryLogs) add(w *world, org, prefix string) {
	for i, workspace := range []string{"main", "main", "second"} {
		a := record.Attempt{
			ID: w.id(fmt.Sprintf("%slog%d", prefix, i+1)), RequestID: fmt.Sprintf("request-%d", i), TraceID: fmt.Sprintf("trace-%d", i), OrgID: org,
			WorkspaceID: w.names.values[prefix+workspace], Started: began.Add(time.Duration(i) * time.Minute), Duration: 1500 * time.Millisecond, FirstByte: 200 * time.Millisecond,
			Provider: "openai", Model: "gpt-4o", Endpoint: "chatComplete", Method: "POST", Path: "/v1/chat/completions", Status: 200, Upstream: 200,
			TargetPath: "config.targets[1]", ConfigID: "pc-main", Outcome: record.OK, Metadata: map[string]string{"team": "search", "_user": "ada"},
			Request: record.Body{Type: "application/json", Bytes: []byte(`{"model":"gpt-4o"}`), Size: 18}, Response: record.Body{Type: "text/event-stream", Bytes: []byte("data: [DONE]\n\n"), Size: 14},
		}
		a.Usage.InputTokens, a.Usage.OutputTokens = 12, 5
		a.Spend = []record.Spend{
			{State: "settled", Cost: 80_000, MaxCost: 400_000, Version: "1", Terms: "input 12 x 0.00025; output 5 x 0.001"},
			{State: "released", MaxCost: 400_000, Version: "1"},
			{State: "estimated", Unpriced: "no_model"},
		}[i]
		if i == 1 {
			a.Status, a.Upstream, a.Outcome, a.Retries, a.Stream = 503, 503, record.Failed, 2, true
			a.UserID = w.names.values[prefix+"colleague"]
		}
		m.rows = append(m.rows, a)
	}
}

// Append makes memoryLogs the journal of custom logs, which are on record at once.
func (m *memoryLogs) Append(a *record.Attempt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = append(m.rows, *a)
	return nil
}

func (m *memoryLogs) List(ctx context.Context, q record.Query) (record.Page, error) {
	all, err := m.now(ctx)
	if err != nil {
		return record.Page{}, err
	}
	return all.List(ctx, q)
}

// Search looks through what Find shows.
func (m *memoryLogs) Search(ctx context.Context, q record.Query, text string) (out record.Found, err error) {
	page, err := m.List(ctx, q)
	for _, a := range page.Rows {
		full, err := m.Find(ctx, a.OrgID, a.WorkspaceID, a.ID)
		if err != nil {
			return out, err
		}
		if found, _ := record.NewNeedle(text).Search(&full); found {
			out.Rows = append(out.Rows, a)
		}
	}
	out.Next = page.Next
	return out, err
}

func (m *memoryLogs) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	all, err := m.now(ctx)
	if err != nil {
		return record.AnalysisPage{}, err
	}
	return all.Analyse(ctx, a)
}

// now is a log of what is there, and of what was said of it.
func (m *memoryLogs) now(ctx context.Context) (*requestlogtest.Memory, error) {
	m.mu.Lock()
	rows := slices.Clone(m.rows)
	m.mu.Unlock()
	all := &requestlogtest.Memory{}
	for i := range rows {
		all.Now = func() time.Time { return m.came(&rows[i]) }
		err := all.Write(ctx, func(s requestlog.Sink) (p requestlog.Progress, err error) { return p, s.Add(&rows[i], bodies.Ref{}) })
		if err != nil {
			return nil, err
		}
	}
	feedbacks, err := m.feedback.List(ctx, resource.Query{Kind: record.FeedbackKind, Limit: 1000, Newest: true})
	if err != nil {
		return nil, err
	}
	var batch requestlog.FeedbackBatch
	for _, r := range feedbacks {
		var f record.Feedback
		if err := json.Unmarshal(r.Body, &f); err != nil {
			return nil, err
		}
		batch.Put = append(batch.Put, record.TraceFeedback{ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, TraceID: f.TraceID, Value: f.Value, Weight: f.Weight, Created: r.Created})
	}
	return all, all.PutFeedback(ctx, batch)
}

// Billed, Settle, AppendCorrection and Corrections make memoryLogs what re-rating works on.
func (m *memoryLogs) Billed(ctx context.Context, q record.Query) (record.BilledPage, error) {
	page, err := m.List(ctx, q)
	out := record.BilledPage{Next: page.Next}
	for _, a := range page.Rows {
		if a.Spend.State == "" || a.Spend.State == "released" {
			continue
		}
		b := record.Billed{Attempt: a, Charged: record.Charged{ClosedAt: a.Started.Add(a.Duration), Nano: a.Spend.Cost + tooDear}}
		if done, _ := m.Corrections(ctx, a.ID); len(done) > 0 {
			after := done[len(done)-1].After
			b.Charged.Nano, b.Spend.Unpriced, b.Spend.Version = after.Cost, after.Unpriced, after.Version
		}
		out.Rows = append(out.Rows, b)
	}
	return out, err
}

func (m *memoryLogs) WaitIngested(context.Context) error { return nil }

func (m *memoryLogs) AppendCorrection(c *record.Correction) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trail = append(m.trail, *c)
	return nil
}

func (m *memoryLogs) Corrections(_ context.Context, id string) (out []record.Correction, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.trail {
		if c.ID == id {
			out = append(out, c)
		}
	}
	return out, nil
}

func (m *memoryLogs) Find(_ context.Context, org, workspace, id string) (record.Attempt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.rows {
		if a.ID == id && a.OrgID == org && (workspace == "" || workspace == a.WorkspaceID) {
			return a, nil
		}
	}
	return record.Attempt{}, fault.New(fault.NotFound, "")
}
