package transport_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
)

// A call whose time for the head is over goes on where somebody takes it over, and gives its
// whole answer to them, whatever became of the context of Do.
func TestPendingCallGoesOn(t *testing.T) {
	t.Parallel()
	for name, multi := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-gate
				_, _ = io.WriteString(w, "late")
			}))
			s.EnableHTTP2 = multi
			s.StartTLS()
			t.Cleanup(s.Close)
			pool := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			c := transport.New(transport.Options{Guard: netguard.New([]string{"127.0.0.1"}), TLSConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
			t.Cleanup(c.Close)
			ctx, cancel := context.WithCancel(t.Context())
			var pending *transport.Pending
			_, err := c.Do(ctx, &transport.Request{
				Method: "POST", Scheme: "https", Host: strings.TrimPrefix(s.URL, "https://"), Target: "/", Body: wire.Bytes([]byte("{}")), HeadTimeout: 300 * time.Millisecond,
				Detach: func(context.Context) context.Context { return t.Context() },
				Late:   func(p *transport.Pending) bool { pending = p; return true },
			})
			cancel()
			close(gate)
			if !fault.Has(err, fault.UpstreamTimeout) || pending == nil {
				t.Fatalf("%v, pending %v", err, pending)
			}
			resp, err := pending.Await()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			if string(b) != "late" || err != nil || resp.Status != 200 {
				t.Errorf("%d %q: %v", resp.Status, b, err)
			}
			_ = resp.Body.Close()
		})
	}
}
