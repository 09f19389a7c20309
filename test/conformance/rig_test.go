package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gatewayKey is the key that every transcript's client shows. It must never reach a
// provider.
const gatewayKey = "sk-gateway"

// specs is the table of the embedded specs.
var specs = sync.OnceValue(func() *provider.Table {
	table, err := provider.Load()
	if err != nil {
		panic(err) // the embedded files are broken: nothing here can run
	}
	return table
})

// rig is a gateway whose providers, whatever they are called, are one server.
type rig struct {
	t       tester
	up      *upstream.Server
	tunnel  *tunnel
	journal *journal
	server  *listen.Server
}

// tester is what a rig needs of a testing.TB or of a rapid.T: whom it tells.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newRig(t testing.TB) *rig {
	t.Helper()
	up := upstream.StartTLS(t, upstream.HTTP1Only(), upstream.CertNames(hostNames()...), upstream.MaxBody(8<<20))
	r := newRigOver(t, up.Addr(), &tls.Config{RootCAs: up.Roots(), MinVersion: tls.VersionTLS12})
	r.up = up
	return r
}

// newRigOver is newRig for a server of the test's own.
func newRigOver(t testing.TB, addr string, trust *tls.Config) *rig {
	t.Helper()
	r := &rig{t: t, journal: &journal{more: make(chan struct{}, 1)}, tunnel: newTunnel(t, addr)}
	guard := netguard.New(nil).WithResolver(noNames{})
	client := transport.New(transport.Options{Guard: guard, TLSConfig: trust, Proxy: r.tunnel.url, ConnectTimeout: 5 * time.Second})
	t.Cleanup(client.Close)
	hasher := keys.NewHasher([]byte("pepper of the tests"))
	dir := newDirectory(hasher)
	set := gateway.DefaultSettings()
	set.SpoolDir, set.IdleTimeout = t.TempDir(), 5*time.Second
	gateway := gateway.New(gateway.Parts{
		Directory: func() gateway.Directory { return dir }, Hasher: hasher, Specs: specs(),
		Engine: routing.NewEngine(ident.System{}, rand.Float64), Client: client,
		Signers: sign.New(sign.Options{Clock: noon{}, HTTP: entra()}),
		Dialect: openai.Dialect(), Dialects: registry.List(), Sockets: nethttp.Dialer{HTTP: client.HTTPClient()}, Guard: guard,
		Journal: r.journal, Limiter: quota.NewLimiter(), Prices: catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin())),
		Metrics: gateway.NewMetrics(), Clock: ident.System{}, Log: slog.New(slog.DiscardHandler),
	}, set)
	r.server = listen.Start(t, gateway)
	return r
}

// noNames keeps every look-up from leaving the machine: only the tunnel knows hosts.
type noNames struct{}

// LookupNetIP finds nothing.
func (noNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, errors.New("no name has an address here")
}

// noon is the time at which calls are signed, so that signatures are the same in
// every run.
type noon struct{}

// Now is always the same.
func (noon) Now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// journal keeps records in memory.
type journal struct {
	mu   sync.Mutex // guards rows
	rows []record.Attempt
	more chan struct{} // has one element when there is something to take
}

// Append keeps a copy: the gateway uses its buffers again.
func (j *journal) Append(a *record.Attempt) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := *a
	c.Request.Bytes, c.Response.Bytes = bytes.Clone(a.Request.Bytes), bytes.Clone(a.Response.Bytes)
	j.rows = append(j.rows, c)
	select {
	case j.more <- struct{}{}:
	default:
	}
	return nil
}

// AppendLine passes over the ledger: transcripts are about words.
func (*journal) AppendLine(*ledger.Entry) error { return nil }

func (*journal) AppendHooks(*record.LateHooks) error { return nil }

// await hands out the next record.
func (j *journal) await(t testing.TB) record.Attempt {
	t.Helper()
	select {
	case <-j.more:
		return j.take()[0]
	case <-time.After(30 * time.Second):
		t.Fatal("no record after half a minute")
	}
	return record.Attempt{}
}

// take hands out the records since the last call.
func (j *journal) take() []record.Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	rows := j.rows
	j.rows = nil
	return rows
}

// directory is a control plane of one key.
type directory struct {
	hash  keys.Hash
	entry *keys.Entry
}

func newDirectory(h *keys.Hasher) *directory {
	const org, workspace = "0191f3a0-0000-7000-8000-000000000001", "0191f3a0-0000-7000-8000-000000000002"
	scopes := access.Allowed(access.WorkspaceService)
	return &directory{hash: h.Sum(gatewayKey), entry: &keys.Entry{Status: "active",
		Principal: access.Principal{
			Kind: access.ByKey, ID: ident.NewID(), Name: "conformance", KeyType: access.WorkspaceService,
			OrgID: org, WorkspaceID: workspace, Scopes: access.NewScopes(scopes...),
		},
		Key: keys.Key{Type: access.WorkspaceService, Scopes: scopes, Secret: keys.Secret{Hash: h.Sum(gatewayKey)}},
	}}
}

// FindKey knows gatewayKey.
func (d *directory) FindKey(h keys.Hash) *keys.Entry {
	if h != d.hash {
		return nil
	}
	return d.entry
}

// FindWorkspace returns a workspace without settings.
func (d *directory) FindWorkspace(string) *tenant.Scope { return &tenant.Scope{} }

// FindConfig finds none: transcripts bring their config along.
func (d *directory) FindConfig(string, string) (*routing.Config, string, string, bool) {
	return nil, "", "", false
}

// FindAccount finds none: transcripts bring their credentials along.
// FindPrompt finds none.
func (d *directory) FindPrompt(string, string) *prompt.Saved        { return nil }
func (d *directory) Partials(string) prompt.Source                  { return nil }
func (d *directory) FindAccount(string, string) *credential.Account { return nil }
func (d *directory) FindGuardrail(string, string) *guardrail.Saved  { return nil }

// Limits finds none.
func (d *directory) Limits(string, string) *quota.Plan { return quota.NoPlan() }

// Policies finds none.
func (d *directory) IntegrationLimits(integration, workspaceID string) *quota.Plan {
	return d.Limits(quota.IntegrationWorkspace, integration+"/"+workspaceID)
}
func (d *directory) Policies(string) *quota.Policies { return nil }

// Agreement finds none: the list says what calls cost.
func (d *directory) Agreement(*credential.Account) *catalog.PriceOverrides { return nil }

// Accounts lists none.
func (d *directory) Accounts(string) []*credential.Account { return nil }
