package sign

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// AWSCredentials returns the gateway's credentials for a library that signs requests itself.
// They are those of a role, assumed as for assumedRole, or without a role those of the machine
// as for serviceRole. They are renewed on use. The errors are those of Sign.
func (s *Set) AWSCredentials(region, roleARN, externalID string) aws.CredentialsProvider {
	if region == "" {
		region = defaultRegion
	}
	roles := s.schemes["aws"].(*awsSigner).roles
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		if roleARN == "" {
			return roles.host(ctx, region)
		}
		return roles.assume(ctx, region, roleARN, externalID)
	})
}

// GoogleToken returns a token of the gateway's own identity at Google Cloud, as GCP_AUTH_MODE
// and CLOUD_WIF_AUDIENCE select it.
func (s *Set) GoogleToken(ctx context.Context) (string, error) {
	return s.schemes["gcp"].(*gcpSigner).token(ctx, gcpWorkload, "")
}
