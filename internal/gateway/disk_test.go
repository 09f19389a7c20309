package gateway_test

import (
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/gateway"
)

// A body that cannot be spooled is the gateway's failure, not a client that left.
func TestSpoolDiskFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.SpoolDir = filepath.Join(t.TempDir(), "missing") })
	big := strings.Replace(hello, "Hello there", strings.Repeat("a", 2<<20), 1)
	if a := r.call("POST", "/v1/chat/completions", big, r.custom()...); a.StatusCode != 500 || strings.Contains(a.Text, "missing") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}
