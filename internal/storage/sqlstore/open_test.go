package sqlstore_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/test/upstream"
)

// Who opens a store is told what is wrong, and says so; it is not in the log besides.
func TestOpenLeavesItsErrorToWhoOpens(t *testing.T) {
	t.Parallel()
	unreachable, err := netip.ParseAddrPort(strings.TrimPrefix(upstream.Refused(t), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{sqlstore.Postgres, sqlstore.MySQL} {
		var log bytes.Buffer
		_, err := sqlstore.Open(t.Context(), sqlstore.Settings{
			Engine: engine, PoolSize: 1, TLS: sqlstore.TLS{Mode: "DISABLED"},
			Writer: sqlstore.Endpoint{Host: unreachable.Addr().String(), Port: int(unreachable.Port()), User: "u", Pass: sealed.New("p"), Name: "d"},
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || log.Len() > 0 {
			t.Errorf("%s: %v, and the log says %q", engine, err, log.String())
		}
	}
}
