package admin

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"

	"sluice/internal/ident"
	"sluice/internal/resource"
)

//go:embed docs.html
var docsHTML []byte

// docsPolicy lets the page of the description run its own script and style, no other, and
// lets no other site frame it. base-uri, form-action and frame-ancestors do not follow
// default-src. Source: CSP Level 3 sections 6.3 and 6.4.
var docsPolicy = "default-src 'none'; connect-src 'self'; script-src " + hashOf("script") + "; style-src " + hashOf("style") +
	"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// hashOf is what names an element of the page in the policy: the hash of all that stands
// between its tags.
func hashOf(element string) string {
	_, inside, _ := bytes.Cut(docsHTML, []byte("<"+element+">"))
	inside, _, _ = bytes.Cut(inside, []byte("</"+element+">"))
	sum := sha256.Sum256(inside)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page returns the handler of a page that needs no key, nil for any other path: the
// description of the interface and a page that shows it.
func (a *Admin) page(path string) http.HandlerFunc {
	switch path {
	case "/docs":
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", docsPolicy)
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
