package storetest

import (
	"path/filepath"
	"strconv"
	"testing"

	"sluice/internal/storage/sqlstore"
)

// StartMariaDB starts a private server. With an authority it offers TLS under a
// certificate for "localhost" alone. The users "certified" (must show a
// certificate) and "encrypted" (must use TLS) exist and may do everything.
func StartMariaDB(t testing.TB, ca *CA) *Server {
	t.Helper()
	s := prepare(t, sqlstore.MySQL, find(t, "mariadbd", "/usr/sbin/mariadbd"), "mysql")
	s.Endpoint.User = "root"
	data := filepath.Join(s.dir, "data")
	s.run(t, find(t, "mariadb-install-db"), "--no-defaults", "--datadir="+data, "--tmpdir="+s.dir,
		"--auth-root-authentication-method=normal", "--skip-test-db")
	s.args = []string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + s.dir, "--port=" + strconv.Itoa(s.Endpoint.Port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(s.dir, "s.sock"), "--pid-file=" + filepath.Join(s.dir, "pid"), "--innodb-flush-log-at-trx-commit=2"}
	if ca != nil {
		cert, key := ca.Issue(t, "localhost")
		s.args = append(s.args, "--ssl-ca="+s.file(t, "ca.pem", ca.PEM), "--ssl-cert="+s.file(t, "cert.pem", cert), "--ssl-key="+s.file(t, "key.pem", key))
	}
	s.Start(t)
	// Both hosts: an account for localhost alone would hide the one for %.
	for _, host := range []string{"localhost", "%"} {
		s.Admin(t,
			"CREATE USER 'certified'@'"+host+"' REQUIRE X509", "GRANT ALL ON *.* TO 'certified'@'"+host+"'",
			"CREATE USER 'encrypted'@'"+host+"' REQUIRE SSL", "GRANT ALL ON *.* TO 'encrypted'@'"+host+"'")
	}
	return s
}
