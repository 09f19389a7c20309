package nethttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/wire"
)

// counting is a gateway that tells of each realtime call and refuses it.
type counting struct{ calls chan struct{} }

func (counting) Serve(context.Context, *wire.Request, wire.Responder) error { return nil }

func (c counting) Realtime(_ context.Context, _ *wire.Request, client realtime.Client) error {
	c.calls <- struct{}{}
	return client.Head(http.StatusTeapot, nil, 0)
}

// A handshake that cannot become a WebSocket is answered before the gateway opens
// anything for it.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	const key, version = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"
	upgrade := []string{"Connection: keep-alive, Upgrade", "Upgrade: WebSocket"}
	for name, c := range map[string]struct {
		lines  []string
		status int
	}{
		"good":             {append(upgrade, key, version), http.StatusTeapot},
		"no version":       {append(upgrade, key), http.StatusUpgradeRequired},
		"old version":      {append(upgrade, key, "Sec-WebSocket-Version: 8"), http.StatusUpgradeRequired},
		"two versions":     {append(upgrade, key, version, "Sec-WebSocket-Version: 8"), http.StatusUpgradeRequired},
		"no key":           {append(upgrade, version), http.StatusBadRequest},
		"two keys":         {append(upgrade, key, key, version), http.StatusBadRequest},
		"short key":        {append(upgrade, "Sec-WebSocket-Key: c2hvcnQ=", version), http.StatusBadRequest},
		"key not base64":   {append(upgrade, "Sec-WebSocket-Key: the sample nonce!", version), http.StatusBadRequest},
		"not a connection": {[]string{"Upgrade: websocket", key, version}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := counting{make(chan struct{}, 1)}
			srv := httptest.NewServer(&Handler{g, impatient})
			t.Cleanup(srv.Close)
			req, _ := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/v1/realtime", nil)
			for _, l := range c.lines {
				name, value, _ := strings.Cut(l, ": ")
				req.Header.Add(name, value)
			}
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status {
				t.Fatalf("answered %d %s %v", resp.StatusCode, body, err)
			}
			if came := len(g.calls) > 0; came != (c.status == http.StatusTeapot) {
				t.Errorf("it came to the gateway: %v", came)
			}
			if c.status == http.StatusTeapot {
				return
			}
			if !strings.HasPrefix(string(body), `{"error":{`) || resp.Header.Get("X-Gateway-Request-Id") == "" {
				t.Errorf("%v %s", resp.Header, body)
			}
			if got := resp.Header.Get("Sec-Websocket-Version"); (got == "13") != (c.status == http.StatusUpgradeRequired) {
				t.Errorf("version %q", got)
			}
		})
	}
}
