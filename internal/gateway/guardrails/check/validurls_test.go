package check_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

func TestValidUrls_TestEachURLOnce(t *testing.T) {
	t.Parallel()
	url, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/good", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/private":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case "/good", "/a_(b)":
		default:
			w.WriteHeader(404)
		}
	})
	d := outside(t)
	for _, c := range []struct {
		name, parameters, text string
		want                   bool
		data                   string
	}{
		{"a URL", `{}`, "see " + url + "/good.", true, `{"validUrls":["` + url + `/good"],"invalidUrls":[]}`},
		{"a URL in Markdown", `{}`, "see [it](" + url + "/good), **" + url + "/a_(b)**", true, ""},
		{"a missing one", `{}`, url + "/good " + url + "/bad", false, `{"invalidUrls":["` + url + `/bad"]}`},
		{"a missing one with not", `{"not":true}`, url + "/bad", true, ""},
		{"a redirect", `{}`, url + "/moved", true, ""},
		{"a circle of redirects", `{}`, url + "/circle", false, ""},
		{"a redirect to a private address", `{}`, url + "/private", false, ""},
		{"a private address", `{}`, "http://192.168.0.1/", false, ""},
		{"no URL", `{}`, "see example.com", false, `{"explanation":"the text contains no URL"}`},
		{"no URL with not", `{"not":true}`, "", false, ""},
	} {
		got := run(t, d, "default.validUrls", c.parameters, &check.Input{Phase: guardrail.Output, Texts: []string{c.text}})
		t.Log(c.name)
		compare(t, &got, c.want, "", c.data)
	}
	for range len(requests) {
		if r := <-requests; r.method != "HEAD" {
			t.Errorf("method %s", r.method)
		}
	}
}

func TestValidUrls_BoundsTheirNumber(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 101 {
		fmt.Fprintf(&text, "http://10.0.0.1/%d ", i)
	}
	got := run(t, outside(t), "default.validUrls", `{}`, &check.Input{Texts: []string{text.String()}})
	compare(t, &got, false, "more than 100 URLs", "")
	got = run(t, nil, "default.validUrls", `{}`, &check.Input{Texts: []string{"http://a.example"}})
	compare(t, &got, false, "cannot call external services", "")
}

// names resolves the host names that it contains.
type names map[string]bool

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if n[host] {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
	}
	return nil, errors.New("not found")
}

func TestValidUrls_WithOnlyDNSResolveNames(t *testing.T) {
	t.Parallel()
	d := &check.Deps{Resolver: names{"a.example": true}}
	for text, want := range map[string]bool{"http://a.example/x": true, "HTTPS://a.example:8443/": true, "http://b.example": false, "http://a.example http://b.example": false} {
		got := run(t, d, "default.validUrls", `{"onlyDNS":true}`, &check.Input{Texts: []string{text}})
		compare(t, &got, want, "", "")
	}
}
