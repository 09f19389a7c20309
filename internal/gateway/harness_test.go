package gateway_test

import (
	"bytes"
	"cmp"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/registry"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/outbound"
	"sluice/internal/gateway/guardrails/pii"
	"sluice/internal/gateway/guardrails/secrets"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
	"sluice/internal/test/listen"
	"sluice/internal/test/upstream"
)

const (
	org       = "0191f3a0-0000-7000-8000-000000000001"
	workspace = "0191f3a0-0000-7000-8000-000000000002"
	key       = "sk-workspace-key-of-the-tests"
	adminKey  = "sk-admin-key-of-the-tests-000"
	narrowKey = "sk-key-without-scopes-0000000"
)

// rig is a gateway with everything real but the control plane, which is a literal,
// and the journal, which is a list.
type rig struct {
	t       testing.TB
	up      *upstream.Server
	dir     *directory
	journal *list
	parts   gateway.Parts
	gateway *gateway.Gateway
	server  *listen.Server
	set     gateway.Settings
	limiter *quota.Limiter
	metrics *gateway.Metrics
	log     warnings
	vectors vectorIndex
}

// warnings are the lines of a log at level warn and above. Safe for concurrent use.
type warnings struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func newRig(t testing.TB, change ...func(*gateway.Settings)) *rig {
	t.Helper()
	hasher := keys.NewHasher([]byte("pepper of the tests"))
	r := &rig{t: t, up: upstream.Start(t), journal: &list{t: t}, dir: newDirectory(hasher), set: gateway.DefaultSettings(), limiter: quota.NewLimiter(), metrics: gateway.NewMetrics()}
	r.set.SpoolDir = t.TempDir()
	r.set.IdleTimeout = 2 * time.Second
	r.set.ModelLists.Wait = time.Millisecond // only listRig reads lists
	for _, c := range change {
		c(&r.set)
	}
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	filter := netguard.New([]string{"127.0.0.1"})
	client := transport.New(transport.Options{Guard: filter, ConnectTimeout: 2 * time.Second})
	t.Cleanup(client.Close)
	checks := guardrails.NewCatalog(check.List(), pii.List(), secrets.List())
	services := &outbound.Services{Client: client, URLs: netguard.NewURLCache(filter), UserAgent: "sluice"}
	engine := guardrails.New(checks, &check.Deps{Services: services, Now: time.Now}, ident.System{}, guardrails.NewMetrics(), slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	var cache gateway.CacheParts
	cache, r.vectors = cacheParts()
	r.parts = gateway.Parts{
		Cache: cache, Vaults: vaults(t),
		Guardrails: engine, Checks: checks.Table(),
		Directory: func() gateway.Directory { return r.dir }, Hasher: hasher, Specs: specs,
		Engine: routing.NewEngine(ident.System{}, rand.Float64), Client: client, Signers: sign.New(sign.Options{}),
		Dialect: openai.Dialect(), Dialects: registry.List(), Sockets: nethttp.Dialer{HTTP: client.HTTPClient()}, Guard: filter, Journal: r.journal, Limiter: r.limiter, Prices: builtinPrices,
		Metrics: r.metrics, Clock: ident.System{}, Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	r.gateway = gateway.New(r.parts, r.set)
	r.server = listen.Start(t, r.gateway)
	return r
}

// callResult is what a call came to.
type callResult struct {
	*http.Response
	Text string
	Err  error // of reading the body
}

// call sends a request with the workspace key. Headers are "name: value" lines; one
// without a value takes the name away.
func (r *rig) call(method, path, body string, headers ...string) callResult {
	r.t.Helper()
	return r.callAt(r.server.URL, method, path, body, headers...)
}

// callAt is call for a gateway that another front serves, too.
func (r *rig) callAt(base, method, path, body string, headers ...string) callResult {
	r.t.Helper()
	req, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body == "" {
		req.Body = nil
	}
	req.Header.Set("x-gateway-api-key", key)
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ": ")
		if !ok {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	return r.do(req)
}

func (r *rig) do(req *http.Request) callResult {
	r.t.Helper()
	tr := &http.Transport{DisableCompression: true}
	r.t.Cleanup(tr.CloseIdleConnections)
	resp, err := tr.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, resp.Body)
	return callResult{resp, b.String(), err}
}

// custom are the headers that send a call to the rig's upstream.
func (r *rig) custom(more ...string) []string {
	return append([]string{"x-gateway-provider: openai", "authorization: Bearer sk-upstream", "x-gateway-custom-host: " + r.up.URL() + "/v1"}, more...)
}

const hello = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello there"}]}`

// builtinPrices are those of the program itself.
var builtinPrices = catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()), "ollama")

// list is a journal in memory.
type list struct {
	t      testing.TB
	prices *catalog.PriceList // nil: builtinPrices

	mu        sync.Mutex // guards what follows
	rows      []record.Attempt
	lines     []ledger.Entry
	late      []record.LateHooks
	full      error // that lines are refused with
	appendErr error // that records are refused with
}

// AppendHooks takes results of guardrails that came after their record.
func (l *list) AppendHooks(h *record.LateHooks) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = append(l.late, *h)
	return nil
}

// AppendLine takes a line of the ledger.
func (l *list) AppendLine(line *ledger.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full != nil {
		return l.full
	}
	l.lines = append(l.lines, copyOf(line))
	return nil
}

// refuse has it take no more lines.
func (l *list) refuse(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = err
}

// ledger are the lines so far.
func (l *list) ledger() []ledger.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

func copyOf(line *ledger.Entry) ledger.Entry {
	c := *line
	c.Charges = slices.Clone(line.Charges)
	return c
}

// billAgain holds of every test's every call that its record is enough to bill it again.
// What saved providers pay is not known here.
func (l *list) billAgain(a *record.Attempt) {
	if a.ProviderID != "" || a.Spend.State != "settled" && a.Spend.State != "estimated" {
		return
	}
	basis, err := catalog.ReadBasis(a.Spend.Basis)
	if err != nil {
		l.t.Errorf("the basis of a bill: %v", err)
	}
	if basis.Fixed {
		return
	}
	units := basis.Units(a.Endpoint, &a.Usage)
	bill := cmp.Or(l.prices, builtinPrices).Find(a.Provider, cmp.Or(basis.Model, a.Model), nil).Cost(&units, nil)
	if bill.Cost != a.Spend.Cost || bill.MissingPrice() != a.Spend.Unpriced || bill.Version != a.Spend.Version {
		l.t.Errorf("%s of %s %s cost %+v, and billed again of %q %+v", a.Endpoint, a.Provider, a.Model, a.Spend, a.Spend.Basis, bill)
	}
}

// addUp holds of every test's every call that its phases are parts of it.
func (l *list) addUp(a *record.Attempt) {
	t := &a.Timings
	parts := []time.Duration{t.Parsing, t.Preparing, t.Cache, t.Queue, t.Connect, t.Decoding, a.Duration, a.FirstByte}
	switch {
	case slices.Min(parts) < 0, t.Preparing+t.Decoding > a.Duration, t.Cache > t.Preparing, a.GatewayTime()+a.Waited() != a.Duration:
		l.t.Errorf("phases %+v of an attempt that took %v", *t, a.Duration)
	case a.FirstByte > 0 && (a.FirstByte < t.Preparing || t.Queue+t.Connect > a.Waited()):
		l.t.Errorf("phases %+v of an attempt whose answer began after %v", *t, a.FirstByte)
	case a.Outcome == record.Refused && a.Upstream == 0 && !a.Stream && a.Waited() > 0:
		l.t.Errorf("an attempt that was refused waited %v for its upstream", a.Waited())
	}
}

func (l *list) Append(a *record.Attempt) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.appendErr != nil {
		return l.appendErr
	}
	c := *a
	for _, b := range []*record.Body{&c.Request, &c.Response, &c.ClientRequest, &c.ClientResponse} {
		b.Bytes, b.Head = bytes.Clone(b.Bytes), bytes.Clone(b.Head)
	}
	l.rows = append(l.rows, c)
	l.billAgain(a)
	l.addUp(a)
	if len(a.Closing) > 0 {
		var line ledger.Entry
		if err := line.Decode(a.Closing); err != nil {
			return err
		}
		l.lines = append(l.lines, line)
	}
	return nil
}

func (l *list) all() []record.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]record.Attempt(nil), l.rows...)
}

// one waits for the only record and returns it.
func (l *list) one(t testing.TB) record.Attempt {
	t.Helper()
	return l.some(t, 1)[0]
}

// some are the records, of which there must be n.
func (l *list) some(t testing.TB, n int) []record.Attempt {
	t.Helper()
	rows := l.all()
	for limit := time.Now().Add(30 * time.Second); len(rows) < n && time.Now().Before(limit); rows = l.all() {
		time.Sleep(5 * time.Millisecond) // a client that hung up is on record a moment later
	}
	if len(rows) != n {
		t.Fatalf("%d records, want %d", len(rows), n)
	}
	return rows
}

// directory is a control plane written down.
type directory struct {
	keys       map[keys.Hash]*keys.Entry
	scope      tenant.Scope
	configs    map[string]*routing.Config
	accounts   map[string]*credential.Account
	prompts    map[string]*prompt.Saved
	partials   prompt.PartialSet
	limits     map[[2]string]*quota.Plan // by kind and id
	policies   *quota.Policies
	guardrails map[string]*guardrail.Saved // by slug
}

func (d *directory) FindGuardrail(_, name string) *guardrail.Saved { return d.guardrails[name] }

func (d *directory) Limits(kind, id string) *quota.Plan {
	if p := d.limits[[2]string{kind, id}]; p != nil {
		return p
	}
	return quota.NoPlan()
}
func (d *directory) IntegrationLimits(integration, workspaceID string) *quota.Plan {
	return d.Limits(quota.IntegrationWorkspace, integration+"/"+workspaceID)
}
func (d *directory) Policies(string) *quota.Policies                       { return d.policies }
func (d *directory) Agreement(*credential.Account) *catalog.PriceOverrides { return nil }

func newDirectory(h *keys.Hasher) *directory {
	d := &directory{scope: tenant.Scope{Attributed: true, Attributes: true}, keys: map[keys.Hash]*keys.Entry{}, configs: map[string]*routing.Config{}, accounts: map[string]*credential.Account{}, limits: map[[2]string]*quota.Plan{}}
	d.add(h, key, access.WorkspaceService, workspace, access.Allowed(access.WorkspaceService)...)
	d.add(h, adminKey, access.OrganisationService, "", access.Allowed(access.OrganisationService)...)
	d.add(h, narrowKey, access.WorkspaceService, workspace, "logs.view")
	return d
}

func (d *directory) add(h *keys.Hasher, raw string, t access.KeyType, workspaceID string, scopes ...string) *keys.Entry {
	e := &keys.Entry{Status: "active", Principal: access.Principal{
		Kind: access.ByKey, ID: ident.NewID(), Name: raw[:8], KeyType: t, OrgID: org, WorkspaceID: workspaceID, Scopes: access.NewScopes(scopes...),
	}, Key: keys.Key{Type: t, Scopes: scopes, Secret: keys.Secret{Hash: h.Sum(raw)}}}
	d.keys[h.Sum(raw)] = e
	return e
}

func (d *directory) FindKey(h keys.Hash) *keys.Entry       { return d.keys[h] }
func (d *directory) FindWorkspace(id string) *tenant.Scope { return &d.scope }
func (d *directory) FindConfig(_, name string) (doc *routing.Config, id, slug string, ok bool) {
	c, ok := d.configs[name]
	return c, "id of " + name, name, ok
}
func (d *directory) FindAccount(_, slug string) *credential.Account { return d.accounts[slug] }
func (d *directory) FindPrompt(_, name string) *prompt.Saved        { return d.prompts[name] }
func (d *directory) Partials(string) prompt.Source                  { return d.partials }
func (d *directory) Accounts(string) []*credential.Account {
	var out []*credential.Account
	for _, a := range d.accounts {
		out = append(out, a)
	}
	return out
}

func (d *directory) config(t testing.TB, name, text string) {
	t.Helper()
	c, err := routing.Parse([]byte(text), routing.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	d.configs[name] = c
}
