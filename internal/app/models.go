package app

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/internal/catalog"
)

// openCatalog knows what models cost and can do. Its service is asked for the providers
// that this gateway knows alone.
func (a *App) openCatalog(context.Context) error {
	set := a.set.Models
	var sources []catalog.Source
	if set.ProxyFetch && set.ProxyURL != "" {
		sources = append(sources, catalog.Proxy(set.ProxyURL, a.client.HTTPClient(), func(provider string) bool {
			_, ok := a.specs.Find(provider)
			return ok
		}))
	}
	sources = append(sources,
		catalog.LogStore(directory(filepath.Join(a.set.Data.Dir, "logs")), set.PricingLogStore, set.CapabilitiesLogStore),
		catalog.Dirs(set.PricingDir, set.CapabilitiesDir), catalog.Builtin())
	a.catalog = catalog.New(a.clock, a.log, sources...)
	a.prices = catalog.NewBook(a.catalog)
	return nil
}

// directory is the local log store, as catalog.Objects.
type directory string

// Open implements catalog.Objects. Paths do not lead out of the directory.
func (d directory) Open(_ context.Context, path string) (io.ReadCloser, error) {
	if !fs.ValidPath(path) {
		return nil, fmt.Errorf("%.200q is no path in the log store", path)
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // files stay open without it
	return root.Open(path)
}
