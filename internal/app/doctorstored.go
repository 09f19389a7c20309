package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/config"
	"sluice/internal/credential"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/sealed"
	"sluice/internal/store"
)

// stored is the access of doctor to the database.
type stored struct {
	db    *store.Store   // nil when it cannot be read
	box   *sealed.Sealer // nil when sealed values cannot be opened
	fresh bool           // the database is empty because the gateway has never started
}

// Close closes the database if it is open.
func (d *stored) Close() error {
	if d.db == nil {
		return nil
	}
	return d.db.Close()
}

func (d *stored) checkDatabase(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "database", Hint: dbErrorHint(s, nil)}
	set := storeSettings(s)
	if s.Database.Type == config.SQLite {
		if _, err := os.Stat(set.Path); errors.Is(err, fs.ErrNotExist) {
			d.fresh, f.Detail = true, "the file will be created on the first start: "+set.Path
			f.Err, f.Hint = missesDatabase(ctx, s, nil), ""
			return f
		}
	}
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	db, err := store.Open(ctx, set, slog.New(slog.DiscardHandler)) // the finding reports what the store would log
	if err != nil {
		f.Err, f.Hint = storeError(s, err), dbErrorHint(s, err)
		return f
	}
	if err = db.CheckVersion(ctx); err == nil {
		err = db.CheckRights(ctx)
	}
	if err == nil {
		_, err = db.Count(ctx, resource.Query{Kind: credential.IntegrationKind})
	}
	if d.fresh = errors.Is(err, store.ErrNoTables) && !atWriterAlone(ctx, s, db); err != nil && !d.fresh {
		f.Err, f.Hint = errors.Join(storeError(s, err), db.Close()), dbErrorHint(s, err)
		return f
	}
	d.db = db
	if h := db.Health(); h.Status != "ok" {
		f.Err = storeError(s, fmt.Errorf("%s: %s", h.Status, h.Detail))
	} else if err := d.misses(ctx, s); err != nil {
		f.Err, f.Hint = err, ""
	}
	f.Detail = s.Database.Type + " responds"
	if d.fresh {
		f.Detail += "; its tables will be created on the first start"
	}
	return f
}

// atWriterAlone reports whether the tables that the reader lacks exist at the writer. It is
// false without a reader.
func atWriterAlone(ctx context.Context, s config.Settings, db *store.Store) bool {
	if s.Database.ReaderHost == "" {
		return false
	}
	_, err := db.LeaseHolder(ctx, "any")
	return err == nil
}

// misses calls missesDatabase with the open database, or with nil if it is empty.
func (d *stored) misses(ctx context.Context, s config.Settings) error {
	if d.fresh {
		return missesDatabase(ctx, s, nil)
	}
	return missesDatabase(ctx, s, d.db)
}

// Limits of the provider checks.
const (
	maxUpstreams    = 100 // addresses that are tried
	upstreamsAtOnce = 8
	upstreamPatient = 15 * time.Second
)

// checkUpstreams checks that the saved providers can be reached, through the same client,
// guard and proxy as real calls. It does not send credentials. Without saved providers it tries
// the host of OpenAI. A failure is then only a warning, because nothing in use depends on it.
func (d *stored) checkUpstreams(ctx context.Context, s config.Settings, _ *slog.Logger) []Finding {
	specs, err := provider.Load()
	if err != nil {
		return []Finding{{Subject: "upstream", Err: err}}
	}
	addresses, err := d.addresses(ctx, specs)
	if err != nil {
		return []Finding{{Subject: "upstream", Err: fmt.Errorf("read saved providers: %w", storeError(s, err)), Hint: "check ENCRYPTION_KEY or the key file in DATA_DIR, which seals saved credentials"}}
	}
	none := len(addresses) == 0
	if none {
		well, _ := specs.Find("openai")
		addresses = []string{well.BaseURL}
	}
	c := transport.New(transportOptions(s, netguard.New(s.Security.TrustedCustomHosts)))
	defer c.Close()
	out := make([]Finding, min(len(addresses), maxUpstreams))
	var g sync.WaitGroup
	turns := make(chan struct{}, upstreamsAtOnce)
	for i := range out {
		turns <- struct{}{}
		g.Go(func() {
			out[i] = tryUpstream(ctx, c, addresses[i])
			<-turns
		})
	}
	g.Wait()
	if f := &out[0]; none && f.Err != nil {
		f.Warning, f.Err = true, fmt.Errorf("%s; %w", d.whyNone(), f.Err)
	} else if none {
		f.Detail += "; " + d.whyNone()
	}
	return out
}

// whyNone returns the reason why there are no provider addresses.
func (d *stored) whyNone() string {
	if !d.fresh && (d.db == nil || d.box == nil) {
		return "cannot read the saved providers"
	}
	return "no providers are saved"
}

// tryUpstream calls an address without a credential. Every response counts as success.
func tryUpstream(ctx context.Context, c *transport.Client, address string) Finding {
	f := Finding{Subject: "upstream", Hint: "check DNS, the firewall, and HTTP_PROXY, HTTPS_PROXY and NO_PROXY; private addresses must be in TRUSTED_CUSTOM_HOSTS"}
	u, err := url.Parse(address)
	if err != nil {
		f.Err = err
		return f
	}
	ctx, stop := context.WithTimeout(ctx, upstreamPatient)
	defer stop()
	target := strings.TrimSuffix(u.EscapedPath(), "/") + "/models"
	resp, err := c.Do(ctx, &transport.Request{Method: http.MethodGet, Scheme: u.Scheme, Host: u.Host, Target: target, HeadTimeout: upstreamPatient})
	if err != nil {
		f.Err = fmt.Errorf("%s: %w", u.Host, err)
		return f
	}
	_ = resp.Body.Close() // only the fact that it responds matters
	f.Detail = fmt.Sprintf("%s responds (%d without a key)", u.Host, resp.Status)
	return f
}

// addresses returns the sorted addresses of saved integrations, virtual keys and configs, one
// per scheme and host. It returns nil if the database is empty or cannot be read.
func (d *stored) addresses(ctx context.Context, specs *provider.Table) ([]string, error) {
	if d.db == nil || d.box == nil || d.fresh {
		return nil, nil
	}
	found := hosts{box: d.box, specs: specs, addresses: map[string]string{}}
	for kind, add := range map[string]func(resource.Record) error{
		credential.IntegrationKind: found.integration, credential.VirtualKeyKind: found.virtualKey, routing.SavedKind: found.config,
	} {
		for q := (resource.Query{Kind: kind, Statuses: []string{active}, Limit: 500}); ; {
			rows, err := d.db.List(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				if err := add(r); err != nil {
					return nil, fmt.Errorf("%s %q: %w", kind, r.Name, err)
				}
			}
			if len(rows) < q.Limit {
				break
			}
			q.After = rows[len(rows)-1].ID
		}
	}
	return slices.Sorted(maps.Values(found.addresses)), nil
}

// hosts collects addresses by scheme and host.
type hosts struct {
	box       *sealed.Sealer
	specs     *provider.Table
	addresses map[string]string
}

func (h hosts) integration(r resource.Record) error {
	var integration credential.Integration
	if err := json.Unmarshal(r.Body, &integration); err != nil || r.ID == demoIntegration { // the demo integration exists only while the demo runs
		return err
	}
	for i := range integration.Models {
		if len(integration.Models[i].Sealed) == 0 {
			continue
		}
		if err := h.account(integration.AIProviderID, integration.Models[i].Sealed, credential.IntegrationKind+"/"+r.ID); err != nil {
			return err
		}
	}
	return h.account(integration.AIProviderID, integration.Configurations, credential.IntegrationKind+"/"+r.ID)
}

func (h hosts) virtualKey(r resource.Record) error {
	var k credential.VirtualKey
	if err := json.Unmarshal(r.Body, &k); err != nil {
		return err
	}
	return h.account(k.Provider, k.Sealed, credential.VirtualKeyKind+"/"+r.ID)
}

// account adds the address that a provider account uses. It takes the address from the plan of
// a call. If the stored fields are not enough for a plan, it takes the custom host or else the
// base URL of the provider. add skips addresses that a call has yet to complete.
func (h hosts) account(id string, fields []byte, context string) error {
	values := provider.Values{}
	if len(fields) > 0 {
		plain, err := h.box.Open(fields, context)
		if err != nil {
			return err
		}
		var stored map[string]any
		if err := json.Unmarshal(plain, &stored); err != nil {
			return err
		}
		for name, v := range stored {
			if text, ok := v.(string); ok {
				values[name] = text
			}
		}
	}
	spec, ok := h.specs.Find(id)
	if !ok {
		return nil
	}
	values[provider.Key] = "none"
	plan, err := spec.Plan(provider.Call{Endpoint: "listModels", Method: http.MethodGet, Path: "/models"}, values)
	switch {
	case err == nil:
		h.add(plan.Scheme + "://" + plan.Host + plan.Base)
	case values["custom_host"] != "":
		h.add(values["custom_host"])
	default:
		h.add(spec.BaseURL)
	}
	return nil
}

// config adds the custom hosts of a saved config, at any depth.
func (h hosts) config(r resource.Record) error {
	var saved routing.Saved
	if err := json.Unmarshal(r.Body, &saved); err != nil {
		return err
	}
	text, err := saved.Open(h.box, r.ID)
	if err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	h.walk(doc)
	return nil
}

func (h hosts) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			h.walk(item)
		}
	case map[string]any:
		for name, item := range v {
			if host, ok := item.(string); ok && (name == "custom_host" || name == "customHost") {
				h.add(host)
			}
			h.walk(item)
		}
	}
}

// add adds an address that is a valid URL without placeholders, if its scheme and host are new.
func (h hosts) add(address string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" && !strings.ContainsAny(address, "{}") {
		key := u.Scheme + "://" + u.Host
		if _, known := h.addresses[key]; !known {
			h.addresses[key] = address
		}
	}
}
