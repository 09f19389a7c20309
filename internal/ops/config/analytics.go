package config

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"strings"
	"time"

	"sluice/internal/kernel/sealed"
)

// Where the rows of the request log are.
const (
	DuckDB     = "duckdb"
	ClickHouse = "clickhouse"
)

// Analytics sets where the rows of the request log are stored. Analytics are computed from
// these rows. See docs/logs.md.
type Analytics struct {
	// Store is the location of rows: `duckdb`, a file of each node in `DATA_DIR`, or
	// `clickhouse`, a server that all nodes share. If it is not set, the gateway uses
	// `clickhouse` when `ANALYTICS_STORE_URL` is set.
	Store string `env:"ANALYTICS_STORE" envDefault:"duckdb" oneof:"duckdb,clickhouse"`

	// URL is the address of the HTTP interface of ClickHouse, such as
	// `https://clickhouse.internal:8443`.
	URL string `env:"ANALYTICS_STORE_URL" also:"ANALYTICS_STORE_ENDPOINT" check:"server-url"`

	// User is the user name for ClickHouse.
	User string `env:"ANALYTICS_STORE_USER" envDefault:"default"`

	// Password is the password of `ANALYTICS_STORE_USER`.
	Password sealed.String `env:"ANALYTICS_STORE_PASSWORD"`

	// Database is the name of the database on the server. If it is missing, the gateway
	// creates it, provided that the user has the right to. The gateway also creates the
	// tables.
	Database string `env:"ANALYTICS_STORE_DATABASE" envDefault:"sluice" check:"plain-database"`

	// CA contains the certificate authorities that verify ClickHouse, in PEM form. If it is
	// empty, the gateway uses those of the operating system.
	CA string `env:"ANALYTICS_STORE_CA" check:"certificates"`

	// Timeout is the time limit of one statement in ClickHouse.
	Timeout time.Duration `env:"ANALYTICS_STORE_TIMEOUT" envDefault:"30000" range:"1000..600000"`

	// MemoryMB is the approximate memory that the log uses for rows, rollups and queries,
	// in MiB. The limit inside DuckDB is lower, because DuckDB uses more memory than it
	// counts. A query that needs more is rejected; other queries still work.
	MemoryMB int `env:"ANALYTICS_MEMORY_MB" envDefault:"512" range:"128..1048576"`
}

// complete settles whether ClickHouse is used. A choice is left alone.
func (a *Analytics) complete(chosen bool, derived func(name, from string)) {
	if !chosen && a.URL != "" {
		a.Store = ClickHouse
		derived("ANALYTICS_STORE", "ANALYTICS_STORE_URL")
	}
}

func (a *Analytics) validate(report reporter) {
	if a.Shared() && a.URL == "" {
		report("ANALYTICS_STORE_URL", "is required with ANALYTICS_STORE clickhouse", "the address of its HTTP interface, such as https://clickhouse.internal:8443")
	}
}

// Shared reports whether all nodes write to one store.
func (a *Analytics) Shared() bool { return a.Store == ClickHouse }

// TLSConfig is how https connections are protected.
func (a *Analytics) TLSConfig() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(a.CA))
	}
	return c
}

// isServerURL accepts an address of a server alone: who logs in has settings of its own,
// and those are sealed.
func isServerURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text, "http", "https") && u.User == nil && u.RawQuery == "" && u.Fragment == "" && strings.Trim(u.Path, "/") == ""
}
