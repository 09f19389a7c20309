package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/gateway/intake"
)

// What the workspace says of a call counts before what its key says, and that before what the
// caller says, who could else choose which policies are meant for them.
func TestMetadataPrecedence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.scope.Defaults.Metadata = map[string]string{"team": "workspace", "a": "workspace"}
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

// What becomes metadata or a field of the log is refused where it is not valid UTF-8, instead of
// being put on record as another text.
func TestHeadersThatAreNotUTF8AreRefused(t *testing.T) {
	t.Parallel()
	for header, value := range map[string]string{
		"x-gateway-metadata": "{\"team\":\"a\xff\"}", "x-gateway-trace-id": "t\xff", "x-gateway-span-id": "s\xff", "x-gateway-span-name": "n\xff",
		"x-gateway-parent-span-id": "p\xff", "baggage": "team=a\xff", "x-team": "a\xff", "x-gateway-runtime": "r\xff",
	} {
		r := newRig(t, func(s *gateway.Settings) {
			s.MetadataFrom = intake.MetadataHeaders{{Header: "x-team", Key: "team"}}
		})
		a := r.call("POST", "/v1/chat/completions", hello, r.custom(header+": "+value)...)
		if body := a.Text; a.StatusCode != 400 || !strings.Contains(body, header) || !strings.Contains(body, "UTF-8") || len(r.up.Seen()) > 0 {
			t.Errorf("%s: %d %s", header, a.StatusCode, body)
		}
		if a := r.call("POST", "/v1/chat/completions", hello, r.custom(header+": "+strings.ReplaceAll(value, "\xff", "é"))...); a.StatusCode != 200 {
			t.Errorf("%s: %d %s", header, a.StatusCode, a.Text)
		}
	}
}

// A caller of an alias lists its own names.
func TestSensitiveHeadersOfAnAlias(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	r.call("POST", "/v1/chat/completions", hello, r.custom("x-acme-sensitive-headers: x-acme-tenant-note", "x-acme-tenant-note: hushhush")...)
	if h := string(r.journal.one(t).ClientRequest.Head); strings.Contains(h, "hushhush") || !strings.Contains(h, "tenant-note") {
		t.Errorf("%s", h)
	}
}

// Front ends that have one key name their user in a header: it is metadata before policies and
// logs see it, after what the operator says, and reaches the provider on no route.
func TestHeadersBecomeMetadata(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		more       []string
	}{
		"typed":             {"/v1/chat/completions", hello, nil},
		"forwarded":         {"/v1/chat/completions", hello, []string{"x-gateway-forward-headers: x-openwebui-user-email,x-team"}},
		"passed through":    {"/v1/other", `{"a":1}`, nil},
		"with a body field": {"/v1/chat/completions", strings.Replace(hello, "{", `{"user":"somebody",`, 1), nil},
	} {
		r := newRig(t, func(s *gateway.Settings) {
			s.MetadataFrom = intake.MetadataHeaders{
				{Header: "x-openwebui-user-email", Key: "_user", Private: true}, {Header: "x-librechat-user-email", Key: "_user", Private: true},
				{Header: "x-openwebui-chat-id", Key: "chat", Private: true}, {Header: "x-team", Key: "x-team"},
			}
		})
		r.dir.scope.Defaults.Metadata = map[string]string{"chat": "of the workspace"}
		a := r.call("POST", c.path, c.body, r.custom(append(c.more, "x-openwebui-user-email: ann@example.com", "x-librechat-user-email: bob@example.com", "x-openwebui-chat-id: 7", "x-team: search")...)...)
		row := r.journal.one(t)
		if m := row.Metadata; m["_user"] != "ann@example.com" || m["x-team"] != "search" || m["chat"] != "of the workspace" || len(m) != 3 {
			t.Errorf("%s: %d, metadata %v", name, a.StatusCode, m)
		}
		sent := sentHeader(r.up.Seen()[0])
		for _, h := range []string{"x-openwebui-user-email", "x-librechat-user-email", "x-openwebui-chat-id"} {
			if sent[h] != "" {
				t.Errorf("%s: the provider gets %s: %s", name, h, sent[h])
			}
		}
		if (sent["x-team"] == "search") == (name == "typed" || name == "with a body field") {
			t.Errorf("%s: the provider gets x-team %q", name, sent["x-team"])
		}
	}
}
