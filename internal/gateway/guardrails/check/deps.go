package check

import (
	"context"
	"net/netip"
	"time"

	"sluice/internal/kernel/wire"
)

// Deps are what checks use outside of themselves. A check that needs a nil member fails with an error
// that names it.
type Deps struct {
	Services Services // external services
	Resolver Resolver // host names, for validUrls
	Judge    Judge    // models of the organisation, for llmJudge
	Ledger   Ledger   // books what calls of services cost; nil books nothing
	Now      func() time.Time
}

// Ledger books what the calls of external services cost.
type Ledger interface {
	// Reserve reserves the price of calls for the caller that ctx contains, before the first of them is
	// sent. It returns a function that books the calls that are billed and releases the rest; it must be
	// called once. The error means that the caller cannot pay: no call may be sent.
	Reserve(ctx context.Context, p *Price) (settle func(calls int), err error)
}

// Price is what the calls of one run of a check cost.
type Price struct {
	Check string // "zscaler.executePolicy"
	Nano  int64  // of one call, in nano-dollars
	Calls int    // the most that the run makes
}

// Services sends requests to external services. Each address is checked when it is dialled, redirects
// are not followed, and the response is bounded by MaxBytes of the request.
type Services interface {
	Call(ctx context.Context, r *ServiceRequest) (*ServiceResponse, error)
}

// ServiceRequest is a request to an external service.
type ServiceRequest struct {
	Method   string // "POST"
	URL      string // "https://hooks.example.com/check"
	Header   wire.Header
	Body     []byte
	MaxBytes int64 // limit of the response body; 0 means MaxServiceBytes
	// AWS signs the request with these credentials; nil for none.
	AWS *AWSCredentials
}

// AWSCredentials sign a request to an Amazon service.
type AWSCredentials struct {
	Service, Region                            string // "bedrock", "eu-west-1"
	AccessKeyID, SecretAccessKey, SessionToken string
	RoleARN, ExternalID                        string // a role to assume first; empty for none
}

// MaxServiceBytes is the usual limit of a response of an external service.
const MaxServiceBytes = 10 << 20

// ServiceResponse is the response of an external service, complete.
type ServiceResponse struct {
	Status int
	Header wire.Header
	Body   []byte
}

// Resolver looks up host names.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Judge sends a conversation to a model of the organisation through the gateway. The call runs
// without guardrails and cache, and its cost is on the ledger.
type Judge interface {
	// Ask returns the text of the model's response and its cost in nano-dollars. model is
	// "@provider/model" or a model of the workspace.
	Ask(ctx context.Context, model, system, user string) (response string, costNano int64, err error)
}
