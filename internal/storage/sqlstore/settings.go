package sqlstore

import (
	"cmp"
	"errors"
	"fmt"

	"sluice/internal/kernel/sealed"
)

// DefaultPoolSize is the number of connections per handle if Settings has none.
// Source: contract/identity-and-governance.md section 15, DB_POOL_SIZE.
const DefaultPoolSize = 12

// The engines of Settings.Engine.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	MySQL    = "mysql" // MariaDB too
)

// Settings configure where the records are stored. Only the fields of the chosen engine are used.
type Settings struct {
	Engine   string   // SQLite, Postgres or MySQL
	Path     string   // SQLite: the file, for example "data/sluice.db"; created with its folder if missing
	Writer   Endpoint // servers: where writes go, DB_*
	Reader   Endpoint // servers: where reads go, DB_READER_*; an empty field means the writer's value
	TLS      TLS      // servers: DB_SSL*
	PoolSize int      // connections per handle, DB_POOL_SIZE; 0 means DefaultPoolSize
	HADR     bool     // DB_WRITER_HADR_MODE=ON: start and read without the writer
}

// Endpoint is a database server and the login to use there.
type Endpoint struct {
	Host string // "db.internal", an address, or empty
	Port int    // 0 means 5432 or 3306
	User string
	Pass sealed.String
	Name string // the database
}

// TLS configures the protection of connections to a server. CA, Cert and Key are PEM text.
// Source: spec, Deployment settings, DB_SSL.
type TLS struct {
	Mode string // "", DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY or AMAZON_RDS; "" is DISABLED
	CA   string // trusted authorities; empty means those of the operating system
	Cert string // client certificate; may be empty
	Key  sealed.String
}

// withDefaults fills the empty fields of e from another endpoint.
func (e Endpoint) withDefaults(other Endpoint) Endpoint {
	if e.Pass.Empty() {
		e.Pass = other.Pass
	}
	e.Host = cmp.Or(e.Host, other.Host)
	e.Port = cmp.Or(e.Port, other.Port)
	e.User = cmp.Or(e.User, other.User)
	e.Name = cmp.Or(e.Name, other.Name)
	return e
}

// resolve fills in the defaults and rejects settings that cannot work, naming the setting.
func (s Settings) resolve() (Settings, error) {
	s.PoolSize = cmp.Or(s.PoolSize, DefaultPoolSize)
	if s.PoolSize < 1 || s.PoolSize > 1000 {
		return s, fmt.Errorf("DB_POOL_SIZE is %d, but must be between 1 and 1000", s.PoolSize)
	}
	switch s.Engine {
	case SQLite:
		if s.Path == "" {
			return s, errors.New("the path of the SQLite file is required")
		}
		return s, nil
	case Postgres:
		s.Writer.Port = cmp.Or(s.Writer.Port, 5432)
	case MySQL:
		s.Writer.Port = cmp.Or(s.Writer.Port, 3306)
	default:
		return s, fmt.Errorf("unknown database engine %q; use %s, %s or %s", s.Engine, SQLite, Postgres, MySQL)
	}
	if s.Writer.Host == "" || s.Writer.Name == "" {
		return s, errors.New("DB_HOST and DB_NAME are required for a database server")
	}
	s.Reader = s.Reader.withDefaults(s.Writer)
	return s, nil
}
