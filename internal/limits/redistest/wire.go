package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Wire is what connections to a server run over, and can be disturbed. Not safe for
// concurrent use.
type Wire struct {
	Address string // "127.0.0.1:40002"
	t       testing.TB
	proxy   *toxiproxy.Proxy
}

// NewWire lays a wire to a server; it is taken away when the test ends.
func NewWire(t testing.TB, s *Server) *Wire {
	t.Helper()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	w := &Wire{t: t, proxy: toxiproxy.NewProxy(api, "redis", "127.0.0.1:0", s.Address)}
	w.Restore()
	w.Address = w.proxy.Listen
	t.Cleanup(w.Cut)
	return w
}

// Cut ends all connections, and none can be made until Mend.
func (w *Wire) Cut() { w.proxy.Stop() }

// Restore ends a Cut.
func (w *Wire) Restore() {
	if err := w.proxy.Start(); err != nil {
		w.t.Fatal(err)
	}
}

// Slow delays each answer, until Clear.
func (w *Wire) Slow(by time.Duration) {
	w.disturb(fmt.Sprintf(`{"type":"latency","stream":"downstream","attributes":{"latency":%d}}`, by.Milliseconds()))
}

// Deafen has everything arrive at the server, and no answer come back, until Clear.
func (w *Wire) Deafen() {
	w.disturb(`{"type":"timeout","stream":"downstream","attributes":{"timeout":0}}`)
}

// Hang has nothing arrive, and no connection end, until Clear.
func (w *Wire) Hang() { w.disturb(`{"type":"timeout","stream":"upstream","attributes":{"timeout":0}}`) }

func (w *Wire) disturb(toxic string) {
	if _, err := w.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		w.t.Fatal(err)
	}
}

// Clear ends what disturbs the wire.
func (w *Wire) Clear() {
	ctx, stop := context.WithTimeout(context.Background(), startLimit)
	defer stop()
	w.proxy.Toxics.ResetToxics(ctx)
}
