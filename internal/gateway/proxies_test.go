package gateway_test

import (
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/kernel/wire"
)

// The record has the address of the client, which only trusted proxies may tell.
func TestAddressesBehindProxies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trusted wire.Proxies
		want    string
	}{
		"nobody is trusted":   {nil, "127.0.0.1"},
		"another proxy is":    {proxies(t, "10.0.0.0/8"), "127.0.0.1"},
		"the proxy is":        {proxies(t, "127.0.0.1"), "198.51.100.9"},
		"all of its chain is": {proxies(t, "127.0.0.1", "198.51.100.0/24"), "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(s *gateway.Settings) { s.TrustedProxies = c.trusted })
			r.call("POST", "/v1/chat/completions", hello, r.custom("x-forwarded-for: 192.0.2.1, 198.51.100.9")...)
			if got := r.journal.one(t).Remote; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func proxies(t *testing.T, list ...string) wire.Proxies {
	t.Helper()
	p, err := wire.ParseProxies(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
