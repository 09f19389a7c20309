package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/test/narrow"
)

// A caller who does not take the end of a stream does not keep the gateway from stopping,
// and its call is on record.
func TestStopDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	full := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		event := `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"` + strings.Repeat("a", 16<<10) + `"}}]}` + "\n\n"
		stuck := time.AfterFunc(time.Minute, sync.OnceFunc(func() { close(full) }))
		for _, err := io.WriteString(w, event); err == nil; _, err = io.WriteString(w, event) {
			stuck.Reset(time.Second) // by then the gateway takes no more
		}
	}))
	defer provider.Close()
	g := start(t, with("DRAIN_TIMEOUT=300ms"))
	c := narrow.Dial(t, strings.TrimPrefix(g.base, "http://"))
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello there"}]}`
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nContent-Type: application/json\r\nX-Gateway-Api-Key: %s\r\nX-Gateway-Provider: openai\r\nX-Gateway-Custom-Host: %s/v1\r\nContent-Length: %d\r\n\r\n%s",
		g.key, provider.URL, len(body), body)
	head := make([]byte, 512)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`x-gateway-request-id: (\S+)`).FindStringSubmatch(string(head))
	if id == nil {
		t.Fatalf("answer %q", head)
	}
	<-full
	began := time.Now()
	g.child.terminate(t)
	if code, took := g.child.ended(t), time.Since(began); code != 0 || took > 20*time.Second { // it would be 30 s as usual
		t.Errorf("it ended with %d after %s", code, took)
	}
	log := g.again().awaitLog(id[1])
	if got := log.get("metrics.outcome").String(); got != "interrupted" {
		t.Errorf("on record as %q: %s", got, log.Body)
	}
}
