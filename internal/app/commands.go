package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/access"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/logstore/clickhouse"
	"sluice/internal/resource"
	"sluice/internal/store"
	"sluice/internal/tenant"
)

// offline opens what the commands that do not serve need: the sealer and the store.
func offline(ctx context.Context, s config.Settings, log *slog.Logger, use func(*App) error) (err error) {
	a := &App{set: s, log: log, clock: ident.System{}}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.openData(ctx); err != nil {
		return err
	}
	if err := a.openStore(ctx); err != nil {
		return err
	}
	if err := a.openSealer(ctx); err != nil {
		return err
	}
	return use(a)
}

// Migrate updates the tables, including those of a request log on a server. Instances that start
// at the same time wait for each other.
func Migrate(ctx context.Context, s config.Settings, log *slog.Logger) (err error) {
	db, err := store.Open(ctx, storeSettings(s), log)
	if err != nil {
		return withHint(s, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return withHint(s, err)
	}
	if !s.Analytics.Shared() {
		return nil
	}
	return clickhouse.Migrate(ctx, analyticsOptions(s, db, log))
}

// NewKey describes a key to create from the command line.
type NewKey struct {
	Name      string
	Type      string   // organisation-service or workspace-service
	Workspace string   // slug; empty means the default workspace
	Scopes    []string // empty means all scopes that the type allows
}

// CreateKey creates a key and returns its raw value, which is not stored in clear text. It works
// while the gateway runs; the key is in force within a second. In an empty deployment it first
// creates what a first start creates and calls founded, as described in Options.
func CreateKey(ctx context.Context, s config.Settings, log *slog.Logger, n NewKey, founded func(FirstKeys)) (raw string, err error) {
	if err := n.check(); err != nil {
		return "", err
	}
	raw = ident.NewKey(s.Security.APIKeyPrefix)
	return raw, offline(ctx, s, log, func(a *App) error {
		a.founded = founded
		if err := a.foundDeployment(ctx); err != nil {
			return err
		}
		var workspace resource.Record
		err := readFromWriter(ctx, a.store, func(from resource.Reader) (err error) {
			workspace, err = findWorkspace(ctx, from, n.Workspace)
			return err
		})
		if err != nil {
			return err
		}
		r, err := a.bootstrapper().key(raw, n.Name, access.KeyType(n.Type), workspace.OrgID, workspaceIDFor(n, workspace))
		if err != nil {
			return err
		}
		if len(n.Scopes) > 0 {
			if err := narrow(&r, n.Scopes); err != nil {
				return err
			}
		}
		return a.store.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, r) })
	})
}

// check rejects invalid fields before anything is created.
func (n NewKey) check() error {
	if strings.TrimSpace(n.Name) == "" {
		return fault.New(fault.InvalidParameter, "name is required; set --name").WithParam("name")
	}
	t := access.KeyType(n.Type)
	for _, s := range n.Scopes {
		may, known := access.MayHold(t, s)
		switch {
		case !known:
			return fault.Newf(fault.InvalidParameter, "unknown scope %q; keys of type %s support: %s", s, t, strings.Join(access.Allowed(t), ", ")).WithParam("scopes")
		case !may:
			return fault.Newf(fault.InvalidParameter, "keys of type %s do not support the scope %q; supported: %s", t, s, strings.Join(access.Allowed(t), ", ")).WithParam("scopes")
		}
	}
	return nil
}

func workspaceIDFor(n NewKey, workspace resource.Record) string {
	if access.KeyType(n.Type) == access.OrganisationService {
		return ""
	}
	return workspace.ID
}

func findWorkspace(ctx context.Context, r resource.Reader, slug string) (resource.Record, error) {
	if slug == "" {
		return defaultWorkspace(ctx, r)
	}
	orgs, err := r.List(ctx, resource.Query{Kind: tenant.OrganisationKind, Limit: 1000})
	if err != nil {
		return resource.Record{}, err
	}
	for _, o := range orgs {
		w, err := r.FindSlug(ctx, tenant.WorkspaceKind, o.ID, slug)
		if !fault.Has(err, fault.NotFound) {
			return w, err
		}
	}
	return resource.Record{}, fault.Newf(fault.NotFound, "workspace %q does not exist", slug)
}

// HealthURL returns the URL of the health endpoint of a gateway with these settings.
func HealthURL(s config.Settings) string { return localURL(s) + "/v1/health" }

// localURL returns the URL, without a path, at which this machine reaches a gateway with these
// settings.
func localURL(s config.Settings) string {
	host, port, _ := net.SplitHostPort(s.Server.Address())
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if s.TLS.Enabled() {
		u.Scheme = "https"
	}
	return u.String()
}

// maxHealthBytes limits how many bytes of the health response are read.
const maxHealthBytes = 64 << 10

// Health requests the status of the gateway with these settings: "ok", "degraded" or "draining".
// It fails if nothing responds, or if the response does not come from a gateway.
func Health(ctx context.Context, s config.Settings) (status string, err error) {
	healthURL := HealthURL(s)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, healthURL, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := healthClient().Do(req)
	if err != nil {
		return "", fmt.Errorf("the gateway does not respond: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	var b healthBody
	err = json.NewDecoder(io.LimitReader(resp.Body, maxHealthBytes)).Decode(&b)
	if err != nil || b.Version == "" || b.Journal == "" || !slices.Contains([]string{"ok", "degraded", "draining"}, b.Status) {
		return "", fmt.Errorf("%s is not a sluice gateway (%s)", healthURL, resp.Status)
	}
	return b.Status, nil
}

// healthClient returns a client for HealthURL. It does not verify the certificate: the listener
// is on this machine, and the certificate need not name the address that is called.
func healthClient() *http.Client {
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}},
	}
}
