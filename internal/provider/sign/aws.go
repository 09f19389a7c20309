package sign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/provider"
)

// awsSigner signs with Signature Version 4, or sends a Bedrock key as a bearer token, depending
// on aws_auth_type.
// Source: contract/providers.yaml, shared.auth.aws.
type awsSigner struct {
	clock ident.Clock
	roles *roles
	v4    sigV4
}

var _ Signer = (*awsSigner)(nil)

func newAWS(o Options) *awsSigner {
	return &awsSigner{clock: o.Clock, roles: newRoles(o)}
}

const (
	defaultRegion = "us-east-1"
	emptyHash     = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsigned      = "UNSIGNED-PAYLOAD" // valid for S3 over TLS only
)

// Sign adds authorization, x-amz-date and, where they apply, x-amz-security-token
// and x-amz-content-sha256.
func (s *awsSigner) Sign(ctx context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	if v["aws_auth_type"] == "apiKey" {
		return setHeader(r, "authorization", "Bearer {key}", v[provider.Key])
	}
	region, service := v["aws_region"], v["aws_service"]
	if region == "" {
		region = defaultRegion
	}
	if service == "" {
		service = a.Service
	}
	creds, err := s.credentials(ctx, region, v)
	if err != nil {
		return err
	}
	return s.sign(r, creds, service, region)
}

// credentials returns the keys to sign with.
func (s *awsSigner) credentials(ctx context.Context, region string, v provider.Values) (aws.Credentials, error) {
	switch v["aws_auth_type"] {
	case "", "accessKey":
		c := aws.Credentials{AccessKeyID: v["aws_access_key_id"], SecretAccessKey: v["aws_secret_access_key"], SessionToken: v["aws_session_token"]}
		if !c.HasKeys() {
			return c, fault.New(fault.InvalidRequest, "signing for AWS requires aws_access_key_id and aws_secret_access_key, or another aws_auth_type").WithParam("aws_access_key_id")
		}
		return c, nil
	case "assumedRole":
		return s.roles.assume(ctx, region, v["aws_role_arn"], v["aws_external_id"])
	case "serviceRole":
		return s.roles.host(ctx, region)
	}
	return aws.Credentials{}, fault.New(fault.InvalidRequest, "aws_auth_type must be accessKey, assumedRole, apiKey or serviceRole").WithParam("aws_auth_type")
}

func (s *awsSigner) sign(r *Request, creds aws.Credentials, service, region string) error {
	hash, err := payloadHash(r, service)
	if err != nil {
		return err
	}
	if service == "s3" {
		r.Header.Set("x-amz-content-sha256", hash)
	}
	s.v4.sign(r.Header, signing{method: r.Method, host: r.Host, target: r.Target, hash: hash, region: region, service: service, now: s.clock.Now()}, creds)
	return nil
}

// payloadHash returns the SHA-256 of the body in hex. A body that can be sent only once cannot
// be hashed before. Only S3 accepts it unsigned, over TLS.
func payloadHash(r *Request, service string) (string, error) {
	if b, ok := r.Body.Memory(); ok {
		if len(b) == 0 {
			return emptyHash, nil
		}
		sum := sha256.Sum256(b)
		var text [2 * sha256.Size]byte
		return string(hex.AppendEncode(text[:0], sum[:])), nil
	}
	if !r.Body.Replayable() {
		if service == "s3" && r.Scheme == "https" {
			return unsigned, nil
		}
		return "", fault.New(fault.TooLarge, "the body is too large to be signed, because signing requires buffering; send a smaller body")
	}
	h := sha256.New()
	if _, err := io.Copy(h, r.Body.Open()); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
