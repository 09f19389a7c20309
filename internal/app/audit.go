package app

import (
	"context"
	"io"
	"log/slog"

	"sluice/internal/ops/config"
	"sluice/internal/ops/localadmin"
)

// AuditKey returns the public key that verifies the audit trail, as PEM.
func AuditKey(ctx context.Context, s config.Settings, log *slog.Logger) (pem string, err error) {
	return pem, offline(ctx, s, log, func(a *database) error {
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
	return offline(ctx, s, log, func(a *database) error {
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
