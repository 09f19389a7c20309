package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/ops/config"
)

// breaking is a listener that fails when it is told to.
type breaking struct {
	net.Listener
	broken chan struct{}
}

var errBroken = errors.New("the network is gone")

// Accept takes what comes until then.
func (b breaking) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	select {
	case <-b.broken:
		if err == nil {
			_ = conn.Close()
		}
		return nil, errBroken
	default:
		return conn, err
	}
}

// fail has Accept return with an error.
func (b breaking) fail(t *testing.T) {
	t.Helper()
	close(b.broken)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// slowly is a provider whose stream ends when it is told to.
func slowly(t *testing.T, release chan struct{}) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"half"}}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// opened is a gateway that may call this machine, and its keys. Run is to be called.
func opened(t *testing.T, s config.Settings) (a *App, first FirstKeys) {
	t.Helper()
	s.Security.TrustedCustomHosts = []string{"127.0.0.1"}
	a, err := New(t.Context(), s, Options{Log: discard, HasGOGC: true, OnBootstrap: func(made FirstKeys) { first = made }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, first
}

// A listener that fails stops the gateway in order: running calls come to their end.
func TestAFailedListenerDrains(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	upstream := slowly(t, release)
	a, first := opened(t, freshSettings(t))
	l := breaking{a.listener, make(chan struct{})}
	a.listener = l
	ended := make(chan error, 1)
	go func() { ended <- a.Run(context.WithoutCancel(t.Context())) }()

	req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://"+a.Addr()+"/v1/chat/completions",
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	for name, value := range map[string]string{
		"content-type": "application/json", "x-gateway-api-key": first.Workspace, "x-gateway-provider": "openai",
		"authorization": "Bearer k", "x-gateway-custom-host": upstream + "/v1",
	} {
		req.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{}, Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	response := bufio.NewReader(resp.Body)
	if line, err := response.ReadString('\n'); err != nil || !strings.Contains(line, "half") {
		t.Fatalf("%d %q, %v", resp.StatusCode, line, err)
	}
	l.fail(t)
	for deadline := time.Now().Add(time.Minute); !a.draining.Load() && time.Now().Before(deadline) && len(ended) == 0; {
		time.Sleep(time.Millisecond)
	}
	close(release)
	if rest, err := io.ReadAll(response); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the call ended with %q, %v", rest, err)
	}
	if err := <-ended; !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// A conversation that outlasts the time to drain is closed as one of a server that goes
// away, on both sides.
func TestConversationsAreClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	callDone := make(chan error, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		_, _, err = c.Read(r.Context())
		callDone <- err
	}))
	t.Cleanup(upstream.Close)
	s := freshSettings(t)
	s.Server.DrainTimeout = time.Millisecond
	a, first := opened(t, s)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- a.Run(running) }()

	ctx, late := context.WithTimeout(t.Context(), time.Minute)
	defer late()
	h := http.Header{"X-Gateway-Api-Key": {first.Workspace}, "X-Gateway-Provider": {"openai"}, "Authorization": {"Bearer k"}, "X-Gateway-Custom-Host": {upstream.URL + "/v1"}}
	c, _, err := websocket.Dial(ctx, "http://"+a.Addr()+"/v1/realtime?model=gpt-realtime", &websocket.DialOptions{HTTPHeader: h})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	stop()
	if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the caller is told %v", err)
	}
	if err := <-callDone; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the provider is told %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
