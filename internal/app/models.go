package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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
		sources = append(sources, maskedSource{catalog.Proxy(set.ProxyURL, a.client.HTTPClient(), func(provider string) bool {
			_, ok := a.specs.Find(provider)
			return ok
		})})
	}
	sources = append(sources,
		catalog.LogStore(directory(filepath.Join(a.set.Data.Dir, "logs")), set.PricingLogStore, set.CapabilitiesLogStore),
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
			a.readPrices(ctx, kinds, timeout)
			timeout = changePricesWait
		})
	}
	return nil
}

// readPrices reads the price lists of provider kinds. Lists that take longer than timeout are
// read in the background.
func (a *App) readPrices(ctx context.Context, kinds []string, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var reading sync.WaitGroup
	for _, kind := range kinds {
		if spec, ok := a.specs.Find(kind); ok {
			reading.Go(func() { _ = a.prices.Ready(ctx, spec.ID) }) // an error means that the time is over
		}
	}
	reading.Wait()
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

// maskedSource removes the login of MODEL_CONFIGS_PROXY_URL from errors, because they are logged.
type maskedSource struct{ catalog.Source }

// Read implements catalog.Source.
func (s maskedSource) Read(ctx context.Context, f catalog.Folder, provider string) ([]byte, error) {
	raw, err := s.Source.Read(ctx, f, provider)
	if err != nil && !errors.Is(err, catalog.ErrNone) {
		err = errors.New(config.WithoutLogin(err.Error()))
	}
	return raw, err
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

// directory is the local log store as a catalog.Objects.
type directory string

// Open implements catalog.Objects. A path cannot leave the directory.
func (d directory) Open(_ context.Context, path string) (io.ReadCloser, error) {
	if !fs.ValidPath(path) {
		return nil, fmt.Errorf("%.200q is not a valid path in the log store", path)
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // files stay open without it
	return root.Open(path)
}
