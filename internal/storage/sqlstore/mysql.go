package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/schema"
)

func newMySQL() *engine {
	return &engine{
		name:    MySQL,
		dialect: func() schema.Dialect { return mysqlDialect{mysqldialect.New()} },
		goose:   goose.DialectMySQL,
		// VARBINARY compares byte by byte, trailing blanks included; utf8mb4_bin ignores those
		// blanks.
		placeholders: strings.NewReplacer(
			"{id}", "VARCHAR(36)", "{word}", "VARCHAR(64)", "{name}", "VARCHAR(255)", "{exact}", "VARBINARY(255)",
			"{text}", "MEDIUMTEXT", "{blob}", "MEDIUMBLOB", "{table}", "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin", "{on records}", " ON records"),
		isolation: sql.LevelReadCommitted,
		lock:      "UPDATE",
		clash:     "ON DUPLICATE KEY UPDATE",
		nowMS:     "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
		writable:  "SELECT @@global.read_only",
		judge:     judgeMySQL,
		open:      serverPools(mysqlPool),
	}
}

// mysqlDialect is bun's dialect without its query for the server's version, which has no deadline
// and needs a server. Nothing here depends on the version.
type mysqlDialect struct{ *mysqldialect.Dialect }

// Init sends no query.
func (mysqlDialect) Init(*sql.DB) {}

// AppendString quotes s without NUL.
func (d mysqlDialect) AppendString(b []byte, s string) []byte {
	return d.Dialect.AppendString(b, withoutNUL(s))
}

func mysqlPool(e Endpoint, t TLS) (*sql.DB, error) {
	p, err := t.protect(e.Host)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr = "tcp", net.JoinHostPort(e.Host, strconv.Itoa(e.Port))
	c.User, c.Passwd, c.DBName = e.User, e.Pass.Reveal(), e.Name
	c.TLS, c.AllowFallbackToPlaintext = p.config, p.fallback
	c.Timeout, c.ReadTimeout, c.WriteTimeout = connectLimit, time.Minute, time.Minute
	c.ClientFoundRows = true // an update that changes nothing still counts its row
	c.Loc = time.UTC
	c.Logger = &mysql.NopLogger{} // what it would print is returned as an error too
	// The escaping of values relies on backslashes, and truncated values must be errors. nowMS
	// depends on the time zone, and in most zones an hour of autumn occurs twice.
	c.Params = map[string]string{"sql_mode": "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'", "time_zone": "'+00:00'"}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("mysql settings: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// judgeMySQL classifies by https://mariadb.com/kb/en/mariadb-error-code-reference/.
func judgeMySQL(err error) errorClass {
	if errors.Is(err, mysql.ErrInvalidConn) {
		return unavailable
	}
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return other
	}
	switch e.Number {
	case 1062: // duplicate entry
		return duplicate
	case 1205, 1213, 1020: // lock wait timeout, deadlock, record changed since last read
		return again
	case 1053, 1290, 1792, 1836, 1927: // shutdown, read-only server or transaction, connection killed
		return unavailable
	case 1040, 1203: // too many connections, of all or of this user
		return unavailable
	case 1021, 1114: // disk full, table full
		return full
	case 1050, 1060, 1061, 1091: // table, column or index exists; the index to drop does not
		return exists
	case 1146: // no such table
		return absent
	case 1142, 1143: // missing right on a table or column
		return denied
	}
	return other
}
