package app

import (
	"sluice/internal/catalog"
)

// modelCatalog knows what models cost and can do. Its service is asked for the providers
// that this gateway knows alone.
func (a *App) modelCatalog() *catalog.Catalog {
	set := a.set.Models
	var sources []catalog.Source
	if set.ProxyFetch && set.ProxyURL != "" {
		sources = append(sources, catalog.Proxy(set.ProxyURL, a.client.HTTPClient(), func(provider string) bool {
			_, ok := a.specs.Find(provider)
			return ok
		}))
	}
	sources = append(sources, catalog.Dirs(set.PricingDir, set.CapabilitiesDir), catalog.Builtin())
	return catalog.New(a.clock, a.log, sources...)
}
