package attack

import (
	"strconv"
	"strings"
	"testing"
)

// Requests whose end two readers could see in different places are refused, and
// nothing of them comes to the upstream as a request of its own.
func TestFraming(t *testing.T) {
	t.Parallel()
	g := start(t)
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\n" + g.to() + "content-type: application/json\r\n"
	length := "content-length: " + strconv.Itoa(len(hello)) + "\r\n"
	chunk := strconv.FormatInt(int64(len(hello)), 16) + "\r\n" + hello + "\r\n0\r\n\r\n"
	next := "GET /v1/next HTTP/1.1\r\nHost: gw\r\n" + g.to() + "\r\n"
	cases := []struct {
		name, text string
		want       string // statuses of the answers
		calls      int    // at the upstream
	}{
		{"plain", head + length + "\r\n" + hello, "200", 1},
		{"chunked", head + "transfer-encoding: chunked\r\n\r\n" + chunk, "200", 1},
		{"both lengths", head + length + "transfer-encoding: chunked\r\n\r\n0\r\n\r\n" + next, "400", 0},
		{"two lengths", head + length + "content-length: 5\r\n\r\n" + hello, "400", 0},
		{"length list", head + "content-length: " + strconv.Itoa(len(hello)) + ", 5\r\n\r\n" + hello, "400", 0},
		{"signed length", head + "content-length: +" + strconv.Itoa(len(hello)) + "\r\n\r\n" + hello, "400", 0},
		{"negative length", head + "content-length: -1\r\n\r\n" + hello, "400", 0},
		{"length in hex", head + "content-length: 0x10\r\n\r\n" + hello, "400", 0},
		{"unknown coding", head + "transfer-encoding: gzip, chunked\r\n\r\n" + chunk, "501", 0},
		{"coding in disguise", head + "transfer-encoding: xchunked\r\n\r\n" + chunk, "501", 0},
		{"coding behind a blank", head + "transfer-encoding : chunked\r\n\r\n" + chunk, "400", 0},
		{"folded line", head + length + "x-a: b\r\n c: d\r\n\r\n" + hello, "400", 0},
		{"name with a blank", head + length + "x a: b\r\n\r\n" + hello, "400", 0},
		{"bare carriage return", head + length + "x-a: b\rx-c: d\r\n\r\n" + hello, "400", 0},
		{"nul in a value", head + length + "x-a: b\x00c\r\n\r\n" + hello, "400", 0},
		{"no host", "POST /v1/chat/completions HTTP/1.1\r\n" + g.to() + length + "\r\n" + hello, "400", 0},
		{"two hosts", head + "host: other\r\n" + length + "\r\n" + hello, "400", 0},
		{"host with a path", "GET /v1/x HTTP/1.1\r\nHost: gw/evil\r\n" + g.to() + "\r\n", "400", 0},
		{"other version", "GET /v1/x HTTP/3.0\r\nHost: gw\r\n\r\n", "505", 0},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", 0},
		{"broken chunk", head + "transfer-encoding: chunked\r\n\r\nzz\r\n" + hello, "", 0},
		{"chunk size overflow", head + "transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\n" + hello, "", 0},
		{"long header", "GET /v1/x HTTP/1.1\r\nHost: gw\r\nx-a: " + strings.Repeat("a", 200<<10) + "\r\n\r\n", "431", 0},
		{"many headers", "GET /v1/x HTTP/1.1\r\nHost: gw\r\n" + strings.Repeat("x-a: b\r\n", 20<<10) + "\r\n", "431", 0},
		{"long path", "GET /v1/" + strings.Repeat("a", 200<<10) + " HTTP/1.1\r\nHost: gw\r\n\r\n", "431", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := g.up.Total()
			got := strings.Join(statuses(g.raw(c.text)), " ")
			if c.want != "" && got != c.want || strings.HasPrefix(got, "2") != (c.want == "200") {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			if n := g.up.Total() - before; n != c.calls {
				t.Errorf("%d calls went up, want %d", n, c.calls)
			}
		})
	}
	g.alive()
}

// Paths and targets that could leave the provider's base or be read in two ways are
// refused or sent byte for byte; never turned into something else.
func TestTargets(t *testing.T) {
	t.Parallel()
	g := start(t)
	cases := []struct {
		target string
		sent   string // at the upstream; empty: refused
	}{
		{"/v1/things/a%2Fb%3Ac", "/v1/things/a%2Fb%3Ac"},
		{"/v1/things?x=%00&y=a%0d%0ab", "/v1/things?x=%00&y=a%0d%0ab"},
		{"/v1/things;a=b", "/v1/things;a=b"},
		{"/v1/../admin", ""},
		{"/v1/a/../../admin", ""},
		{"/v1/a/%2e%2e/%2E%2E/admin", ""},
		{"/v1/a/.%2e/admin", ""},
		{"/v1/a%2f..%2f..%2fadmin", ""},
		{"/v1/a/..%5cadmin", ""},
		{"/v1/a\\..\\admin", ""},
		{"/v1//evil.example/x", ""},
		{"//evil.example/v1/x", ""},
		{"/v1/proxy//evil.example/x", ""},
		{"/v1/@evil.example/x", "/v1/@evil.example/x"},
		{"http://evil.example/v1/things", "/v1/things"},
		{"http://evil.example", "/v1"},
		{"/v1/files/..%2f..%2fadmin", ""},
		{"/v1/files/%2e%2e/content", ""},
		{"/v1/fine_tuning/jobs/a%3fb/cancel", "/v1/fine_tuning/jobs/a%3fb/cancel"},
		{"*", ""},
		{"/v1/x#fragment", ""},
		{"/v1/x%", ""},
		{"/v1/x%zz", ""},
	}
	for _, c := range cases {
		t.Run(c.target, func(t *testing.T) {
			before := g.up.Total()
			raw := g.raw("GET " + c.target + " HTTP/1.1\r\nHost: gw\r\n" + g.to() + "\r\n")
			seen := g.up.Seen()[before:]
			switch {
			case c.sent == "" && len(seen) != 0:
				t.Errorf("sent %s", seen[0].Target)
			case c.sent == "" && !strings.HasPrefix(raw, "HTTP/1.1 4"):
				t.Errorf("answered %.80q", raw)
			case c.sent != "" && (len(seen) != 1 || seen[0].Target != c.sent):
				t.Errorf("sent %v, answered %.300q", seen, raw)
			}
		})
	}
	g.alive()
}
