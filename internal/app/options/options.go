// Package options converts the settings of the program to the options of its parts. The functions
// are pure; app passes their results to the parts.
package options

import (
	"path/filepath"

	"sluice/internal/domain/mail"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redis"
	"sluice/internal/ops/config"
	"sluice/internal/ops/smtp"
	"sluice/internal/ops/telemetry/otlp"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/sqlstore"
)

// Store returns where the records are stored.
func Store(s config.Settings) sqlstore.Settings {
	d := s.Database
	return sqlstore.Settings{
		Engine: d.Type, Path: filepath.Join(s.Data.Dir, "sluice.db"), PoolSize: d.PoolSize, HADR: d.HADR,
		Writer: sqlstore.Endpoint{Host: d.Host, Port: d.Port, User: d.User, Pass: d.Pass, Name: d.Name},
		Reader: sqlstore.Endpoint{Host: d.ReaderHost, Port: d.ReaderPort, User: d.ReaderUser, Pass: d.ReaderPass},
		TLS:    sqlstore.TLS{Mode: d.SSL, CA: d.SSLCA, Cert: d.SSLCert, Key: d.SSLKey},
	}
}

// JournalDir returns the directory of a gateway's journal.
func JournalDir(s config.Settings) string { return filepath.Join(s.Data.Dir, "journal") }

// ConfigLimits returns the limits of the config language.
func ConfigLimits(s config.Settings) routing.Limits {
	return routing.Limits{RootTargets: s.Routing.MaxRootTargets, ConditionalTargets: s.Routing.MaxConditionalTargets, NestedTargets: s.Routing.MaxNestedTargets}
}

// Retention returns the retention of the settings.
func Retention(l config.Logs) tenant.Retention {
	days := func(n int) *int { return &n }
	r := tenant.Retention{Bodies: days(l.RetentionDays), Rows: days(l.MetricsRetentionDays), Metrics: days(l.MetricsRetentionDays)}
	if l.RowsRetentionDays > 0 {
		r.Rows = days(l.RowsRetentionDays)
	}
	return r
}

// Redis returns the server that stores shared limits.
func Redis(r config.Redis) redis.Server {
	user, password := r.Login()
	return redis.Server{
		Addresses: r.Addresses(), Cluster: r.Mode == "cluster", Username: user, Password: password, Database: r.Database(),
		TLS: r.TLSConfig(), Timeout: r.Timeout,
	}
}

// Analytics returns the ClickHouse server of the request log.
func Analytics(s config.Settings) client.Server {
	a := s.Analytics
	return client.Server{URL: a.URL, User: a.User, Password: a.Password, Database: a.Database, TLS: a.TLSConfig(), Timeout: a.Timeout}
}

// SMTP returns the mail server.
func SMTP(m config.Mail) smtp.Settings {
	return smtp.Settings{Host: m.Host, Port: m.Port, User: m.User, Password: m.Password, From: m.From, Security: m.TLS, CA: m.CA}
}

// Brand returns the texts that all emails contain.
func Brand(m config.Mail) mail.Brand {
	return mail.Brand{Company: m.Company, Logo: m.Logo, Support: m.Support, Docs: m.Docs}
}

// Collector returns the collector that the settings configure.
func Collector(o *config.OpenTelemetry, endpoint string, headers sealed.String) otlp.Target {
	return otlp.Target{Endpoint: endpoint, Protocol: otlp.Protocol(o.Protocol), Headers: headers}
}
