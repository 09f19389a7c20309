package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
)

var refused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	my := func(n uint16) error { return &mysql.MySQLError{Number: n} }
	pg := func(code string) error { return &pgconn.PgError{Code: code} }
	for _, c := range []struct {
		engine *engine
		err    error
		want   errorClass
	}{
		{newMySQL(), my(1062), duplicate},
		{newMySQL(), my(1213), again},
		{newMySQL(), my(1205), again},
		{newMySQL(), my(1290), unavailable},
		{newMySQL(), my(1050), exists},
		{newMySQL(), my(1146), absent},
		{newMySQL(), my(1040), unavailable},
		{newMySQL(), my(1021), full},
		{newMySQL(), my(1064), other},
		{newMySQL(), mysql.ErrInvalidConn, unavailable},
		{newPostgres(), pg("23505"), duplicate},
		{newPostgres(), pg("40001"), again},
		{newPostgres(), pg("40P01"), again},
		{newPostgres(), pg("25006"), unavailable},
		{newPostgres(), pg("57P01"), unavailable},
		{newPostgres(), pg("08006"), unavailable},
		{newPostgres(), pg("42P07"), exists},
		{newPostgres(), pg("42710"), exists},
		{newPostgres(), pg("42P01"), absent},
		{newPostgres(), pg("53100"), full},
		{newPostgres(), pg("42601"), other},
		{newSQLite(), refused, unavailable},
		{newSQLite(), driver.ErrBadConn, unavailable},
		{newPostgres(), io.ErrUnexpectedEOF, unavailable},
		{newPostgres(), context.DeadlineExceeded, unavailable},
		{newPostgres(), errors.Join(context.Canceled, refused), other},
		{newMySQL(), sql.ErrTxDone, other},
	} {
		if got := c.engine.verdictOn(fmt.Errorf("insert: %w", c.err)); got != c.want {
			t.Errorf("%s, %v: verdict %d, want %d", c.engine.name, c.err, got, c.want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	e := newMySQL()
	for err, want := range map[error]fault.Code{
		error(&mysql.MySQLError{Number: 1062}): fault.Conflict,
		sql.ErrNoRows:                          fault.NotFound,
		refused:                                fault.Overloaded,
		fault.New(fault.TooLarge, ""):          fault.TooLarge,
		errors.New("syntax"):                   fault.Internal,
	} {
		if got := fault.From(e.fault("insert config", err)).Code; got != want {
			t.Errorf("%v became %s, want %s", err, got, want)
		}
	}
	if e.fault("insert config", nil) != nil {
		t.Error("no error became one")
	}
}

// Retries are bounded, wait in between, and stop when the caller leaves.
func TestRetry(t *testing.T) {
	t.Parallel()
	deadlock := fmt.Errorf("update: %w", &pgconn.PgError{Code: "40P01"})
	for name, c := range map[string]struct {
		fails    int
		err      error
		tries    int
		succeeds bool
	}{
		"at once":        {0, nil, 1, true},
		"third time":     {2, deadlock, 3, true},
		"never":          {99, deadlock, maxTries, false},
		"for good":       {99, sql.ErrTxDone, 1, false},
		"server is away": {99, refused, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries, began := 0, time.Now()
				err := newPostgres().retry(t.Context(), func() error {
					if tries++; tries > c.fails {
						return nil
					}
					return c.err
				})
				if tries != c.tries || (err == nil) != c.succeeds {
					t.Errorf("%d tries, want %d: %v", tries, c.tries, err)
				}
				if waited := time.Since(began); waited > 4*time.Second || (tries > 1) != (waited > 0) {
					t.Errorf("waited %v", waited)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := newPostgres().retry(ctx, func() error { tries++; cancel(); return deadlock })
	if tries != 1 || err == nil {
		t.Errorf("%d tries for a caller that left, %v", tries, err)
	}
}

// Whatever text comes, what clip leaves is storable and no longer than asked, and
// text that was storable stays as it was.
func TestClip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		input := string(rapid.SliceOfN(rapid.SampledFrom([]byte("a\x00\xff\xc3\xbc'\\")), 0, 12).Draw(t, "text"))
		max := rapid.IntRange(0, 12).Draw(t, "max")
		out := clip(input, max)
		if err := storable("x", out, max); err != nil || utf8.RuneCountInString(out) > max {
			t.Fatalf("%q became %q: %v", input, out, err)
		}
		if storable("x", input, max) == nil && out != input {
			t.Fatalf("%q was changed to %q", input, out)
		}
	})
}

// Every numbered file is one statement, in words that each engine knows.
func TestMigrationFiles(t *testing.T) {
	t.Parallel()
	for _, e := range []*engine{newSQLite(), newPostgres(), newMySQL()} {
		list, err := e.migrations()
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range list {
			if m.Version != int64(i+1) {
				t.Errorf("step %d has the number %d", i+1, m.Version)
			}
		}
		entries, err := steps.ReadDir("migrations")
		if err != nil || len(entries) != len(list)+1 {
			t.Errorf("%d steps of %d files, %v", len(list), len(entries), err)
		}
		for _, f := range entries {
			ddl, err := e.step(f.Name())
			if err != nil || strings.ContainsAny(ddl, "{};?") {
				t.Errorf("%s for %s: %v\n%s", f.Name(), e.name, err, ddl)
			}
		}
	}
}

// A server that takes the connection and says nothing holds nobody for longer than
// allowed.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, engine := range []string{Postgres, MySQL} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		s := Settings{Engine: engine, Writer: Endpoint{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Name: "n"}}
		if st, err := Open(ctx, s, nil); err == nil {
			st.Close()
			t.Errorf("%s: opened", engine)
		}
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("%s: waited %v", engine, waited)
		}
	}
}
