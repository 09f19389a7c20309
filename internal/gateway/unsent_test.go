package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
)

// hasty answers with the beginning of an answer before it has the body, and ends it when it has
// that.
func hasty(t *testing.T, kind, begins string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("content-type", kind)
		_, _ = io.WriteString(w, begins)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A body that breaks off, is malformed or too long while the provider has begun to answer is
// the caller's fault: it is told so where it still can be, and the provider is not blamed.
func TestBodiesThatFailBehindAnEarlyAnswer(t *testing.T) {
	t.Parallel()
	const nitro = "x-gateway-nitro-mode: true\r\n"
	for _, call := range []struct {
		name, path, kind, begins, header string
		begun                            bool // what the provider sends reaches the client
	}{
		{"passed through", "/v1/other", "application/octet-stream", "", "", false},
		{"passed through, begun", "/v1/other", "application/octet-stream", "some", "", true},
		{"unread", "/v1/chat/completions", "application/json", `{"id":`, nitro, false},
	} {
		for _, body := range []struct {
			name, text string
			leaves     bool
			status     string
			outcome    record.Outcome
		}{
			{"leaves", "", true, "499", record.ClientGone},
			{"malformed", "no size\r\n", false, "400", record.Failed},
			{"too long", "1000\r\n" + strings.Repeat("a", 0x1000) + "\r\n", false, "413", record.Failed},
		} {
			t.Run(call.name+" "+body.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(s *gateway.Settings) { s.MaxUploadBytes = 1 << 10 })
				up := hasty(t, call.kind, call.begins)
				nc, err := net.Dial("tcp", r.server.Addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
				fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: gw\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\nX-Gateway-Api-Key: %s\r\nX-Gateway-Provider: openai\r\nAuthorization: Bearer k\r\nX-Gateway-Custom-Host: %s/v1\r\n%s\r\n5\r\nhello\r\n",
					call.path, call.kind, key, up, call.header)
				reader, want := bufio.NewReader(nc), body.status
				if call.begun { // its status is there before the body fails
					want = "200"
					_, _ = reader.Peek(1)
				}
				_, _ = io.WriteString(nc, body.text)
				if body.leaves {
					_ = nc.(*net.TCPConn).CloseWrite()
				}
				if line, err := reader.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 "+want) {
					t.Errorf("answered %q, %v", line, err)
				}
				if row := r.journal.one(t); row.Outcome != body.outcome {
					t.Errorf("on record as %s %d: %s", row.Outcome, row.Status, row.Error)
				}
			})
		}
	}
}
