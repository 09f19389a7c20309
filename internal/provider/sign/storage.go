package sign

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// AWSCredentials are those of the gateway for a library that signs by itself: of a role,
// assumed in the way of assumedRole, or, without one, those of the machine as in
// serviceRole. They are renewed when they are asked for; the errors are those of Sign.
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

// GoogleToken is a token of the gateway's own identity at Google Cloud, as GCP_AUTH_MODE
// and CLOUD_WIF_AUDIENCE say.
func (s *Set) GoogleToken(ctx context.Context) (string, error) {
	return s.schemes["gcp"].(*gcpSigner).token(ctx, gcpWorkload, "")
}
