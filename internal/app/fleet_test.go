package app

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redistest"
	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore/storetest"
)

var emailPlaceholder = regexp.MustCompile(`\[EMAIL_ADDRESS_[0-9a-f]+\]`)

// Two gateways that share a database and Redis continue one conversation: the second restores what the
// first one hid.
func TestReversibleRedactionContinuesAtAnotherNode(t *testing.T) {
	t.Parallel()
	received := make(chan string, 8)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
		w.Header().Set("content-type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"to %s"},"finish_reason":"stop"}]}`, emailPlaceholder.FindString(string(body)))
	}))
	t.Cleanup(provider.Close)
	database, redis := storetest.StartPostgres(t, nil).Settings(t).Writer, redistest.Start(t)
	settings := func() config.Settings {
		s := freshSettings(t)
		s.Database = config.Database{Type: config.Postgres, Host: database.Host, Port: database.Port, User: database.User, Name: database.Name, SSL: "DISABLED", PoolSize: 4}
		s.Security.EncryptionKey = sealed.New("0123456789abcdef0123456789abcdef")
		host, port, err := net.SplitHostPort(redis.Address)
		if err != nil {
			t.Fatal(err)
		}
		s.Redis.Store, s.Redis.Host = config.RedisStore, host
		if s.Redis.Port, err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, keys, _ := running(t, settings())
	second, _, _ := running(t, settings())
	ask := func(a *App, key, text string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+a.Addr()+"/v1/chat/completions",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"`+text+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"content-type": "application/json", "x-gateway-api-key": key, "x-gateway-trace-id": "conversation-1",
			"x-gateway-config": `{"provider":"openai","api_key":"k","custom_host":"` + provider.URL + `/v1","input_guardrails":[{"gateway.pii":{"categories":["EMAIL_ADDRESS"],"redact":"reversible"}}]}`,
		} {
			req.Header.Set(name, value)
		}
		resp, err := (&http.Client{Transport: &http.Transport{}, Timeout: time.Minute}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%d %s, %v", resp.StatusCode, body, err)
		}
		return string(body)
	}
	for limit := time.Now().Add(time.Minute); ; { // a machine under load may exceed the time limit of Redis
		if got := ask(first, keys.Workspace, "I am ann@example.com"); !strings.Contains(got, "to ann@example.com") {
			t.Fatalf("in the same call: %s", got)
		}
		token := emailPlaceholder.FindString(<-received)
		if token == "" {
			t.Fatal("the provider received no placeholder")
		}
		got := ask(second, keys.Workspace, "repeat "+token)
		<-received
		if strings.Contains(got, "to ann@example.com") {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("at the other node: %s", got)
		}
	}
}
