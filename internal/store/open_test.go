package store_test

import (
	"bytes"
	"log/slog"
	"net"
	"testing"

	"sluice/internal/sealed"
	"sluice/internal/store"
)

// Who opens a store is told what is wrong, and says so; it is not in the log besides.
func TestOpenLeavesItsErrorToWhoOpens(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := taken.Addr().(*net.TCPAddr).Port
	_ = taken.Close()
	for _, engine := range []string{store.Postgres, store.MySQL} {
		var log bytes.Buffer
		_, err := store.Open(t.Context(), store.Settings{
			Engine: engine, PoolSize: 1, TLS: store.TLS{Mode: "DISABLED"},
			Writer: store.Endpoint{Host: "127.0.0.1", Port: port, User: "u", Pass: sealed.New("p"), Name: "d"},
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || log.Len() > 0 {
			t.Errorf("%s: %v, and the log says %q", engine, err, log.String())
		}
	}
}
