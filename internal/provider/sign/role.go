package sign

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Credentials of a role last an hour, the maximum for a role assumed by a role. They are
// renewed five minutes before they expire.
// Source: AWS IAM user guide, role chaining.
const (
	roleTime   = time.Hour
	roleMargin = 5 * time.Minute
)

// roles provides credentials of roles, and of the machine itself.
type roles struct {
	set     AWS
	http    *http.Client
	assumed store[roleKey, aws.CredentialsProvider]

	mu            sync.Mutex // guards machine
	metadataToken aws.CredentialsProvider
}

// roleKey contains the inputs of the credentials of a role.
type roleKey struct{ arn, external, region string }

func newRoles(o Options) *roles { return &roles{set: o.AWS, http: o.HTTP} }

// assume returns credentials of a role in two hops: the deployment's keys (or those of the
// machine) assume the source role, and the source role assumes arn. Without a source role there
// is one hop.
// Source: contract/dataplane.md 1.2.
func (r *roles) assume(ctx context.Context, region, arn, external string) (aws.Credentials, error) {
	if arn == "" {
		return aws.Credentials{}, fault.New(fault.InvalidRequest, "aws_auth_type assumedRole requires aws_role_arn").WithParam("aws_role_arn")
	}
	from, err := r.source(ctx, region)
	if err != nil {
		return aws.Credentials{}, err
	}
	p, err := r.provider(from, roleKey{arn, external, region})
	if err != nil {
		return aws.Credentials{}, err
	}
	return retrieve(ctx, p, "cannot assume the role")
}

// source returns the credentials of the first hop.
func (r *roles) source(ctx context.Context, region string) (aws.CredentialsProvider, error) {
	from, err := r.base(ctx, region)
	if err != nil || r.set.SourceARN == "" {
		return from, err
	}
	return r.provider(from, roleKey{r.set.SourceARN, r.set.SourceExternalID, region})
}

// base returns the deployment's keys, or the machine's credentials without them.
func (r *roles) base(ctx context.Context, region string) (aws.CredentialsProvider, error) {
	if r.set.AccessKeyID != "" {
		return credentials.NewStaticCredentialsProvider(r.set.AccessKeyID, r.set.SecretAccessKey.Reveal(), ""), nil
	}
	return r.instanceCredentials(ctx, region)
}

// provider caches one renewing source of credentials per role.
func (r *roles) provider(from aws.CredentialsProvider, key roleKey) (aws.CredentialsProvider, error) {
	return r.assumed.get(key, func() (aws.CredentialsProvider, error) {
		client := sts.New(sts.Options{Region: key.region, Credentials: from, HTTPClient: r.http, BaseEndpoint: r.endpoint(key.region)})
		p := stscreds.NewAssumeRoleProvider(client, key.arn, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "sluice-" + ident.NewSecret(12)
			o.Duration = roleTime
			if key.external != "" {
				o.ExternalID = aws.String(key.external)
			}
		})
		return aws.NewCredentialsCache(p, renewEarly), nil
	})
}

func renewEarly(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = roleMargin }

// endpoint returns the address of STS. nil lets the library select it.
func (r *roles) endpoint(region string) *string {
	if r.set.EndpointDomain == "" {
		return nil
	}
	return aws.String("https://sts." + region + "." + r.set.EndpointDomain)
}

// host returns the machine's own credentials: environment, profile, container or instance role.
func (r *roles) host(ctx context.Context, region string) (aws.Credentials, error) {
	p, err := r.instanceCredentials(ctx, region)
	if err != nil {
		return aws.Credentials{}, err
	}
	return retrieve(ctx, p, "the host has no AWS credentials")
}

func (r *roles) instanceCredentials(ctx context.Context, region string) (aws.CredentialsProvider, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.metadataToken != nil {
		return r.metadataToken, nil
	}
	c, err := config.LoadDefaultConfig(ctx, config.WithRegion(region), config.WithHTTPClient(r.machineHTTP()), config.WithCredentialsCacheOptions(renewEarly))
	if err != nil {
		return nil, fault.New(fault.Unauthenticated, "the host has no AWS credentials").WithCause(err)
	}
	r.metadataToken = c.Credentials
	return r.metadataToken, nil
}

// machineHTTP returns the client that fetches the machine's credentials. When AWS_CA_BUNDLE is
// set, the library adds those authorities to its own type of client and refuses any other type.
func (r *roles) machineHTTP() aws.HTTPClient {
	if r.http.Transport != nil {
		return r.http
	}
	return awshttp.NewBuildableClient().WithTimeout(r.http.Timeout)
}

func retrieve(ctx context.Context, p aws.CredentialsProvider, text string) (aws.Credentials, error) {
	c, err := p.Retrieve(ctx)
	if err == nil {
		return c, nil
	}
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	return c, fault.New(fault.Unauthenticated, text).WithCause(err)
}
