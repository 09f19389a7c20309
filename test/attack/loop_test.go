package attack

import (
	"strconv"
	"strings"
	"testing"
)

// A custom host that is the gateway itself ends after a few rounds, whether the
// route is typed or passed through.
func TestLoop(t *testing.T) {
	t.Parallel()
	g := start(t)
	// Each round is authorised by a key of its own that it finds in Authorization.
	config := `{"provider":"openai","custom_host":"http://` + g.addr + `/v1","forward_headers":["x-round"]}`
	for _, path := range []string{"/v1/chat/completions", "/v1/round/and/round"} {
		body := hello
		raw := g.raw("POST " + path + " HTTP/1.1\r\nHost: gw\r\nx-gateway-api-key: " + workspaceKey + "\r\nx-gateway-config: " + config +
			"\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
		if !strings.HasPrefix(raw, "HTTP/1.1 4") {
			t.Errorf("%s: %.200q", path, raw)
		}
	}
	// What such rounds would carry, had they found a way.
	for hops, want := range map[string]string{"": "200", "sluice": "200", "cdn-a, sluice, sluice": "200", "sluice, sluice,sluice , sluice": "508"} {
		raw := g.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\n" + g.to() + "cdn-loop: " + hops + "\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: " +
			strconv.Itoa(len(hello)) + "\r\n\r\n" + hello)
		if !strings.HasPrefix(raw, "HTTP/1.1 "+want) {
			t.Errorf("%q: %.200q", hops, raw)
		}
		if hops == "sluice" {
			seen := g.up.Seen()
			if got := seen[len(seen)-1].Get("cdn-loop"); got != "sluice, sluice" {
				t.Errorf("sent on as %q", got)
			}
		}
	}
}
