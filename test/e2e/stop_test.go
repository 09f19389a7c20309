package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

const slowChat = `{"model":"fault:slow-stream@100ms","stream":true,"messages":[{"role":"user","content":"Hello there"}]}`

// A gateway that is asked to stop in the middle of a stream takes no new callers,
// lets the stream run to its end and then ends itself, with 0.
func TestStopDrainsStreams(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, with("DRAIN_DELAY=200ms"))
	resp, err := g.send(t.Context(), "POST", "/v1/chat/completions", slowChat, custom(up)...)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	if first, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(first, "data: {") {
		t.Fatalf("first event %q: %v", first, err)
	}
	g.child.terminate(t)
	address := strings.TrimPrefix(g.base, "http://")
	eventually(t, 30*time.Second, "new connections are refused", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close() // it was taken: not yet
		}
		return err != nil
	})
	rest, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the stream ends with %q: %v", tail(string(rest)), err)
	}
	if code := g.child.ended(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	id := resp.Header.Get("x-gateway-request-id")
	log := g.again().awaitLog(id)
	if !strings.Contains(log.Body, id) {
		t.Errorf("log: %s", log.Body)
	}
}

// A gateway that has time to send its callers elsewhere says on health that it is about to go,
// and takes calls meanwhile, each as the last of its connection. Who does not want to wait
// for that ends it by a second signal.
func TestStopSendsCallersElsewhere(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, with("DRAIN_DELAY=10m"))
	c := startClients(g, 4, custom(up))
	eventually(t, callLimit, "there is load", func() bool { return c.count() > 20 })
	g.child.terminate(t)
	eventually(t, callLimit, "health says so", func() bool {
		a := g.call("GET", "/v1/health", "")
		return a.Status == 503 && a.get("status").String() == "draining"
	})
	another := *g
	another.http = &http.Client{Transport: &http.Transport{}}
	for name, g := range map[string]*gateway{"kept": g, "new": &another} {
		resp, err := g.send(t.Context(), "POST", "/v1/chat/completions", hello, custom(up)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !resp.Close {
			t.Errorf("%s: %d, close %v, %s %v", name, resp.StatusCode, resp.Close, b, err)
		}
		_ = resp.Body.Close()
	}
	before := c.count()
	eventually(t, callLimit, "there is load still", func() bool { return c.count() > before+20 })
	c.stop()
	if len(c.failures) > 0 || len(c.bad) > 0 {
		t.Errorf("%d calls have no answer, and %d none of ours: %.300v %.300v", len(c.failures), len(c.bad), c.failures, c.bad)
	}
	g.child.terminate(t)
	if code := g.child.ended(t); code == 0 {
		t.Error("it did not end at once")
	}
}

// A stream that outlasts DRAIN_TIMEOUT is ended, so that a stop always ends. Its caller is
// told so in the words of the surface, and its record says who ended it.
func TestStopEndsWhatOutlastsTheLimit(t *testing.T) {
	t.Parallel()
	ca := storetest.NewCA(t)
	for _, c := range []struct {
		name, path, proto, message string
		opts                       []option
	}{
		{"HTTP/1.1", "/v1/chat/completions", "HTTP/1.1", `data: {"error":{"code":null,"message":"the gateway is shutting down`, nil},
		{"HTTP/2", "/v1/chat/completions", "HTTP/2.0", `data: {"error":{"code":null,"message":"the gateway is shutting down`, []option{secure(t, ca)}},
		{"translated", "/v1/messages", "HTTP/1.1", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"the gateway is shutting down", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			g := start(t, append(c.opts, with("DRAIN_TIMEOUT=300ms"))...)
			body := strings.Replace(slowChat, "slow-stream@100ms", "stall@2", 1)
			resp, err := g.send(t.Context(), "POST", c.path, strings.Replace(body, "{", `{"max_tokens":100,`, 1), custom(up)...)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.Proto != c.proto {
				t.Errorf("it is %s", resp.Proto)
			}
			began := time.Now()
			g.child.terminate(t)
			text, err := io.ReadAll(resp.Body)
			if index := strings.LastIndex(string(text), "\n\n"+c.message); err != nil || index < 0 || strings.Count(string(text[index:]), "\n\n") != 2 {
				t.Errorf("the stream ends with %q: %v", tail(string(text)), err)
			}
			if code, took := g.child.ended(t), time.Since(began); code != 0 || took > 20*time.Second { // it would be 30 s as usual
				t.Errorf("it ended with %d after %s", code, took)
			}
			log := g.again().awaitLog(resp.Header.Get("x-gateway-request-id"))
			if got := log.get("metrics.outcome").String(); got != "interrupted" {
				t.Errorf("on record as %q: %s", got, log.Body)
			}
		})
	}
}

// A call that has no answer yet when the time to drain is over is refused in words that have
// the client try again.
func TestStopRefusesWhatHasNoAnswer(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, with("DRAIN_TIMEOUT=300ms"))
	got := make(chan callResult, 1)
	go func() {
		got <- g.try("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "fault:hang", 1), custom(up)...)
	}()
	eventually(t, callLimit, "the provider is called", func() bool { return up.Total() == 1 })
	g.child.terminate(t)
	a := <-got
	if a.Err != nil || a.Status != 503 || a.get("error.type").String() != "overloaded_error" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s %v", a.Status, a.Body, a.Err)
	}
	if code := g.child.ended(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	log := g.again().awaitLog(a.Header.Get("x-gateway-request-id"))
	if got := log.get("metrics.outcome").String(); got != "interrupted" {
		t.Errorf("on record as %q: %s", got, log.Body)
	}
}

// A conversation over WebSocket is waited for as a stream is, and on record as ended by the
// gateway when it outlasts the limit.
func TestStopEndsConversations(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Write(r.Context(), websocket.MessageText, []byte(`{"type":"session.created"}`)) // the reader says what came
		_, _, _ = c.Read(r.Context())
	}))
	defer provider.Close()
	g := start(t, with("DRAIN_TIMEOUT=300ms"))
	head := http.Header{"X-Gateway-Api-Key": {g.key}, "X-Gateway-Provider": {"openai"}, "X-Gateway-Custom-Host": {provider.URL + "/v1"}}
	c, resp, err := websocket.Dial(t.Context(), g.base+"/v1/realtime?model=gpt-realtime", &websocket.DialOptions{HTTPHeader: head})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if _, _, err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	g.child.terminate(t)
	if _, _, err := c.Read(t.Context()); err == nil || time.Since(began) < 300*time.Millisecond {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if code := g.child.ended(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	log := g.again().awaitLog(resp.Header.Get("x-gateway-request-id"))
	if got := log.get("metrics.outcome").String(); got != "interrupted" {
		t.Errorf("on record as %q: %s", got, log.Body)
	}
}

// A gateway that is killed under load, three times over, loses no call that a
// client has the answer of, and doubles none.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	const clients, rounds = 16, 3
	up := upstream.Start(t, upstream.MaxBody(1<<10))
	g := start(t)
	var answered []string
	for range rounds {
		c := startClients(g, clients, custom(up))
		eventually(t, callLimit, "there is load", func() bool { return c.count() > 500 })
		g.child.kill()
		answered = append(answered, c.stop()...)
		if bad := c.wrong(); len(bad) > 0 {
			t.Fatalf("%d answers are none, the first: %s", len(bad), bad[0])
		}
		g = g.again()
	}
	var logged map[string]int
	eventually(t, logLimit, "every answered call is in the log", func() bool {
		logged = map[string]int{}
		for _, id := range g.loggedIDs() {
			logged[id]++
		}
		return !slices.ContainsFunc(answered, func(id string) bool { return logged[id] == 0 })
	})
	for id, n := range logged {
		if n > 1 {
			t.Errorf("call %s is %d times in the log", id, n)
		}
	}
	// What is in the log but was not answered was under way at a kill: sent upstream, or
	// reserved a moment before.
	if n := len(logged); n-len(answered) > rounds*clients || n-up.Total() > rounds*clients {
		t.Errorf("%d calls in the log, %d answered, %d sent upstream", n, len(answered), up.Total())
	}
	t.Logf("%d answered, %d in the log, %d sent upstream", len(answered), len(logged), up.Total())
}
