package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// ErrUnreachable is in errors of a server that did not respond. Whether it executed the statement
// is unknown.
var ErrUnreachable = errors.New("ClickHouse is unreachable")

func dialer() *net.Dialer { return &net.Dialer{Timeout: connectLimit} }

// unreachable returns the error of a request without a response. It omits the URL, because that
// contains the values of the statement. A cancelled caller is not a fault of the server.
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
