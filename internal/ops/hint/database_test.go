package hint

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore"
)

// What PostgreSQL 15, MariaDB 10.11 and their drivers say, and what is to be done about it.
func TestDatabaseCures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, hint string }{
		{"failed to connect to `user=sluice database=sluice`:\n\t127.0.0.1:5432 (127.0.0.1): tls error: server refused TLS connection\n\t" +
			`127.0.0.1:5432 (127.0.0.1): failed SASL auth: FATAL: password authentication failed for user "sluice" (SQLSTATE 28P01)`, "check DB_USER and DB_PASS"},
		{"Error 1045 (28000): Access denied for user 'sluice'@'localhost' (using password: YES)", "check DB_USER and DB_PASS"},
		{`FATAL: no pg_hba.conf entry for host "10.0.0.7", user "sluice", database "sluice", no encryption (SQLSTATE 28000)`, "allow DB_USER to connect"},
		{`server error: FATAL: database "nope" does not exist (SQLSTATE 3D000)`, "create the database that DB_NAME names"},
		{"Error 1044 (42000): Access denied for user 'sluice'@'localhost' to database 'nope'", "check DB_NAME, and grant"},
		{`database: server error: FATAL: role "nobody" does not exist (SQLSTATE 28000)`, "check DB_USER and DB_PASS"},
		{"migrate: 0032_more.sql: ERROR: must be owner of table records (SQLSTATE 42501)", "run sluice migrate as the database user that owns the tables"},
		{"create the table leases: ERROR: permission denied for schema public (SQLSTATE 42501)", "grant DB_USER the privilege to create"},
		{`0001_records.sql: ERROR: relation "records" already exists (SQLSTATE 42P07)`, "a separate database"},
		{"FATAL: sorry, too many clients already (SQLSTATE 53300)", "lower DB_POOL_SIZE"},
		{"hostname resolving error: lookup nosuch.invalid on 10.0.0.2:53: no such host", "check DB_HOST, and the DNS resolver"},
		{"dial tcp 127.0.0.1:13999: connect: connection refused", "check that the server runs"},
		{"tls error: server refused TLS connection\n\treceived unexpected message", "does not match DB_TYPE"},
		{"context deadline exceeded", "and the firewall"},
		{"tls: failed to verify certificate: x509: certificate signed by unknown authority", "set DB_SSL_CA"},
		{"127.0.0.1:5432 (127.0.0.1): tls error: server refused TLS connection", "enable TLS in the server"},
		{"TLS requested but server does not support TLS", "enable TLS in the server"},
		{"something else", anyServerFault},
	} {
		if got := Database(sqlstore.Settings{Engine: sqlstore.Postgres}, errors.New(c.message)); !strings.Contains(got, c.hint) {
			t.Errorf("%q does not contain %q", got, c.hint)
		}
	}
}

// A driver that tried twice is quoted once.
func TestDatabaseErrorSaysItOnce(t *testing.T) {
	t.Parallel()
	err := errors.New("database reader: failed to connect:\n\trefused\n\trefused")
	if got := DatabaseError(sqlstore.Settings{Engine: sqlstore.SQLite}, err); got.Error() != "database: failed to connect:\n\trefused" || !errors.Is(got, err) {
		t.Errorf("%q", got)
	}
}
