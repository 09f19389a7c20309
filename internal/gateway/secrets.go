package gateway

import (
	"context"
	"maps"

	"sluice/internal/domain/credential"
)

// Secrets reads the credentials of saved providers from external secret managers.
// *secretmanager.Reader implements it.
type Secrets interface {
	// Read returns the values of credential fields by their names. The error is
	// fault.SecretUnavailable when a value is unavailable, or the error of ctx when that ends
	// first.
	Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error)
}

// withSecrets returns a copy of an account with the values from the secret managers in the mapped
// fields. A mapped value replaces a stored one.
// Source: contract/identity-and-governance.md section 12.
func (cr *credentialResolver) withSecrets(ctx context.Context, acct *credential.Account) (*credential.Account, error) {
	read, err := cr.secrets.Read(ctx, acct.Secrets)
	if err != nil {
		return nil, clientGone(ctx, err)
	}
	filled := *acct
	filled.Values = make(map[string]string, len(acct.Values)+len(read))
	maps.Copy(filled.Values, acct.Values)
	maps.Copy(filled.Values, read)
	return &filled, nil
}
