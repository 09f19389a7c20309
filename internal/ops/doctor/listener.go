package doctor

import (
	"context"
	"net"

	"sluice/internal/ops/health"
	"sluice/internal/ops/hint"
)

// Listener checks that the address of the listener is free, or that a gateway already uses it.
type Listener struct {
	Address   string // "127.0.0.1:8787"
	HealthURL string // of a gateway at that address
}

// Run implements Check.
func (c Listener) Run(ctx context.Context) []Finding { return []Finding{c.check(ctx)} }

func (c Listener) check(ctx context.Context) Finding {
	f := Finding{Subject: "listener"}
	if _, err := health.Check(ctx, c.HealthURL); err == nil {
		f.Detail = "a gateway already responds on " + c.Address
		return f
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Address)
	if err != nil {
		f.Err = hint.Listener(err)
		return f
	}
	f.Err = l.Close()
	f.Detail = c.Address + " is free"
	return f
}
