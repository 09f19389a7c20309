package storetest

import (
	"path/filepath"
	"strconv"
	"testing"

	"sluice/internal/storage/sqlstore"
)

// hba lets everybody in without a password, except that "certified" must show a
// certificate and "encrypted" must use TLS.
const hba = `hostssl   all         certified 127.0.0.1/32 cert
host      all         certified 127.0.0.1/32 reject
hostssl   all         encrypted 127.0.0.1/32 trust
host      all         encrypted 127.0.0.1/32 reject
host      all         all       127.0.0.1/32 trust
host      replication all       127.0.0.1/32 trust
`

// StartPostgres starts a private server. With an authority it offers TLS under a
// certificate for "localhost" alone; the roles "certified" and "encrypted" exist.
func StartPostgres(t testing.TB, ca *CA) *Server {
	t.Helper()
	binary := find(t, "postgres", "/usr/lib/postgresql/*/bin/postgres")
	s := prepare(t, sqlstore.Postgres, binary, "postgres")
	s.Endpoint.User, s.Endpoint.Name = "admin", "postgres"
	data := filepath.Join(s.dir, "data")
	s.run(t, filepath.Join(filepath.Dir(binary), "initdb"), "-D", data, "-A", "trust", "-U", "admin", "-E", "UTF8", "--no-sync")
	s.args = postgresArgs(s, data)
	s.args = append(s.args, "-c", "hba_file="+s.file(t, "hba.conf", hba))
	if ca != nil {
		cert, key := ca.Issue(t, "localhost")
		s.args = append(s.args, "-c", "ssl=on", "-c", "ssl_ca_file="+s.file(t, "ca.pem", ca.PEM),
			"-c", "ssl_cert_file="+s.file(t, "cert.pem", cert), "-c", "ssl_key_file="+s.file(t, "key.pem", key))
	}
	s.Start(t)
	s.Admin(t, "CREATE ROLE certified LOGIN", "CREATE ROLE encrypted LOGIN")
	return s
}

// Standby starts a replica of a PostgreSQL server: it follows and takes no writes.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	r := prepare(t, sqlstore.Postgres, s.binary, "postgres")
	r.Endpoint.User, r.Endpoint.Name = s.Endpoint.User, s.Endpoint.Name
	data := filepath.Join(r.dir, "data")
	r.run(t, filepath.Join(filepath.Dir(s.binary), "pg_basebackup"), "-D", data, "-R", "-c", "fast", "--no-sync",
		"-h", "127.0.0.1", "-p", strconv.Itoa(s.Endpoint.Port), "-U", s.Endpoint.User)
	r.args = append(postgresArgs(r, data), "-c", "hba_file="+r.file(t, "hba.conf", hba),
		"-c", "wal_retrieve_retry_interval=200ms") // how soon it looks for its primary again
	r.Start(t)
	return r
}

func postgresArgs(s *Server, data string) []string {
	return []string{"-D", data, "-p", strconv.Itoa(s.Endpoint.Port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "fsync=off"}
}
