package sign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"sluice/internal/kernel/fault"
	"sluice/internal/provider"
)

// azureSigner authorises calls to Azure. It uses a given token, a token fetched as
// azure_auth_mode states, or the API key. When a token cannot be fetched, the call fails. It is
// never sent with an empty key instead.
// Source: contract/providers.yaml, shared.auth.azure.
type azureSigner struct {
	set     Azure
	options policy.ClientOptions
	sources store[azureKey, azcore.TokenCredential]
}

var _ Signer = (*azureSigner)(nil)

// azureKey contains the inputs of a token except the scope. The libraries cache tokens per
// scope and renew them before they expire.
type azureKey struct {
	mode, tenant, client string
	secret               [sha256.Size]byte
}

func newAzure(o Options) *azureSigner {
	s := &azureSigner{set: o.Azure}
	s.options.Transport = o.HTTP
	s.options.Retry.MaxRetries = 1 // the gateway's retries and fallbacks follow
	s.options.Cloud = cloud.AzurePublic
	if h := o.Azure.AuthorityHost; h != "" {
		s.options.Cloud.ActiveDirectoryAuthorityHost = h
	}
	return s
}

// Sign sets authorization to a token, or the provider's header to the key.
func (s *azureSigner) Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	if t := v["azure_ad_token"]; t != "" {
		return bearer(r, strings.TrimPrefix(t, "Bearer "))
	}
	switch mode := v["azure_auth_mode"]; mode {
	case "", "default", "apiKey":
		return setHeader(r, a.Header, a.Format, v[provider.Key])
	case "entra", "managed", "workload":
		token, err := s.token(ctx, mode, scope(a, v), v)
		if err != nil {
			return err
		}
		return bearer(r, token)
	}
	return fault.New(fault.InvalidRequest, "azure_auth_mode must be default, apiKey, entra, managed or workload").WithParam("azure_auth_mode")
}

func bearer(r *Request, token string) error {
	return setHeader(r, "authorization", "Bearer {key}", token)
}

func scope(a *provider.Auth, v provider.Values) string {
	if s := v["azure_entra_scope"]; s != "" {
		return s
	}
	return a.Scope
}

func (s *azureSigner) token(ctx context.Context, mode, scope string, v provider.Values) (string, error) {
	key := azureKey{mode: mode}
	switch mode {
	case "entra":
		key.tenant, key.client, key.secret = v["azure_entra_tenant_id"], v["azure_entra_client_id"], sha256.Sum256([]byte(v["azure_entra_client_secret"]))
	case "managed":
		key.client = v["azure_managed_client_id"]
	case "workload":
		key.client = cmp.Or(v["azure_workload_client_id"], s.set.ClientID)
		key.tenant = cmp.Or(v["azure_workload_tenant_id"], s.set.TenantID)
	}
	source, err := s.sources.get(key, func() (azcore.TokenCredential, error) { return s.source(key, v) })
	if err != nil {
		return "", fault.Newf(fault.InvalidRequest, "azure_auth_mode %s: fields are missing or invalid", mode).WithParam("azure_auth_mode").WithCause(err)
	}
	t, err := source.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	if err == nil {
		return t.Token, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", fault.Newf(fault.Unauthenticated, "cannot obtain an Azure token with azure_auth_mode %s", mode).WithCause(err)
}

// source returns a credential that fetches and caches tokens.
func (s *azureSigner) source(key azureKey, v provider.Values) (azcore.TokenCredential, error) {
	switch key.mode {
	case "entra":
		return azidentity.NewClientSecretCredential(key.tenant, key.client, v["azure_entra_client_secret"],
			&azidentity.ClientSecretCredentialOptions{ClientOptions: s.options, DisableInstanceDiscovery: s.set.AuthorityHost != ""})
	case "managed":
		o := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: s.options}
		if key.client != "" {
			o.ID = azidentity.ClientID(key.client)
		}
		return azidentity.NewManagedIdentityCredential(o)
	}
	return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
		ClientOptions: s.options, ClientID: key.client, TenantID: key.tenant, TokenFilePath: s.set.FederatedTokenFile,
		DisableInstanceDiscovery: s.set.AuthorityHost != "",
	})
}
