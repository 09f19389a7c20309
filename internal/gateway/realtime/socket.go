package realtime

import (
	"context"
	"errors"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// Socket is one side of a WebSocket conversation. Read is for one goroutine. Write and Close are
// safe for concurrent use.
type Socket interface {
	Read(ctx context.Context) (text bool, data []byte, err error)
	Write(ctx context.Context, text bool, data []byte) error
	Close(code int, reason string) error
}

// Closed is the error of a Socket that the other side closed.
type Closed struct {
	Code   int // 1000 to 4999; 1005 when the other side sent none
	Reason string
}

// Error returns the close reason.
func (c *Closed) Error() string { return "the socket was closed: " + c.Reason }

// Client is a caller that requests a WebSocket. The gateway accepts it only once the upstream is
// open. Until then it can send an ordinary response.
type Client interface {
	wire.Responder
	Accept(h wire.Header) (Socket, error)
}

// Dialer opens WebSockets to upstreams under the address guard. A refused handshake is a
// *fault.Error with the upstream's status. ctx limits the handshake only.
type Dialer interface {
	Dial(ctx context.Context, url string, h wire.Header) (Socket, error)
}

// Dial opens a WebSocket within timeout. Zero waits for as long as the caller does. The error is
// fault.ClientGone when the caller disconnects first, and fault.UpstreamTimeout after timeout.
func Dial(ctx context.Context, d Dialer, url string, h wire.Header, timeout time.Duration) (Socket, error) {
	callCtx := ctx
	if timeout > 0 {
		limited, stop := context.WithTimeout(ctx, timeout)
		defer stop()
		callCtx = limited
	}
	up, err := d.Dial(callCtx, url, h)
	switch {
	case err == nil:
		return up, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, fault.Wrap(fault.ClientGone, err)
	case ctx.Err() != nil:
		return nil, err
	case callCtx.Err() != nil:
		return nil, fault.Wrap(fault.UpstreamTimeout, err)
	}
	return nil, err
}
