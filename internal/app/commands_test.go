package app

import (
	"testing"
)

// A gateway on every interface is reached from its own machine all the same.
func TestHealthURL(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1":    "http://127.0.0.1:8787/v1/health",
		"0.0.0.0":      "http://127.0.0.1:8787/v1/health",
		"::":           "http://127.0.0.1:8787/v1/health",
		"":             "http://127.0.0.1:8787/v1/health", // LISTEN=:8787
		"localhost":    "http://localhost:8787/v1/health",
		"::1":          "http://[::1]:8787/v1/health",
		"fe80::1%eth0": "http://[fe80::1%25eth0]:8787/v1/health",
	} {
		s := freshSettings(t)
		s.Server.Listen, s.Server.Port = listen, 8787
		if got := HealthURL(s); got != want {
			t.Errorf("%q: %s, want %s", listen, got, want)
		}
	}
}
