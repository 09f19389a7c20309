package dataplane_test

import (
	"strings"
	"testing"

	"sluice/internal/dataplane"
)

// What the workspace says of a call counts before what its key says, and that before what the
// caller says, who could else choose which policies are meant for them.
func TestMetadataPrecedence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.place.Defaults.Metadata = map[string]string{"team": "workspace", "a": "workspace"}
	for _, e := range r.dir.keys {
		e.Key.Defaults.Metadata = map[string]string{"team": "key", "a": "key", "b": "key"}
	}
	r.call("POST", "/v1/chat/completions", hello, r.custom(`x-gateway-metadata: {"team":"request","b":"request","c":"request"}`)...)
	m := r.journal.one(t).Metadata
	if m["team"] != "workspace" || m["a"] != "workspace" || m["b"] != "key" || m["c"] != "request" {
		t.Errorf("%v", m)
	}
}

// Values are as long as so many characters, of whatever size.
func TestMetadataCut(t *testing.T) {
	t.Parallel()
	for _, n := range []int{127, 128, 129} {
		r := newRig(t)
		r.call("POST", "/v1/chat/completions", hello, r.custom(`x-gateway-metadata: {"team":"`+strings.Repeat("я", n)+`"}`)...)
		if got, want := r.journal.one(t).Metadata["team"], strings.Repeat("я", min(n, 128)); got != want {
			t.Errorf("%d characters become %q", n, got)
		}
	}
}

// A caller of an alias lists its own names.
func TestSensitiveHeadersOfAnAlias(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *dataplane.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	r.call("POST", "/v1/chat/completions", hello, r.custom("x-acme-sensitive-headers: x-acme-tenant-note", "x-acme-tenant-note: hushhush")...)
	if h := string(r.journal.one(t).ClientRequest.Head); strings.Contains(h, "hushhush") || !strings.Contains(h, "tenant-note") {
		t.Errorf("%s", h)
	}
}
