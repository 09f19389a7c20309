package objects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"sluice/internal/storage/requestlog/bodies"
)

// op is an operation of the store.
type op int

const (
	opPut op = iota
	opGet
	opDelete
	opList
	ops
)

var opNames = [ops]string{"put", "get", "delete", "list"}

// counts are counters since the start.
type counts struct {
	done, failed   [ops]atomic.Uint64
	sent, received atomic.Uint64 // bytes
}

// call runs an operation with the stall limit and the breaker. Its errors name the operation. The
// error is bodies.ErrGone if the object does not exist.
func (b *Bucket) call(ctx context.Context, what op, key string, do func(context.Context, *stallTimer) error) error {
	if err := b.breaker.acquire(); err != nil {
		return fmt.Errorf("%w: %w", bodies.ErrUnavailable, err)
	}
	limited, p := newStallTimer(ctx, b.o.Timeout)
	err := p.end(do(limited, p))
	b.counts.done[what].Add(1)
	switch {
	case err == nil:
	case missing(err):
		err = bodies.ErrGone // the store works
	case ctx.Err() != nil: // the caller cancelled: that reveals nothing about the store
		b.breaker.abandon()
		return ctx.Err()
	}
	if err == nil || errors.Is(err, bodies.ErrGone) {
		b.breaker.release(nil)
		return err
	}
	b.counts.failed[what].Add(1)
	b.breaker.release(err)
	return fmt.Errorf("%w: %s %s in bucket %s: %w", bodies.ErrUnavailable, opNames[what], b.o.Prefix+key, b.o.Bucket, err)
}

// missing reports whether the object does not exist, or ends before the requested offset, for
// example because its end was scrubbed. A missing bucket does not count.
func missing(err error) bool {
	var apiErr smithy.APIError
	if errors.As(err, &apiErr) {
		switch apiErr.ErrorCode() {
		case "NoSuchKey", "NotFound", "InvalidRange":
			return true
		case "NoSuchBucket":
			return false
		}
	}
	var response *awshttp.ResponseError
	return apiErr == nil && errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotFound
}
