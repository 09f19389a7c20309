// Package objects is a client for object stores: Amazon S3 and compatible stores, and Google
// Cloud Storage through its S3-compatible API with a Google token. Every call ends if no data
// moves for a time, and a breaker avoids waiting for an unavailable store. Start reading at
// Bucket.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog/bodies"
)

// Options configure the bucket and the access to it. Bucket is required, and one of AWS and
// Google.
type Options struct {
	Bucket    string
	Prefix    string // of every key, "gateway/"; may be empty
	Region    string // "eu-west-1"; empty means us-east-1
	Endpoint  string // "https://minio.internal:9000"; empty means that of AWS, or of Google
	PathStyle bool   // the bucket is in the path, not in the host name

	AWS    aws.CredentialsProvider                             // signs requests
	Google func(ctx context.Context) (token string, err error) // returns the token to send with requests instead

	HTTP     *http.Client  // nil means a default client; must not have a time limit
	Timeout  time.Duration // without data after which a call ends; 0 means 15 s
	Failures int           // in a row that open the breaker; 0 means 5
	Backoff  time.Duration // for which it stays open; 0 means 60 s
	Clock    ident.Clock   // nil means the machine's
}

// GoogleEndpoint is the endpoint of Google Cloud Storage for S3 requests.
// Source: https://cloud.google.com/storage/docs/xml-api/overview, read 2026-11.
const GoogleEndpoint = "https://storage.googleapis.com"

const defaultRegion = "us-east-1"

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if o.Google != nil && o.Endpoint == "" {
		o.Endpoint = GoogleEndpoint
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Failures == 0 {
		o.Failures = 5
	}
	if o.Backoff == 0 {
		o.Backoff = time.Minute
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	return o
}

// Bucket is an object store. It is safe for concurrent use.
type Bucket struct {
	o       Options
	client  *s3.Client
	breaker breaker
	counts  counts
}

var _ bodies.Bucket = (*Bucket)(nil)

// New creates a client. It sends nothing before it is used.
func New(o Options) *Bucket {
	o = o.withDefaults()
	b := &Bucket{o: o, breaker: breaker{threshold: o.Failures, backoff: o.Backoff, clock: o.Clock}}
	set := s3.Options{
		Region: o.Region, Credentials: o.AWS, HTTPClient: o.HTTP, UsePathStyle: o.PathStyle,
		// compatible stores may not support newer checksums
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		RetryMaxAttempts:           2,
	}
	if o.Google != nil {
		set.Credentials, set.HTTPClient = aws.AnonymousCredentials{}, bearer{o.HTTP, o.Google}
	}
	if o.Endpoint != "" {
		set.BaseEndpoint = aws.String(o.Endpoint)
	}
	b.client = s3.New(set)
	return b
}

// bearer sends a token with every request.
type bearer struct {
	http  *http.Client
	token func(context.Context) (string, error)
}

// Do implements s3.HTTPClient.
func (b bearer) Do(r *http.Request) (*http.Response, error) {
	token, err := b.token(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.http.Do(r)
}

// key returns the full key in the store.
func (b *Bucket) key(key string) *string { return aws.String(b.o.Prefix + key) }

// Put implements bodies.Bucket.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	return b.call(ctx, opPut, key, func(ctx context.Context, p *stallTimer) error {
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.o.Bucket, Key: b.key(key), Body: upload{bytes.NewReader(data), p}})
		if err == nil {
			b.counts.sent.Add(uint64(len(data)))
		}
		return err
	})
}

// Get implements bodies.Bucket.
func (b *Bucket) Get(ctx context.Context, key string, offset, limit int64) (data []byte, err error) {
	err = b.call(ctx, opGet, key, func(ctx context.Context, p *stallTimer) error {
		byteRange := fmt.Sprintf("bytes=%d-%d", offset, offset+limit-1)
		out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.o.Bucket, Key: b.key(key), Range: &byteRange})
		if err != nil {
			return err
		}
		defer func() { _ = out.Body.Close() }() // it was read
		data, err = io.ReadAll(download{io.LimitReader(out.Body, limit), p})
		b.counts.received.Add(uint64(len(data)))
		return err
	})
	return data, err
}

// Delete implements bodies.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.call(ctx, opDelete, key, func(ctx context.Context, _ *stallTimer) error {
		_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.o.Bucket, Key: b.key(key)})
		return err
	})
	if errors.Is(err, bodies.ErrGone) { // Google returns this error, AWS does not
		return nil
	}
	return err
}

// List implements bodies.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string, visit func(bodies.Object) bool) error {
	return b.pages(ctx, prefix, "", func(page *s3.ListObjectsV2Output) bool {
		for _, o := range page.Contents {
			if !visit(bodies.Object{Key: strings.TrimPrefix(aws.ToString(o.Key), b.o.Prefix), Modified: aws.ToTime(o.LastModified)}) {
				return false
			}
		}
		return true
	})
}

// Folders implements bodies.Bucket.
func (b *Bucket) Folders(ctx context.Context, prefix string) (out []string, err error) {
	err = b.pages(ctx, prefix, "/", func(page *s3.ListObjectsV2Output) bool {
		for _, p := range page.CommonPrefixes {
			out = append(out, folder(p, b.o.Prefix+prefix))
		}
		return true
	})
	return out, err
}

func folder(p types.CommonPrefix, prefix string) string {
	return strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), prefix), "/")
}

// pages lists keys until visit returns false.
func (b *Bucket) pages(ctx context.Context, prefix, delimiter string, visit func(*s3.ListObjectsV2Output) bool) error {
	input := &s3.ListObjectsV2Input{Bucket: &b.o.Bucket, Prefix: b.key(prefix)}
	if delimiter != "" {
		input.Delimiter = &delimiter
	}
	for pages := s3.NewListObjectsV2Paginator(b.client, input); pages.HasMorePages(); {
		var page *s3.ListObjectsV2Output
		err := b.call(ctx, opList, prefix, func(ctx context.Context, _ *stallTimer) (err error) {
			page, err = pages.NextPage(ctx)
			return err
		})
		if err != nil || !visit(page) {
			return err
		}
	}
	return nil
}
