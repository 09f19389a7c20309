package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"
)

// A connection that SQLite refuses at once, because somebody else changes the file, is there
// as soon as that ends.
func TestConnectAfterOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sluice.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), "CREATE TABLE a (b); BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	tries := 0
	late := driverFunc(func(dsn string) (driver.Conn, error) {
		if tries++; tries == 3 {
			if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
				return nil, err
			}
		}
		return db.Driver().Open(dsn)
	})
	conn, err := cachingConnector{late, "file:" + path + "?_pragma=journal_mode(WAL)"}.Connect(t.Context())
	if err != nil || tries != 3 {
		t.Fatalf("%d tries, %v", tries, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

type driverFunc func(dsn string) (driver.Conn, error)

func (f driverFunc) Open(dsn string) (driver.Conn, error) { return f(dsn) }

// On one connection a statement may be run again while its lines are read, however many
// others were kept and forgotten meanwhile, and the table may change under it.
func TestKeptStatements(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	conn, err := s.writer.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, n := range []string{"a", "b", "c"} {
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO counters (name, value) VALUES (?, 7)", n); err != nil {
			t.Fatal(err)
		}
	}
	const query = "SELECT name, (SELECT SUM(value) FROM counters WHERE value > ?) FROM counters WHERE value > ? ORDER BY name"
	name := func(rows *sql.Rows) (name string) {
		t.Helper()
		var sum int
		if err := rows.Scan(&name, &sum); err != nil || sum != 21 {
			t.Fatal(name, sum, err)
		}
		return name
	}
	names := func() (all string) {
		t.Helper()
		rows, err := conn.QueryContext(t.Context(), query, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			all += name(rows)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	outer, err := conn.QueryContext(t.Context(), query, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	outer.Next() // "a"
	if got := names(); got != "abc" {
		t.Errorf("read %q meanwhile", got)
	}
	for i := range 2 * maxCachedStmts {
		var v int
		if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d + ?", i), 1).Scan(&v); err != nil || v != i+1 {
			t.Fatal(v, err)
		}
	}
	rest := ""
	for outer.Next() {
		rest += name(outer)
	}
	if err := outer.Err(); err != nil || rest != "bc" {
		t.Errorf("read on %q, %v", rest, err)
	}
	if _, err := conn.ExecContext(t.Context(), "ALTER TABLE counters ADD COLUMN more INTEGER"); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != "abc" {
		t.Errorf("read %q of the table as it is now", got)
	}
	err = conn.Raw(func(c any) error {
		if stmts := c.(*stmtCacheConn).stmts; len(stmts) > maxCachedStmts {
			t.Errorf("%d statements are kept", len(stmts))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
