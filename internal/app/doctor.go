package app

import (
	"context"

	"sluice/internal/app/options"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/config"
	"sluice/internal/ops/demo/seed"
	"sluice/internal/ops/doctor"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/objects"
)

// Doctor checks everything that a gateway with these settings needs. It changes nothing, except
// that it creates a missing data directory. broken are the invalid settings, for which s contains
// defaults; checks that depend on them are skipped.
func Doctor(ctx context.Context, s config.Settings, broken []config.Problem) []doctor.Finding {
	d := &doctor.Deployment{Database: options.Store(s), Dir: s.Data.Dir, Keys: s.Security.EncryptionKeys(), Lost: lostDatabase(s)}
	defer func() { _ = d.Close() }() // it was only read
	return doctor.Run(ctx, broken, []doctor.Entry{
		{Subject: "disk", Settings: []string{"DATA_DIR"}, Check: doctor.Disk{Dir: s.Data.Dir}},
		{Subject: "database", Settings: []string{"DB_", "DATA_DIR"}, Check: doctor.Database{Deployment: d}},
		{Subject: "sealing", Settings: []string{"ENCRYPTION_KEY", "DATA_DIR"}, Check: doctor.Sealing{Deployment: d}},
		{Subject: "redis", Settings: []string{"REDIS_", "CACHE_STORE"}, Check: doctor.Redis{Enabled: s.Redis.Enabled(), Server: options.Redis(s.Redis)}},
		{Subject: "analytics store", Settings: []string{"ANALYTICS_"}, Check: analyticsCheck(s)},
		{Subject: "log store", Settings: []string{"LOG_STORE", "AWS_", "GCP_", "CLOUD_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}, Check: logStoreCheck(s)},
		{Subject: "tls", Settings: []string{"TLS_"}, Check: doctor.Certificate{TLS: s.TLS}},
		{Subject: "listener", Settings: []string{"LISTEN", "PORT", "TLS_"}, Check: doctor.Listener{Address: s.Server.Address(), HealthURL: HealthURL(s)}},
		{Subject: "clock", Settings: []string{"DATA_DIR"}, Check: doctor.Clock{Deployment: d}},
		{
			Subject: "upstream", Settings: []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "TRUSTED_CUSTOM_HOSTS", "CONNECT_TIMEOUT"},
			Check: doctor.Upstreams{Deployment: d, Transport: options.Transport(s, netguard.New(s.Security.TrustedCustomHosts)), Ignored: []string{seed.IntegrationID}},
		},
		{Subject: "guardrails", Settings: []string{"GUARDRAILS_ENABLED"}, Check: doctor.Guardrails{Enabled: s.Features.Guardrails}},
		{Subject: "mail", Settings: []string{"SMTP_"}, Check: doctor.Mail{Enabled: s.Mail.Enabled, Server: options.SMTP(s.Mail)}},
		{Subject: "collector", Settings: []string{"OTEL_", "EXPERIMENTAL_GEN_AI_OTEL_"}, Check: doctor.Collectors{Settings: s.OpenTelemetry}},
	})
}

// lostDatabase returns the check for a SQLite database that is gone.
func lostDatabase(s config.Settings) bootstrap.LostDatabase {
	if s.Database.Type != config.SQLite {
		return bootstrap.LostDatabase{}
	}
	return bootstrap.LostDatabase{Path: options.Store(s).Path, JournalDir: options.JournalDir(s), HasJournal: journal.Exists}
}

// analyticsCheck checks that ClickHouse can store the rows of the request log.
func analyticsCheck(s config.Settings) doctor.Service {
	c := doctor.Service{Subject: "analytics store", Hint: clickhouse.Hint}
	if !s.Analytics.Shared() {
		c.Unused = "rows of the request log are stored in a file under DATA_DIR (ANALYTICS_STORE)"
	}
	c.Try = func(ctx context.Context) (string, error) { return clickhouse.Check(ctx, options.Analytics(s)) }
	return c
}

// logStoreCheck checks that the bucket can store bodies: it writes an object, reads and deletes it.
func logStoreCheck(s config.Settings) doctor.Service {
	c := doctor.Service{Subject: "log store", Hint: objects.Hint}
	if !s.LogStore.Remote() {
		c.Unused = "bodies of the request log are stored in files under DATA_DIR (LOG_STORE)"
	}
	c.Try = func(ctx context.Context) (string, error) {
		b := objects.New(options.Bucket(s, sign.New(options.Sign(s, nil))))
		return "the bucket " + s.LogStore.Bucket + " can store, read, list and delete objects", b.Probe(ctx)
	}
	return c
}
