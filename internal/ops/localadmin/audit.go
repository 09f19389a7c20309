package localadmin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/sqlstore"
)

// AuditQuery selects a part of the audit trail: an organisation by id or slug, which may be empty
// if there is only one, and a time range. A zero time sets no limit.
type AuditQuery struct {
	Organisation string
	From, To     time.Time
}

// ExportAudit writes the part of the audit trail that query selects as JSON lines, signed by
// signer, as of now. It reads everything from s.
func ExportAudit(ctx context.Context, w io.Writer, s *sqlstore.Store, signer *audit.Signer, query AuditQuery, now time.Time) error {
	org, err := findOrganisation(ctx, s, query.Organisation)
	if err != nil {
		return err
	}
	return audit.Export(ctx, w, s, signer, org, audit.Range{From: query.From, To: query.To}, now)
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
