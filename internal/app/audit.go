package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"sluice/internal/audit"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
	"sluice/internal/wire"
)

// openAudit reads the key that signs the audit trail. The first start creates it.
func (a *App) openAudit(ctx context.Context) error {
	seed, err := auditSecret.read(ctx, a.store, a.box, a.clock)
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

// AuditQuery selects a part of the audit trail: an organisation by id or slug, which may be empty
// if there is only one, and a time range. A zero time sets no limit.
type AuditQuery struct {
	Organisation string
	From, To     time.Time
}

// ExportAudit writes the audit trail as JSON lines, read from the store. It works while the
// gateway runs.
func ExportAudit(ctx context.Context, s config.Settings, log *slog.Logger, query AuditQuery, w io.Writer) error {
	return offline(ctx, s, log, func(a *App) error {
		if err := a.openAudit(ctx); err != nil {
			return err
		}
		org, err := findOrganisation(ctx, a.store, query.Organisation)
		if err != nil {
			return err
		}
		return audit.Export(ctx, w, a.store, a.signer, org, audit.Range{From: query.From, To: query.To}, a.clock.Now())
	})
}

func findOrganisation(ctx context.Context, from resource.Reader, name string) (string, error) {
	orgs, err := from.List(ctx, resource.Query{Kind: tenant.OrganisationKind, Limit: 1000})
	if err != nil {
		return "", err
	}
	for _, o := range orgs {
		if name == o.ID || name == o.Slug && name != "" {
			return o.ID, nil
		}
	}
	switch {
	case name != "":
		return "", fault.Newf(fault.NotFound, "organisation %q does not exist", name)
	case len(orgs) != 1:
		return "", fmt.Errorf("%d organisations exist; set --organisation", len(orgs))
	}
	return orgs[0].ID, nil
}

// VerifyAudit reads an export and returns a summary of what it proves. If the export is faulty,
// it returns an error and no summary. published is a checkpoint that was stored elsewhere, as
// JSON; it may be empty.
func VerifyAudit(export io.Reader, publicKey, published string) (summary string, err error) {
	key, err := audit.ParsePublicKey(publicKey)
	if err != nil {
		return "", fmt.Errorf("--public-key: %w", err)
	}
	var o audit.Options
	if published != "" {
		known, ok := audit.ParseCheckpoint([]byte(published))
		if !ok {
			return "", errors.New("--checkpoint: not a valid checkpoint; copy it from an export or from the log")
		}
		o.Known = known
	}
	report, err := audit.Verify(export, key, o)
	if err != nil {
		return "", err
	}
	return report.String(), nil
}
