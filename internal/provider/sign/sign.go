package sign

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// Request is an upstream call to be signed. Signing changes Header and, for keys sent in the
// query, Target. Only schemes that hash the body read it.
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
// Errors: fault.InvalidRequest names a missing or unusable field. fault.Unauthenticated means
// that a token could not be fetched. The error of a context is returned unchanged.
type Signer interface {
	Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error
}

// Options are the settings of the deployment for signing. The zero value is usable: roles are
// then assumed with the credentials of the machine.
type Options struct {
	AWS   AWS
	Azure Azure
	GCP   GCP
	HTTP  *http.Client // for tokens; nil: one with a timeout of 10 s
	// Outside is the client for token services that a credential names. They are untrusted, so
	// the client must refuse private addresses. Nil: such credentials are refused.
	Outside *http.Client
	Clock   ident.Clock // nil: the system clock
}

// AWS contains the deployment's settings for roles.
// Source: contract/dataplane.md 1.2, AWS_ASSUME_ROLE_* and AWS_ENDPOINT_DOMAIN.
type AWS struct {
	AccessKeyID      string        // AWS_ASSUME_ROLE_ACCESS_KEY_ID; empty: the host's own credentials
	SecretAccessKey  sealed.String // AWS_ASSUME_ROLE_SECRET_ACCESS_KEY
	SourceARN        string        // AWS_ASSUME_ROLE_SOURCE_ARN: the first hop; empty: one hop
	SourceExternalID string        // AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID
	EndpointDomain   string        // AWS_ENDPOINT_DOMAIN; empty: amazonaws.com
}

// Azure contains the deployment's settings for workload identity.
// Source: contract/dataplane.md 1.2.
type Azure struct {
	AuthorityHost      string // AZURE_AUTHORITY_HOST; empty: https://login.microsoftonline.com/
	TenantID           string // AZURE_TENANT_ID
	ClientID           string // AZURE_CLIENT_ID
	FederatedTokenFile string // AZURE_FEDERATED_TOKEN_FILE
}

// GCP contains the deployment's settings for the gateway's own identity at Google Cloud. The
// zero value selects the identity of the machine.
// Source: contract/providers.yaml, shared.auth.gcp; spec, Deployment settings.
type GCP struct {
	Mode           string // GCP_AUTH_MODE: "workload", "federation"; empty: federation when there is an Audience
	Audience       string // CLOUD_WIF_AUDIENCE: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/aws"
	ServiceAccount string // CLOUD_WIF_SERVICE_ACCOUNT_EMAIL; empty: the federated identity itself
	TokenFile      string // CLOUD_WIF_TOKEN_FILE; empty: the gateway's identity at AWS
}

// Set contains every scheme and its cached tokens. It is safe for concurrent use.
type Set struct{ schemes map[string]Signer }

// New returns a Set with all schemes. It fetches nothing before the first call that needs it.
func New(o Options) *Set {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	return &Set{schemes: list(o)}
}

// Sign adds the credential of v as a states. A scheme without a signer is fault.NotSupported.
func (s *Set) Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	signer, ok := s.schemes[a.Scheme]
	if !ok {
		return fault.Newf(fault.NotSupported, "authentication with this provider (%s) is not supported", a.Scheme)
	}
	return signer.Sign(ctx, r, a, v)
}
