package wire_test

import (
	"testing"

	"sluice/internal/kernel/wire"
)

func TestProxies(t *testing.T) {
	t.Parallel()
	trusted, err := wire.ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"no header", "10.0.0.1", nil, "10.0.0.1"},
		{"a stranger who claims", "203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"},
		{"one proxy", "10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"what the client made up stands before", "10.0.0.1", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"},
		{"a chain of proxies", "10.0.0.1", []string{"198.51.100.1, 10.9.9.9", "192.0.2.1"}, "198.51.100.1"},
		{"only proxies", "10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"with a port", "10.0.0.1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"IPv6 with a port", "2001:db8::1", []string{"[2001:dead::7]:443"}, "2001:dead::7"},
		{"IPv6 in brackets", "2001:db8::1", []string{"[2001:dead::7]"}, "2001:dead::7"},
		{"mapped IPv4", "::ffff:10.0.0.1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a network of mapped IPv4", "172.17.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"beside a network of mapped IPv4", "172.32.0.1", []string{"198.51.100.1"}, "172.32.0.1"},
		{"no address", "10.0.0.1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"empty", "10.0.0.1", []string{""}, "10.0.0.1"},
		{"nothing that is an address", "@", []string{"198.51.100.1"}, "@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := trusted.Client(c.remote, c.forwarded...); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	if got := wire.Proxies(nil).Client("10.0.0.1", "198.51.100.1"); got != "10.0.0.1" {
		t.Errorf("nobody is trusted, but the client is %s", got)
	}
	for _, bad := range []string{"", "10.0.0.0/33", "::ffff:0.0.0.0/95", "proxy.example.com"} {
		if _, err := wire.ParseProxies([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestProxiesThatSpeakTLS(t *testing.T) {
	t.Parallel()
	trusted, err := wire.ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      bool
	}{
		{"10.0.0.1", nil, false},
		{"10.0.0.1", []string{"http"}, false},
		{"10.0.0.1", []string{"HTTPS"}, true},
		{"10.0.0.1", []string{" https , http"}, true},
		{"10.0.0.1", []string{"http, https"}, false},
		{"10.0.0.1", []string{"https", "http"}, true},
		{"203.0.113.9", []string{"https"}, false},
		{"@", []string{"https"}, false},
	} {
		if got := trusted.Secure(c.remote, c.forwarded...); got != c.want {
			t.Errorf("%s %q: %v", c.remote, c.forwarded, got)
		}
	}
	if wire.Proxies(nil).Secure("10.0.0.1", "https") {
		t.Error("nobody is trusted, and one is believed")
	}
}
