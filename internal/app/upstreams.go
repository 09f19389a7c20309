package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/app/options"
	"sluice/internal/limits/catalog"
	"sluice/internal/ops/config"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/secretmanager"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// upstreams are the providers, the clients that reach them, and what their models cost.
type upstreams struct {
	*base
	specs   *provider.Table
	guard   *netguard.Guard
	client  *transport.Client
	signers *sign.Set
	secrets *secretmanager.Reader
	catalog *catalog.Catalog
	prices  *catalog.PriceList
}

// openProviders loads the provider specifications and creates the upstream client.
func (a *upstreams) openProviders(context.Context) (err error) {
	if a.specs, err = provider.Load(); err != nil {
		return fmt.Errorf("load provider specifications: %w", err)
	}
	a.guard = netguard.New(a.trustedHosts()).WithKeyHosts(a.set.Security.StoredKeyHosts)
	a.client = transport.New(options.Transport(a.set, a.guard))
	a.closers = append(a.closers, closerFunc(a.client.Close))
	a.signers = sign.New(options.Sign(a.set, a.client.HTTPClient()))
	a.secrets = secretmanager.New(options.SecretManagers(a.set, a.client.HTTPClient(), a.guard, a.signers, a.clock, a.log))
	a.closers = append(a.closers, closerFunc(a.secrets.Close))
	return nil
}

// trustedHosts returns the trusted hosts of the settings, and the scripted provider.
func (a *upstreams) trustedHosts() []string {
	if !a.options.Demo {
		return a.set.Security.TrustedCustomHosts
	}
	return append([]string{"127.0.0.1"}, a.set.Security.TrustedCustomHosts...)
}

// openCatalog opens the catalog of what models cost and support. The service at
// MODEL_CONFIGS_PROXY_URL is queried only for the providers that this gateway supports.
func (a *upstreams) openCatalog(context.Context) error {
	set := a.set.Models
	var sources []catalog.Source
	if set.ProxyFetch && set.ProxyURL != "" {
		sources = append(sources, catalog.Masked(catalog.Proxy(set.ProxyURL, a.client.HTTPClient(), func(provider string) bool {
			_, ok := a.specs.Find(provider)
			return ok
		}), config.WithoutLogin))
	}
	sources = append(sources,
		catalog.LogStore(catalog.Directory(filepath.Join(a.set.Data.Dir, "logs")), set.PricingLogStore, set.CapabilitiesLogStore),
		catalog.Dirs(set.PricingDir, set.CapabilitiesDir), catalog.Builtin())
	a.warnOfMissing("MODEL_CONFIGS_PRICING_LOCAL_PATH", set.PricingDir)
	a.warnOfMissing("MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH", set.CapabilitiesDir)
	a.catalog = catalog.New(a.clock, a.log, sources...)
	a.prices = catalog.NewPriceList(a.catalog, a.specs.Free()...)
	return nil
}

// providerIDs returns the ids of the providers of saved kinds, which may be aliases.
func (a *upstreams) providerIDs(kinds []string) (ids []string) {
	for _, kind := range kinds {
		if spec, ok := a.specs.Find(kind); ok {
			ids = append(ids, spec.ID)
		}
	}
	return ids
}

// warnOfMissing warns that a configured directory cannot be read. A single missing file is
// normal, so otherwise all files of the directory would be missing without a warning.
func (a *upstreams) warnOfMissing(setting, dir string) {
	if dir == "" {
		return
	}
	if _, err := os.ReadDir(dir); err != nil {
		a.log.Warn("cannot read model directory; built-in entries stay in effect", "setting", setting, "error", err.Error())
	}
}

// catalogMetrics registers metrics of errors in the catalog.
func (a *upstreams) catalogMetrics() {
	a.metrics.Gauge("sluice_catalog_faults", "Invalid files of prices and capabilities, replaced by older files or other sources.", func() float64 { return float64(len(a.catalog.Faults())) })
	a.metrics.Total("sluice_catalog_failures_total", "Files of prices and capabilities that cannot be read.", func() float64 { return float64(a.catalog.Failures()) })
	for _, reason := range catalog.Reasons() {
		a.metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_price_missing_total", Help: "Price lookups without a result, by reason.",
			ConstLabels: prometheus.Labels{"reason": string(reason)},
		}, func() float64 { return float64(a.prices.Misses(reason)) }))
	}
}
