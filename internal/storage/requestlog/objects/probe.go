package objects

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/smithy-go"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog/bodies"
)

// Probe stores an object, reads it, lists it and deletes it. It returns the error of the first
// step that failed; Hint returns what to do about it.
func (b *Bucket) Probe(ctx context.Context) (err error) {
	key := "bodies/probe/" + ident.NewID()
	text := []byte("written by sluice doctor; it may be deleted")
	if err := b.Put(ctx, key, text); err != nil {
		return err
	}
	defer func() {
		if gone := b.Delete(ctx, key); err == nil {
			err = gone
		}
	}()
	got, err := b.Get(ctx, key, 0, int64(len(text))+1)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, text) {
		return fmt.Errorf("object store: %s returned %d bytes that differ from those written", key, len(got))
	}
	found := false
	err = b.List(ctx, key, func(o bodies.Object) bool {
		found = o.Key == key
		return !found
	})
	if err == nil && !found {
		err = fmt.Errorf("object store: %s was written, but is missing in the list", key)
	}
	return err
}

// cures are hints for errors of a store, by their code.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, read 2026-11.
var cures = map[string]string{
	"NoSuchBucket":                       "create the bucket, or set LOG_STORE_BUCKET to an existing one",
	"AccessDenied":                       "allow s3:PutObject, s3:GetObject, s3:DeleteObject on the objects and s3:ListBucket on the bucket (docs/logs.md has the policy)",
	"InvalidAccessKeyId":                 "check LOG_STORE_ACCESS_KEY",
	"SignatureDoesNotMatch":              "check LOG_STORE_SECRET_KEY, and LOG_STORE_REGION",
	"AuthorizationHeaderMalformed":       "set LOG_STORE_REGION to the region of the bucket",
	"PermanentRedirect":                  "set LOG_STORE_REGION to the region of the bucket",
	"IllegalLocationConstraintException": "set LOG_STORE_REGION to the region of the bucket",
	"RequestTimeTooSkewed":               "correct the clock of this machine",
	"ExpiredToken":                       "renew the credentials",
	"InvalidBucketName":                  "set LOG_STORE_BUCKET to the bucket name only",
}

// Hint returns what to do about an error of Probe.
func Hint(err error) string {
	var apiErr smithy.APIError
	if errors.As(err, &apiErr) {
		if hint, ok := cures[apiErr.ErrorCode()]; ok {
			return hint
		}
		if strings.Contains(apiErr.ErrorCode(), "Forbidden") {
			return cures["AccessDenied"]
		}
	}
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var connection *net.OpError
	switch {
	case fault.Has(err, fault.Unauthenticated):
		return "set LOG_STORE_ACCESS_KEY and LOG_STORE_SECRET_KEY, or give the machine an identity with access to the bucket; set CLOUD_WIF_AUDIENCE for the identity of another cloud"
	case errors.As(err, &name):
		return "check LOG_STORE_ENDPOINT and DNS; if the store has no host name for each bucket, set LOG_STORE_PATH_STYLE=ON"
	case errors.As(err, &certificate):
		return "set LOG_STORE_CA to the CA of the store's certificate, and LOG_STORE_ENDPOINT to a name in that certificate"
	case errors.As(err, &connection):
		return "check LOG_STORE_ENDPOINT, whether it is http:// or https://, and the firewall"
	case errors.Is(err, context.DeadlineExceeded):
		return "check LOG_STORE_ENDPOINT and the firewall, or raise LOG_STORE_CONNECTION_TIMEOUT_MS"
	}
	return "check LOG_STORE_ENDPOINT, LOG_STORE_REGION, LOG_STORE_BUCKET, LOG_STORE_ACCESS_KEY and LOG_STORE_SECRET_KEY"
}
