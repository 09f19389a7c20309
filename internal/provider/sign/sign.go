package sign

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/provider"
	"sluice/internal/sealed"
	"sluice/internal/wire"
)

// Request is an upstream call to be signed. Signing changes Header and, for keys
// that travel in the query, Target. The body is read only by schemes that hash it.
type Request struct {
	Method string
	Scheme string // "https"
	Host   string // "runtime.sagemaker.eu-west-1.amazonaws.com"
	Target string // escaped path and query
	Header *wire.Header
	Body   wire.Payload
}

// Signer adds a credential in one way. It is safe for concurrent use.
//
// Errors: fault.InvalidRequest names a missing or unusable field;
// fault.Unauthenticated means that a token could not be had; a context's error
// comes back as it is.
type Signer interface {
	Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error
}

// Options are what the deployment gives to signing. The zero value is usable:
// roles are assumed with the host's own credentials.
type Options struct {
	AWS   AWS
	Azure Azure
	GCP   GCP
	HTTP  *http.Client // for tokens; nil: one with a timeout of 10 s
	// Outside is for token services that a credential names, which may be anybody's: it
	// must keep from private addresses. Nil: such credentials are refused.
	Outside *http.Client
	Clock   ident.Clock // nil: the system's
}

// AWS are the deployment's settings for roles.
// Source: contract/dataplane.md 1.2, AWS_ASSUME_ROLE_* and AWS_ENDPOINT_DOMAIN.
type AWS struct {
	AccessKeyID      string        // AWS_ASSUME_ROLE_ACCESS_KEY_ID; empty: the host's own credentials
	SecretAccessKey  sealed.String // AWS_ASSUME_ROLE_SECRET_ACCESS_KEY
	SourceARN        string        // AWS_ASSUME_ROLE_SOURCE_ARN: the first hop; empty: one hop
	SourceExternalID string        // AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID
	EndpointDomain   string        // AWS_ENDPOINT_DOMAIN; empty: amazonaws.com
}

// Azure are the deployment's settings for workload identity.
// Source: contract/dataplane.md 1.2.
type Azure struct {
	AuthorityHost      string // AZURE_AUTHORITY_HOST; empty: https://login.microsoftonline.com/
	TenantID           string // AZURE_TENANT_ID
	ClientID           string // AZURE_CLIENT_ID
	FederatedTokenFile string // AZURE_FEDERATED_TOKEN_FILE
}

// GCP are the deployment's settings for how the gateway itself is known to Google Cloud.
// The zero value means by the machine that it runs on.
// Source: contract/providers.yaml, shared.auth.gcp; spec, Deployment settings.
type GCP struct {
	Mode           string // GCP_AUTH_MODE: "workload", "federation"; empty: federation when there is an Audience
	Audience       string // CLOUD_WIF_AUDIENCE: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/aws"
	ServiceAccount string // CLOUD_WIF_SERVICE_ACCOUNT_EMAIL; empty: the federated identity itself
	TokenFile      string // CLOUD_WIF_TOKEN_FILE; empty: the gateway's identity at AWS
}

// Set holds every scheme and the tokens they keep. It is safe for concurrent use.
type Set struct{ schemes map[string]Signer }

// New makes the schemes. Nothing is fetched before the first call needs it.
func New(o Options) *Set {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	return &Set{schemes: list(o)}
}

// Sign adds the credential of v in the way of a. A scheme that has no signer is
// fault.NotSupported.
func (s *Set) Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	signer, ok := s.schemes[a.Scheme]
	if !ok {
		return fault.Newf(fault.NotSupported, "authentication with this provider (%s) is not supported", a.Scheme)
	}
	return signer.Sign(ctx, r, a, v)
}
