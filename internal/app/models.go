package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/catalog"
	"sluice/internal/config"
)

// openCatalog opens the catalog of what models cost and support. The service at
// MODEL_CONFIGS_PROXY_URL is queried only for the providers that this gateway supports.
func (a *App) openCatalog(context.Context) error {
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

// How long a start and a change wait for price lists. All later changes wait until a change is
// applied, and a revoked key must stop working within a second.
const (
	startPricesWait  = 2 * time.Second
	changePricesWait = 300 * time.Millisecond
)

// preloadPrices reads the price lists of each provider kind before a saved provider of that kind
// comes into force, now and later. So first calls are not reserved for and billed at built-in
// prices, or without a price, instead of the operator's prices.
func (a *App) preloadPrices(ctx context.Context) error {
	if set := a.set.Models; set.ProxyURL != "" || set.PricingDir != "" || set.PricingLogStore != "" {
		timeout := startPricesWait
		a.directory.OnNewProviders(ctx, func(ctx context.Context, kinds []string) {
			a.prices.Preload(ctx, a.providerIDs(kinds), timeout)
			timeout = changePricesWait
		})
	}
	return nil
}

// providerIDs returns the ids of the providers of saved kinds, which may be aliases.
func (a *App) providerIDs(kinds []string) (ids []string) {
	for _, kind := range kinds {
		if spec, ok := a.specs.Find(kind); ok {
			ids = append(ids, spec.ID)
		}
	}
	return ids
}

// warnOfMissing warns that a configured directory cannot be read. A single missing file is
// normal, so otherwise all files of the directory would be missing without a warning.
func (a *App) warnOfMissing(setting, dir string) {
	if dir == "" {
		return
	}
	if _, err := os.ReadDir(dir); err != nil {
		a.log.Warn("cannot read model directory; built-in entries stay in effect", "setting", setting, "error", err.Error())
	}
}

// catalogMetrics registers metrics of errors in the catalog.
func (a *App) catalogMetrics() {
	a.metrics.Gauge("sluice_catalog_faults", "Invalid files of prices and capabilities, replaced by older files or other sources.", func() float64 { return float64(len(a.catalog.Faults())) })
	a.metrics.Total("sluice_catalog_failures_total", "Files of prices and capabilities that cannot be read.", func() float64 { return float64(a.catalog.Failures()) })
	for _, reason := range catalog.Reasons() {
		a.metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_price_missing_total", Help: "Price lookups without a result, by reason.",
			ConstLabels: prometheus.Labels{"reason": string(reason)},
		}, func() float64 { return float64(a.prices.Misses(reason)) }))
	}
}
