package store_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"sluice/internal/sealed"
	"sluice/internal/store"
	"sluice/internal/test/upstream"
)

// Who opens a store is told what is wrong, and says so; it is not in the log besides.
func TestOpenLeavesItsErrorToWhoOpens(t *testing.T) {
	t.Parallel()
	unreachable, err := netip.ParseAddrPort(strings.TrimPrefix(upstream.Refused(t), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{store.Postgres, store.MySQL} {
		var log bytes.Buffer
		_, err := store.Open(t.Context(), store.Settings{
			Engine: engine, PoolSize: 1, TLS: store.TLS{Mode: "DISABLED"},
			Writer: store.Endpoint{Host: unreachable.Addr().String(), Port: int(unreachable.Port()), User: "u", Pass: sealed.New("p"), Name: "d"},
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || log.Len() > 0 {
			t.Errorf("%s: %v, and the log says %q", engine, err, log.String())
		}
	}
}
