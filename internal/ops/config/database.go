package config

import "sluice/internal/kernel/sealed"

// The engines of the control-plane store.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	MySQL    = "mysql" // and MariaDB
)

// Database sets where organisations, keys, configs and providers are stored.
type Database struct {
	// Type is the database engine. `mysql` includes MariaDB. If you set only `DB_HOST` and
	// `DB_PORT`, the port determines the engine: 5432 means `postgres`, 3306 means `mysql`.
	Type string `env:"DB_TYPE" envDefault:"sqlite" oneof:"sqlite,postgres,mysql"`

	// Host is the host name or IP address of the writer. Leave it empty for `sqlite`, whose
	// database is a file in `DATA_DIR`.
	Host string `env:"DB_HOST" check:"host"`

	// Port is the port of the writer. 0 means the default port of the engine, 5432 or 3306.
	Port int `env:"DB_PORT" envDefault:"0" range:"0..65535"`

	// User is the user name for the database.
	User string `env:"DB_USER"`

	// Pass is the password of `DB_USER`.
	Pass sealed.String `env:"DB_PASS"`

	// Name is the name of the database on the server. The database must exist; the gateway
	// creates its tables.
	Name string `env:"DB_NAME" envDefault:"sluice" check:"database"`

	// PoolSize is the maximum number of connections that one gateway opens to the writer.
	// The reader has the same maximum of its own.
	PoolSize int `env:"DB_POOL_SIZE" envDefault:"12" range:"1..1000"`

	// HADR lets model traffic and reads continue while the writer is unavailable. The
	// health check then reports `degraded`, writes return 503, and the gateway reconnects
	// automatically. When `OFF`, the gateway does not start if it cannot reach the writer.
	HADR bool `env:"DB_WRITER_HADR_MODE" envDefault:"OFF"`

	// ReaderHost is the host name or IP address of a replica for reads. If it is empty, the
	// writer serves reads.
	ReaderHost string `env:"DB_READER_HOST" check:"host"`

	// ReaderPort is the port of the replica. 0 means the port of the writer.
	ReaderPort int `env:"DB_READER_PORT" envDefault:"0" range:"0..65535"`

	// ReaderUser is the user name for the replica. If it is empty, the gateway uses
	// `DB_USER`.
	ReaderUser string `env:"DB_READER_USER"`

	// ReaderPass is the password of `DB_READER_USER`. If it is empty, the gateway uses
	// `DB_PASS`.
	ReaderPass sealed.String `env:"DB_READER_PASS"`

	// SSL sets how database connections are protected. `PREFERRED` encrypts if the server
	// supports it. `REQUIRED` always encrypts, but does not verify the server. `VERIFY_CA`
	// also verifies the certificate chain of the server. `VERIFY_IDENTITY` also verifies
	// its host name. `AMAZON_RDS` works like `VERIFY_IDENTITY`, with the built-in
	// certificate bundle of Amazon RDS.
	SSL string `env:"DB_SSL" envDefault:"PREFERRED" oneof:"DISABLED,PREFERRED,REQUIRED,VERIFY_CA,VERIFY_IDENTITY,AMAZON_RDS"`

	// SSLCA contains the certificate authorities that verify the server, in PEM form. If it
	// is empty, the gateway uses those of the operating system, or the built-in bundle with
	// `AMAZON_RDS`.
	SSLCA string `env:"DB_SSL_CA" check:"certificates"`

	// SSLCert is the client certificate for the database in PEM form. It requires
	// `DB_SSL_KEY`.
	SSLCert string `env:"DB_SSL_CERT" check:"certificates"`

	// SSLKey is the private key of `DB_SSL_CERT` in PEM form, not encrypted.
	SSLKey sealed.String `env:"DB_SSL_KEY" check:"private-key"`
}

// enginePort is the port that each server engine listens on by custom.
var enginePort = map[string]int{Postgres: 5432, MySQL: 3306}

// complete settles the engine, the ports and the reader's login, and tells derived
// which setting it took from which. A chosen engine is left alone.
func (d *Database) complete(engineChosen bool, derived func(name, from string)) {
	if d.Host == "" {
		return
	}
	for engine, port := range enginePort {
		if !engineChosen && d.Port == port {
			d.Type = engine
			derived("DB_TYPE", "DB_PORT")
		}
	}
	if d.Port == 0 {
		d.Port = enginePort[d.Type]
		derived("DB_PORT", "DB_TYPE")
	}
	if d.ReaderHost != "" {
		d.completeReader(derived)
	}
}

func (d *Database) completeReader(derived func(name, from string)) {
	if d.ReaderPort == 0 {
		d.ReaderPort = d.Port
		derived("DB_READER_PORT", "DB_PORT")
	}
	if d.ReaderUser == "" {
		d.ReaderUser = d.User
		derived("DB_READER_USER", "DB_USER")
	}
	if d.ReaderPass.Empty() {
		d.ReaderPass = d.Pass
		derived("DB_READER_PASS", "DB_PASS")
	}
}

func (d *Database) validate(report reporter) {
	switch {
	case d.Type == SQLite && d.Host != "":
		report("DB_TYPE", "does not match DB_HOST", "postgres or mysql, or DB_PORT 5432 or 3306")
	case d.Type != SQLite && d.Host == "":
		report("DB_HOST", "is required with DB_TYPE "+d.Type, "the host name or IP address of the database server")
	case d.Type != SQLite && d.User == "":
		report("DB_USER", "is required with DB_TYPE "+d.Type, "the name to log in with")
	}
	if d.ReaderHost != "" && d.Host == "" {
		report("DB_READER_HOST", "is set without DB_HOST", "a reader together with a writer")
	}
	checkPair(report, "DB_SSL", d.SSLCert, d.SSLKey)
}
