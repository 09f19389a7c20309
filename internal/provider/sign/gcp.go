package sign

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/provider"
)

// gcpSigner authorises calls to Google Cloud with a token: one given as the key, one that a
// service account receives for a signed assertion, or that of the gateway itself.
// Source: contract/providers.yaml, shared.auth.gcp;
// https://developers.google.com/identity/protocols/oauth2/service-account, read 2026-11.
type gcpSigner struct {
	set     GCP
	aws     *awsSigner   // the gateway's identity at AWS
	http    *http.Client // for the addresses of this package
	outside *http.Client // for addresses that a service account names; nil: only Google's addresses
	clock   ident.Clock
	tokens  store[gcpKey, *tokenSource]
}

var _ Signer = (*gcpSigner)(nil)

// gcpKey contains the inputs of a token. It is empty for the token of the machine.
type gcpKey struct {
	mode    string
	account [sha256.Size]byte
}

// Fields of the provider. Source: contract/providers.yaml, vertex-ai.
const (
	gcpAuthType = "vertex_auth_type"
	gcpAccount  = "vertex_service_account_json"
)

// The values of vertex_auth_type.
const (
	gcpBasic    = "basic"
	gcpService  = "serviceAccount"
	gcpWorkload = "workload"
	// gcpFederated is another value for gcpWorkload in stored providers.
	// Source: contract/identity-and-governance.yaml, integration_configurations.
	gcpFederated = "workload identity federation"
)

func newGCP(o Options, aws *awsSigner) *gcpSigner {
	return &gcpSigner{set: o.GCP, aws: aws, http: o.HTTP, outside: o.Outside, clock: o.Clock}
}

// Sign sets authorization. Without an explicit type the given values decide: a service account
// takes precedence over a key.
func (s *gcpSigner) Sign(ctx context.Context, r *Request, _ *provider.Auth, v provider.Values) error {
	mode := v[gcpAuthType]
	if mode == "" && v[gcpAccount] != "" {
		mode = gcpService
	}
	if mode == gcpFederated {
		mode = gcpWorkload
	}
	switch mode {
	case "", gcpBasic:
		key := strings.TrimPrefix(v[provider.Key], "Bearer ")
		if key == "" {
			return fault.New(fault.InvalidRequest, "Google Cloud requires an access token as the key, or a service account in "+gcpAccount).WithParam(gcpAccount)
		}
		return bearer(r, key)
	case gcpService, gcpWorkload:
		token, err := s.token(ctx, mode, v[gcpAccount])
		if err != nil {
			return err
		}
		return bearer(r, token)
	}
	return fault.New(fault.InvalidRequest, gcpAuthType+" must be basic, serviceAccount, workload or workload identity federation").WithParam(gcpAuthType)
}

func (s *gcpSigner) token(ctx context.Context, mode, account string) (string, error) {
	key := gcpKey{mode: mode}
	if mode == gcpService {
		key.account = sha256.Sum256([]byte(account))
	}
	source, err := s.tokens.get(key, func() (*tokenSource, error) {
		if mode == gcpWorkload {
			return &tokenSource{clock: s.clock, fetch: s.gatewayToken}, nil
		}
		a, err := readAccount(account)
		if err != nil {
			return nil, err
		}
		return &tokenSource{clock: s.clock, fetch: func(ctx context.Context) (token, error) { return s.exchange(ctx, a) }}, nil
	})
	if err != nil {
		return "", err
	}
	text, err := source.get(ctx)
	if err == nil || ctx.Err() != nil {
		return text, err
	}
	return "", fault.Newf(fault.Unauthenticated, "cannot obtain a Google token with %s %s", gcpAuthType, mode).WithCause(err)
}
