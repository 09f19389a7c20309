package control

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"

	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

//go:embed docs.html
var docsHTML []byte

//go:embed invite.html
var inviteHTML []byte

// The pages, with their policies.
var (
	docsPage   = htmlPage(docsHTML)
	invitePage = htmlPage(inviteHTML)
)

// page returns the handler of a page that needs no key, nil for any other path. The pages are
// the description of the interface, a page that shows it, and the page that links of invitations
// lead to (inviteLink).
func (a *Admin) page(path string) http.HandlerFunc {
	switch path {
	case "/docs":
		return docsPage
	case people.InvitePath:
		return invitePage
	case "/v1/openapi.json", "/v2/openapi.json":
		return func(w http.ResponseWriter, _ *http.Request) { send(w, "application/json", a.spec) }
	}
	return nil
}

// htmlPage serves a page with one script and one style. The policy permits only these and
// requests to this gateway. Other sites cannot frame the page, and linked sites do not receive
// its address, which may contain a secret. base-uri, form-action and frame-ancestors do not
// follow default-src. Source: CSP Level 3 sections 6.3 and 6.4.
func htmlPage(html []byte) http.HandlerFunc {
	policy := "default-src 'none'; connect-src 'self'; script-src " + hashOf(html, "script") + "; style-src " + hashOf(html, "style") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		send(w, "text/html; charset=utf-8", html)
	}
}

// hashOf returns the hash that identifies an element of a page in its policy: the hash of
// everything between its tags.
func hashOf(html []byte, element string) string {
	_, inside, _ := bytes.Cut(html, []byte("<"+element+">"))
	inside, _, _ = bytes.Cut(inside, []byte("</"+element+">"))
	sum := sha256.Sum256(inside)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func send(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set(resource.HeaderRequestID, ident.NewID())
	_, _ = w.Write(body) // the client may have disconnected
}
