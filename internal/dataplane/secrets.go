package dataplane

import (
	"context"
	"maps"

	"sluice/internal/credential"
)

// Secrets reads what stored providers keep in external secret managers:
// *secretref.Reader.
type Secrets interface {
	// Read returns values of credential fields by their names; fault.SecretUnavailable
	// when one cannot be had, the error of ctx when that ends first.
	Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error)
}

// withSecrets is a copy of an account in which the mapped fields hold what the secret
// managers say. A mapped value beats a stored one.
// Source: contract/identity-and-governance.md section 12.
func (g *Gateway) withSecrets(ctx context.Context, acct *credential.Account) (*credential.Account, error) {
	read, err := g.Secrets.Read(ctx, acct.Secrets)
	if err != nil {
		return nil, clientGone(ctx, err)
	}
	filled := *acct
	filled.Values = make(map[string]string, len(acct.Values)+len(read))
	maps.Copy(filled.Values, acct.Values)
	maps.Copy(filled.Values, read)
	return &filled, nil
}
