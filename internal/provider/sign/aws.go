package sign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/provider"
)

// awsSigner signs with Signature Version 4, or sends a Bedrock key as a bearer
// token, as aws_auth_type says.
// Source: contract/providers.yaml, shared.auth.aws.
type awsSigner struct {
	clock ident.Clock
	roles *roles
	v4    *v4.Signer // escapes the path once more, as every service but S3 wants
	s3    *v4.Signer
}

var _ Signer = (*awsSigner)(nil)

func newAWS(o Options) *awsSigner {
	return &awsSigner{
		clock: o.Clock,
		roles: newRoles(o),
		v4:    v4.NewSigner(),
		s3:    v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true }),
	}
}

const (
	defaultRegion = "us-east-1"
	emptyHash     = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsigned      = "UNSIGNED-PAYLOAD" // S3 alone takes it, over TLS
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
	return s.sign(ctx, r, creds, service, region)
}

// credentials finds the keys to sign with.
func (s *awsSigner) credentials(ctx context.Context, region string, v provider.Values) (aws.Credentials, error) {
	switch v["aws_auth_type"] {
	case "", "accessKey":
		c := aws.Credentials{AccessKeyID: v["aws_access_key_id"], SecretAccessKey: v["aws_secret_access_key"], SessionToken: v["aws_session_token"]}
		if !c.HasKeys() {
			return c, fault.New(fault.InvalidRequest, "signing for AWS needs aws_access_key_id and aws_secret_access_key, or another aws_auth_type").At("aws_access_key_id")
		}
		return c, nil
	case "assumedRole":
		return s.roles.assume(ctx, region, v["aws_role_arn"], v["aws_external_id"])
	case "serviceRole":
		return s.roles.host(ctx, region)
	}
	return aws.Credentials{}, fault.New(fault.InvalidRequest, "aws_auth_type must be accessKey, assumedRole, apiKey or serviceRole").At("aws_auth_type")
}

// sign works on a stand-in request that has only what is signed: the host, the
// content type and Amazon's own headers. Headers that a proxy on the way may
// change stay out of the signature.
func (s *awsSigner) sign(ctx context.Context, r *Request, creds aws.Credentials, service, region string) error {
	hash, err := payloadHash(r, service)
	if err != nil {
		return err
	}
	path, rawQuery, _ := strings.Cut(r.Target, "?")
	stand := &http.Request{
		Method: r.Method,
		Host:   r.Host,
		URL:    &url.URL{Scheme: r.Scheme, Host: r.Host, Opaque: "//" + r.Host + path, RawQuery: rawQuery},
		Header: http.Header{},
	}
	for _, f := range *r.Header {
		if f.Name == "content-type" || strings.HasPrefix(f.Name, "x-amz-") || f.Name == googleAudience {
			stand.Header.Add(f.Name, f.Value)
		}
	}
	signer := s.v4
	if service == "s3" {
		signer = s.s3
		stand.Header.Set("x-amz-content-sha256", hash)
	}
	if err := signer.SignHTTP(ctx, creds, stand, hash, service, region, s.clock.Now()); err != nil {
		return err
	}
	for _, name := range [...]string{"authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"} {
		if v := stand.Header.Get(name); v != "" {
			r.Header.Set(name, v)
		}
	}
	return nil
}

// payloadHash is the SHA-256 of the body in hex. A body that can be sent once
// cannot be hashed first: S3 takes it unsigned over TLS, nobody else does.
func payloadHash(r *Request, service string) (string, error) {
	if b, ok := r.Body.Memory(); ok {
		if len(b) == 0 {
			return emptyHash, nil
		}
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:]), nil
	}
	if !r.Body.Replayable() {
		if service == "s3" && r.Scheme == "https" {
			return unsigned, nil
		}
		return "", fault.New(fault.TooLarge, "the body must be held to be signed, and it is larger than what is held")
	}
	h := sha256.New()
	if _, err := io.Copy(h, r.Body.Open()); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
