package admin

import (
	_ "embed"
	"net/http"

	"sluice/internal/ident"
	"sluice/internal/resource"
)

//go:embed docs.html
var docsHTML []byte

// page returns the handler of a page that needs no key, nil for any other path: the
// description of the interface and a page that shows it.
func (a *Admin) page(path string) http.HandlerFunc {
	switch path {
	case "/docs":
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
			send(w, "text/html; charset=utf-8", docsHTML)
		}
	case "/v1/openapi.json", "/v2/openapi.json":
		return func(w http.ResponseWriter, _ *http.Request) { send(w, "application/json", a.spec) }
	}
	return nil
}

func send(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set(resource.HeaderRequestID, ident.NewID())
	_, _ = w.Write(body) // the client may have left
}
