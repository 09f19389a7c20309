package logs

import (
	"context"
	"io"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/audit"
)

// exportAuditLogs streams the audit trail of the organisation, or a time range of it.
func (k auditLogs) exportAuditLogs(_ context.Context, c *resource.Call) (any, error) {
	if err := mayAudit(c); err != nil {
		return nil, err
	}
	r := audit.Range{From: jsonfield.ParseTime(c.Query("start_time")), To: jsonfield.ParseTime(c.Query("end_time"))}
	if err := inOrder(r.From, r.To); err != nil {
		return nil, err
	}
	return resource.Stream(func(ctx context.Context, w io.Writer) error {
		return audit.Export(ctx, w, k.Audit, k.AuditSigner, c.OrgID, r, c.Now)
	}), nil
}

// auditKey is the key that verifies the signatures of the gateway.
type auditKey struct {
	Object    string `json:"object" enum:"audit-public-key"`
	Algorithm string `json:"algorithm" enum:"Ed25519"`
	KeyID     string `json:"key_id" doc:"Id of the key in checkpoints"`
	PublicKey string `json:"public_key" doc:"Public key: 32 bytes in base64"`
	PEM       string `json:"pem" doc:"Public key as SubjectPublicKeyInfo in PEM"`
}

func (k auditLogs) auditPublicKey(context.Context, *resource.Call) (any, error) {
	key := k.AuditSigner.Public()
	return auditKey{Object: "audit-public-key", Algorithm: "Ed25519", KeyID: key.ID(), PublicKey: key.Base64(), PEM: key.PEM()}, nil
}
