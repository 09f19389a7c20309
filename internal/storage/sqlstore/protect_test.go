package sqlstore_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// The certificate of the servers is for "localhost" alone, so their address is a
// wrong host name.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca, stranger := storetest.NewCA(t), storetest.NewCA(t)
	cert, key := ca.Issue(t, "certified")
	strangeCert, strangeKey := stranger.Issue(t, "certified")
	cases := []struct {
		name, user, host string
		tls              sqlstore.TLS
		ok               bool
	}{
		{"disabled", "admin", "127.0.0.1", sqlstore.TLS{Mode: "DISABLED"}, true},
		{"empty is disabled", "encrypted", "127.0.0.1", sqlstore.TLS{}, false},
		{"disabled where encryption is demanded", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "DISABLED"}, false},
		{"preferred encrypts", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "PREFERRED"}, true},
		{"required verifies nothing", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "REQUIRED", CA: stranger.PEM}, true},
		{"lower case", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "required"}, true},
		{"verify-ca, right authority", "encrypted", "localhost", sqlstore.TLS{Mode: "VERIFY_CA", CA: ca.PEM}, true},
		{"verify-ca, wrong host name", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "VERIFY_CA", CA: ca.PEM}, true},
		{"verify-ca, wrong authority", "encrypted", "localhost", sqlstore.TLS{Mode: "VERIFY_CA", CA: stranger.PEM}, false},
		{"verify-ca, authorities of the system", "encrypted", "localhost", sqlstore.TLS{Mode: "VERIFY_CA"}, false},
		{"verify-identity, right", "encrypted", "localhost", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: ca.PEM}, true},
		{"verify-identity, wrong host name", "encrypted", "127.0.0.1", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: ca.PEM}, false},
		{"verify-identity, wrong authority", "encrypted", "localhost", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: stranger.PEM}, false},
		{"managed bundle, not its server", "encrypted", "localhost", sqlstore.TLS{Mode: "Amazon RDS"}, false},
		{"managed bundle and an authority of ours", "encrypted", "localhost", sqlstore.TLS{Mode: "AMAZON_RDS", CA: ca.PEM}, true},
		{"client certificate", "certified", "localhost", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: ca.PEM, Cert: cert, Key: sealed.New(key)}, true},
		{"client certificate, verify-ca", "certified", "localhost", sqlstore.TLS{Mode: "VERIFY_CA", CA: ca.PEM, Cert: cert, Key: sealed.New(key)}, true},
		{"client certificate of a stranger", "certified", "localhost", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: ca.PEM, Cert: strangeCert, Key: sealed.New(strangeKey)}, false},
		{"no client certificate", "certified", "localhost", sqlstore.TLS{Mode: "VERIFY_IDENTITY", CA: ca.PEM}, false},
	}
	for engine, start := range map[string]func(testing.TB, *storetest.CA) *storetest.Server{
		sqlstore.Postgres: storetest.StartPostgres, sqlstore.MySQL: storetest.StartMariaDB,
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings := start(t, ca).Settings(t)
			admin := settings.Writer.User
			for _, c := range cases {
				settings.TLS, settings.Writer.Host, settings.Writer.User = c.tls, c.host, c.user
				if c.user == "admin" {
					settings.Writer.User = admin
				}
				if err := opens(t, settings); (err == nil) != c.ok {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	}
}

// A server without TLS: only the modes that do not insist on it connect.
func TestTLSNotOffered(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]sqlstore.Settings{
		sqlstore.Postgres: storetest.StartPostgres(t, nil).Settings(t),
		sqlstore.MySQL:    storetest.StartMariaDB(t, nil).Settings(t),
	} {
		for mode, ok := range map[string]bool{"DISABLED": true, "PREFERRED": true, "REQUIRED": false, "VERIFY_CA": false, "VERIFY_IDENTITY": false} {
			settings.TLS.Mode = mode
			if err := opens(t, settings); (err == nil) != ok {
				t.Errorf("%s, %s: %v", name, mode, err)
			}
		}
	}
}

func opens(t *testing.T, settings sqlstore.Settings) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := sqlstore.Open(ctx, settings, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return s.Close()
}
