package storetest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
)

// The environment variables that name the servers for tests.
const (
	PostgresVariable = "SLUICE_TEST_POSTGRES" // "postgres://user:password@host:port/database"
	MySQLVariable    = "SLUICE_TEST_MYSQL"    // "mysql://user:password@host:port/"
)

// The default servers, for when the variables are not set.
const (
	defaultPostgres = "postgres://postgres@127.0.0.1:5432/postgres"
	defaultMySQL    = "mysql://root@127.0.0.1:3306/"
)

// setupLimit is the time limit of one call of admin and of the start of a server.
const setupLimit = 20 * time.Second

// Missing skips a test that needs something the machine does not have. With
// REQUIRE_SERVICES=1 it fails the test instead.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatalf("REQUIRE_SERVICES=1: "+format, args...)
	}
	t.Skipf(format, args...)
}

// SQLite returns the settings of a fresh file that is deleted after the test.
func SQLite(t testing.TB) sqlstore.Settings {
	return sqlstore.Settings{Engine: sqlstore.SQLite, Path: filepath.Join(t.TempDir(), "sluice.db")}
}

// Postgres returns the settings of a fresh database on the server that
// SLUICE_TEST_POSTGRES names ("postgres://user:password@host:port/database", by
// default postgres or root without a password on 127.0.0.1:5432). It is dropped
// after the test.
func Postgres(t testing.TB) sqlstore.Settings {
	t.Helper()
	first := server(t, PostgresVariable, defaultPostgres, sqlstore.Postgres)
	asRoot := first
	asRoot.User = "root"
	candidates := []sqlstore.Endpoint{first}
	if os.Getenv(PostgresVariable) == "" {
		candidates = append(candidates, asRoot)
	}
	return fresh(t, sqlstore.Postgres, PostgresVariable, candidates)
}

// MySQL is Postgres for SLUICE_TEST_MYSQL ("mysql://user:password@host:port/", by
// default root without a password on 127.0.0.1:3306).
func MySQL(t testing.TB) sqlstore.Settings {
	t.Helper()
	return fresh(t, sqlstore.MySQL, MySQLVariable, []sqlstore.Endpoint{server(t, MySQLVariable, defaultMySQL, sqlstore.MySQL)})
}

// server reads the address of a server from the environment. An invalid address fails the
// test.
func server(t testing.TB, variable, standard, engine string) sqlstore.Endpoint {
	t.Helper()
	e, err := endpoint(variable, standard, engine)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func endpoint(variable, standard, engine string) (sqlstore.Endpoint, error) {
	u, err := url.Parse(cmp.Or(os.Getenv(variable), standard))
	if err != nil || u.Hostname() == "" {
		return sqlstore.Endpoint{}, fmt.Errorf("%s is not of the form %s://user:password@host:port/", variable, engine)
	}
	port, _ := strconv.Atoi(u.Port()) // empty is 0, the standard port
	pass, _ := u.User.Password()
	name := strings.TrimPrefix(u.Path, "/")
	if engine == sqlstore.Postgres {
		name, port = cmp.Or(name, "postgres"), cmp.Or(port, 5432)
	}
	return sqlstore.Endpoint{Host: u.Hostname(), Port: cmp.Or(port, 3306), User: u.User.Username(), Pass: sealed.New(pass), Name: name}, nil
}

// NewPostgres is Postgres for programs that are not tests. The caller must call remove,
// which drops the database.
func NewPostgres(ctx context.Context) (set sqlstore.Settings, remove func() error, err error) {
	first, err := endpoint(PostgresVariable, defaultPostgres, sqlstore.Postgres)
	if err != nil {
		return set, nil, err
	}
	name := freshName()
	for _, user := range []string{first.User, "root"} {
		e := first
		e.User = user
		if err = admin(ctx, sqlstore.Postgres, e, "CREATE DATABASE "+name); err == nil {
			made := e
			made.Name = name
			return sqlstore.Settings{Engine: sqlstore.Postgres, Writer: made}, func() error {
				return admin(context.WithoutCancel(ctx), sqlstore.Postgres, e, drop(sqlstore.Postgres, name))
			}, nil
		}
	}
	return set, nil, err
}

// Vacuum runs VACUUM ANALYZE in a database of NewPostgres. The server does so automatically
// within minutes of many writes, unless autovacuum is off. Without it the server plans
// queries without statistics.
func Vacuum(ctx context.Context, set sqlstore.Settings) error {
	return admin(ctx, sqlstore.Postgres, set.Writer, "VACUUM ANALYZE")
}

func freshName() string { return "sluice_" + strings.ReplaceAll(ident.NewID(), "-", "") }

// fresh creates a database on the first server that permits it, and drops it after the test.
func fresh(t testing.TB, engine, variable string, candidates []sqlstore.Endpoint) sqlstore.Settings {
	t.Helper()
	name := freshName()
	var err error
	for _, e := range candidates {
		if err = admin(t.Context(), engine, e, "CREATE DATABASE "+name); err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := admin(context.Background(), engine, e, drop(engine, name)); err != nil {
				t.Errorf("drop the test database: %v", err)
			}
		})
		made := e
		made.Name = name
		return sqlstore.Settings{Engine: engine, Writer: made}
	}
	Missing(t, "no %s server for the test, %s names one: %v", engine, variable, err)
	return sqlstore.Settings{}
}

func drop(engine, name string) string {
	if engine == sqlstore.Postgres {
		return "DROP DATABASE " + name + " WITH (FORCE)"
	}
	return "DROP DATABASE " + name
}

// admin runs statements on a server, one after another.
func admin(ctx context.Context, engine string, e sqlstore.Endpoint, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	return with(engine, e, func(db *sql.DB) error {
		for _, s := range statements {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// with opens a connection to a server, calls use and closes the connection.
func with(engine string, e sqlstore.Endpoint, use func(*sql.DB) error) error {
	driver, dsn := "mysql", fmt.Sprintf("%s:%s@tcp(%s:%d)/?timeout=5s", e.User, e.Pass.Reveal(), e.Host, e.Port)
	if engine == sqlstore.Postgres {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(e.User, e.Pass.Reveal()), Host: fmt.Sprintf("%s:%d", e.Host, e.Port), Path: e.Name, RawQuery: "sslmode=prefer&connect_timeout=5"}
		driver, dsn = "pgx", u.String()
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is pending
	return use(db)
}

// Do runs statements in a database on a server, without the store. On MariaDB table names
// must be qualified with the name of the database.
func Do(t testing.TB, set sqlstore.Settings, statements ...string) {
	t.Helper()
	if err := admin(t.Context(), set.Engine, set.Writer, statements...); err != nil {
		t.Fatal(err)
	}
}

// Tables returns the names of the tables in a database on a server.
func Tables(t testing.TB, set sqlstore.Settings) (names []string) {
	t.Helper()
	schema := set.Writer.Name
	if set.Engine == sqlstore.Postgres {
		schema = "public"
	}
	err := with(set.Engine, set.Writer, func(db *sql.DB) error {
		rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+schema+"'")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // the rows were only read
		for name := ""; rows.Next(); names = append(names, name) {
			if err := rows.Scan(&name); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// table returns the name of a table as alter needs it.
func table(set sqlstore.Settings, name string) string {
	if set.Engine == sqlstore.MySQL {
		return set.Writer.Name + "." + name
	}
	return name
}

// alter changes the database without the store.
func alter(t *testing.T, set sqlstore.Settings, statement string) error {
	t.Helper()
	if set.Engine != sqlstore.SQLite {
		return admin(t.Context(), set.Engine, set.Writer, statement)
	}
	db, err := sql.Open("sqlite", "file:"+set.Path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(t.Context(), statement)
	return errors.Join(err, db.Close())
}

// Open opens and migrates a store. It closes the store when the test ends.
func Open(t testing.TB, s sqlstore.Settings) *sqlstore.Store {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open %s: %v", s.Engine, err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := st.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate %s: %v", s.Engine, err)
	}
	return st
}
