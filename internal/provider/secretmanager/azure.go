package secretmanager

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"sluice/internal/domain/credential"
	"sluice/internal/provider"
)

// azureManager reads from Azure Key Vault.
// Source: https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret, 2026-11.
type azureManager struct{ r *Reader }

const keyVaultVersion = "7.4"

func (m azureManager) fetch(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	base := strings.TrimRight(s.Auth["azure_vault_url"], "/")
	values := provider.Values{}
	for name, v := range s.Auth {
		values[name] = v
	}
	if values["azure_auth_mode"] == "default" {
		values["azure_auth_mode"] = "managed"
		if m.r.set.FederatedTokens {
			values["azure_auth_mode"] = "workload"
		}
	}
	var response struct {
		Value string `json:"value"`
	}
	err := m.r.do(ctx, call{
		method: http.MethodGet, url: base + "/secrets/" + s.Path + "?api-version=" + keyVaultVersion,
		auth: &provider.Auth{Scheme: "azure", Scope: "https://" + cmp.Or(credential.AzureVault(base), "vault.azure.net") + "/.default"}, values: values,
	}, &response)
	if err != nil {
		return nil, err
	}
	return textSecret(response.Value), nil
}
