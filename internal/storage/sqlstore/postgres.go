package sqlstore

import (
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

func newPostgres() *engine {
	return &engine{
		name:    Postgres,
		dialect: func() schema.Dialect { return postgresDialect{pgdialect.New()} },
		goose:   goose.DialectPostgres,
		// COLLATE "C" compares ids byte by byte, whatever the database's locale.
		placeholders: strings.NewReplacer(
			"{id}", `VARCHAR(36) COLLATE "C"`, "{word}", `VARCHAR(64) COLLATE "C"`, "{name}", `VARCHAR(255) COLLATE "C"`,
			"{exact}", `VARCHAR(255) COLLATE "C"`, "{text}", "TEXT", "{blob}", "BYTEA", "{table}", "", "{on records}", ""),
		isolation: sql.LevelReadCommitted,
		lock:      "UPDATE",
		several:   true,
		clash:     "ON CONFLICT ({key}) DO UPDATE SET",
		nowMS:     "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
		// Services that run out of disk space, and administrators, make all transactions of a
		// primary read-only.
		writable: "SELECT CASE WHEN pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' THEN '1' ELSE '0' END",
		judge:    judgePostgres,
		open:     serverPools(postgresPool),
	}
}

type postgresDialect struct{ *pgdialect.Dialect }

// AppendString quotes s without NUL.
func (d postgresDialect) AppendString(b []byte, s string) []byte {
	return d.Dialect.AppendString(b, withoutNUL(s))
}

func postgresPool(e Endpoint, t TLS) (*sql.DB, error) {
	p, err := t.protect(e.Host)
	if err != nil {
		return nil, err
	}
	// ParseConfig reads PG* variables and files of the home folder. Every field that they can set
	// is set below.
	c, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("postgres settings: %w", err)
	}
	c.Host, c.Port, c.Database, c.User, c.Password = e.Host, uint16(e.Port), e.Name, e.User, e.Pass.Reveal()
	c.TLSConfig, c.Fallbacks = p.config, nil
	if p.fallback {
		c.Fallbacks = []*pgconn.FallbackConfig{{Host: e.Host, Port: uint16(e.Port), TLSConfig: (*tls.Config)(nil)}}
	}
	// The escaping of values relies on both, and a database or role may set them differently.
	c.RuntimeParams = map[string]string{"application_name": "sluice", "standard_conforming_strings": "on", "client_encoding": "UTF8"}
	c.ConnectTimeout = connectLimit
	// Statements contain their values, so a cache of prepared statements would never hit. This
	// mode also works behind a pooler.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	return sql.OpenDB(stdlib.GetConnector(*c)), nil
}

// judgePostgres classifies by https://www.postgresql.org/docs/15/errcodes-appendix.html.
func judgePostgres(err error) errorClass {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) || pgconn.SafeToRetry(err) { // in the second case nothing was sent and the connection is dead
		return unavailable
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return other
	}
	switch e.Code {
	case "23505": // unique_violation
		return duplicate
	case "40001", "40P01", "55P03": // serialisation failure, deadlock, lock not available
		return again
	case "25006", "57P01", "57P02", "57P03": // read-only transaction; shutdown, crash, starting up
		return unavailable
	case "53100": // disk_full
		return full
	case "42P07", "42710": // duplicate_table, also for indexes; duplicate_object, its row type
		return exists
	case "42P01": // undefined_table
		return absent
	case "42501": // insufficient_privilege
		return denied
	}
	if strings.HasPrefix(e.Code, "08") { // connection exceptions
		return unavailable
	}
	return other
}
