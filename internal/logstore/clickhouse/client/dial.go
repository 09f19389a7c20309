package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// ErrUnreachable is in errors of a server that did not answer: whether it did what it was
// asked is not known.
var ErrUnreachable = errors.New("ClickHouse is unreachable")

func dialer() *net.Dialer { return &net.Dialer{Timeout: connectLimit} }

// unreachable is the error of a question that got no answer, without the address, which has
// the values of the statement in it. That the caller gave up is no fault of the server.
func unreachable(ctx context.Context, err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return fmt.Errorf("query ClickHouse: %w", cause)
	}
	return fmt.Errorf("query ClickHouse: %w: %w", ErrUnreachable, err)
}
