package config

import "sluice/internal/sealed"

// The engines of the control-plane store.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	MySQL    = "mysql" // and MariaDB
)

// Database says where organisations, keys, configs and providers are kept.
type Database struct {
	// Type is the engine; `mysql` serves MariaDB too. When only `DB_HOST` and
	// `DB_PORT` are set it follows from the port: 5432 is `postgres`, 3306 `mysql`.
	Type string `env:"DB_TYPE" envDefault:"sqlite" oneof:"sqlite,postgres,mysql"`

	// Host is the host name or IP address of the writer. With `sqlite` it stays empty
	// and the database is a file in `DATA_DIR`.
	Host string `env:"DB_HOST" check:"host"`

	// Port is the port of the writer. 0 stands for the engine's own, 5432 or 3306.
	Port int `env:"DB_PORT" envDefault:"0" range:"0..65535"`

	// User is the name to log in with.
	User string `env:"DB_USER"`

	// Pass is the password of `DB_USER`.
	Pass sealed.String `env:"DB_PASS"`

	// Name is the database on the server. It must exist; its tables are made.
	Name string `env:"DB_NAME" envDefault:"sluice" check:"database"`

	// PoolSize is the most connections that one process opens to the writer, and
	// again to the reader.
	PoolSize int `env:"DB_POOL_SIZE" envDefault:"12" range:"1..1000"`

	// HADR set to `ON` keeps model traffic and reads going while the writer is away:
	// health says `degraded`, writes are answered 503, and the gateway reconnects by
	// itself. `OFF` stops the start when the writer cannot be reached.
	HADR bool `env:"DB_WRITER_HADR_MODE" envDefault:"OFF"`

	// ReaderHost is the host of a replica that serves reads. Empty means that the
	// writer serves them.
	ReaderHost string `env:"DB_READER_HOST" check:"host"`

	// ReaderPort is the port of the replica. 0 stands for the writer's.
	ReaderPort int `env:"DB_READER_PORT" envDefault:"0" range:"0..65535"`

	// ReaderUser is the name to log in to the replica with. Empty means `DB_USER`.
	ReaderUser string `env:"DB_READER_USER"`

	// ReaderPass is the password of `DB_READER_USER`. Empty means `DB_PASS`.
	ReaderPass sealed.String `env:"DB_READER_PASS"`

	// SSL is how connections to the database are protected. `PREFERRED` encrypts when
	// the server can, `REQUIRED` always but without checking who answers, `VERIFY_CA`
	// checks the chain of the server's certificate, `VERIFY_IDENTITY` its host name
	// too, and `AMAZON_RDS` does the same against the certificate bundle of that
	// managed service, which is built in.
	SSL string `env:"DB_SSL" envDefault:"PREFERRED" oneof:"DISABLED,PREFERRED,REQUIRED,VERIFY_CA,VERIFY_IDENTITY,AMAZON_RDS"`

	// SSLCA holds the certificate authorities to check the server against, PEM. Empty
	// means those of the operating system, or of the managed service.
	SSLCA string `env:"DB_SSL_CA" check:"certificates"`

	// SSLCert is the client certificate for the database, PEM. It needs `DB_SSL_KEY`.
	SSLCert string `env:"DB_SSL_CERT" check:"certificates"`

	// SSLKey is the private key of `DB_SSL_CERT`, PEM, not encrypted.
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
		report("DB_TYPE", "must name the engine of DB_HOST", "postgres or mysql, or DB_PORT 5432 or 3306")
	case d.Type != SQLite && d.Host == "":
		report("DB_HOST", "is needed with DB_TYPE "+d.Type, "the host name or IP address of the database server")
	case d.Type != SQLite && d.User == "":
		report("DB_USER", "is needed with DB_TYPE "+d.Type, "the name to log in with")
	}
	if d.ReaderHost != "" && d.Host == "" {
		report("DB_READER_HOST", "is set without DB_HOST", "a reader beside a writer")
	}
	checkPair(report, "DB_SSL", d.SSLCert, d.SSLKey)
}
