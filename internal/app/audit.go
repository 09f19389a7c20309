package app

import (
	"context"
	"io"
	"log/slog"
	"time"

	"sluice/internal/audit"
	"sluice/internal/config"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/localadmin"
	"sluice/internal/wire"
)

// openAudit reads the key that signs the audit trail. The first start creates it.
func (a *App) openAudit(ctx context.Context) error {
	seed, err := bootstrap.AuditKey().Read(ctx, a.store, a.box, a.clock)
	if err != nil {
		return err
	}
	if a.signer, err = audit.NewSigner(seed); err != nil {
		return err
	}
	a.proxies, err = wire.ParseProxies(a.set.Security.TrustedProxies)
	return err
}

// maintainAudit writes checkpoints and deletes expired rows until ctx ends.
func (a *App) maintainAudit(ctx context.Context) error {
	return audit.NewCheckpointer(a.store, a.signer, auditPolicy(a.set), a.clock, a.log).Run(ctx)
}

func auditPolicy(s config.Settings) audit.Policy {
	return audit.Policy{
		Rows: int64(s.Audit.CheckpointRows), Interval: s.Audit.CheckpointInterval, Retention: time.Duration(s.Audit.RetentionDays) * 24 * time.Hour,
	}
}

// AuditKey returns the public key that verifies the audit trail, as PEM.
func AuditKey(ctx context.Context, s config.Settings, log *slog.Logger) (pem string, err error) {
	return pem, offline(ctx, s, log, func(a *App) error {
		if err := a.openAudit(ctx); err != nil {
			return err
		}
		pem = a.signer.Public().PEM()
		return nil
	})
}

// AuditQuery selects a part of the audit trail.
type AuditQuery = localadmin.AuditQuery

// ExportAudit writes the audit trail as JSON lines, read from the store. It works while the
// gateway runs.
func ExportAudit(ctx context.Context, s config.Settings, log *slog.Logger, query AuditQuery, w io.Writer) error {
	return offline(ctx, s, log, func(a *App) error {
		if err := a.openAudit(ctx); err != nil {
			return err
		}
		return localadmin.ExportAudit(ctx, w, a.store, a.signer, query, a.clock.Now())
	})
}

// VerifyAudit reads an export and returns a summary of what it proves. If the export is faulty,
// it returns an error and no summary. published is a checkpoint that was stored elsewhere, as
// JSON; it may be empty.
func VerifyAudit(export io.Reader, publicKey, published string) (summary string, err error) {
	return localadmin.VerifyAudit(export, publicKey, published)
}
