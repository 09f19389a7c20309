package e2e

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"sluice/test/upstream"
)

const slowChat = `{"model":"fault:slow-stream@100ms","stream":true,"messages":[{"role":"user","content":"Hello there"}]}`

// A gateway that is asked to stop in the middle of a stream takes no new callers,
// lets the stream run to its end and then ends itself, with 0.
func TestStopDrainsStreams(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
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
	eventually(t, 2*time.Second, "new connections are refused", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close() // it was taken: not yet
		}
		return err != nil
	})
	select {
	case <-g.child.done:
		t.Fatal("it ended in the middle of a stream")
	default:
	}
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

// A stream that outlasts DRAIN_TIMEOUT is cut, so that a stop always ends.
func TestStopCutsWhatOutlastsTheLimit(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, with("DRAIN_TIMEOUT=300ms"))
	resp, err := g.send(t.Context(), "POST", "/v1/chat/completions", strings.Replace(slowChat, "slow-stream@100ms", "stall@2", 1), custom(up)...)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	began := time.Now()
	g.child.terminate(t)
	code := g.child.ended(t)
	if took := time.Since(began); code != 0 || took > 5*time.Second {
		t.Errorf("it ended with %d after %s", code, took)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client was told that the stream was whole")
	}
}

// A gateway that is killed under load, three times over, loses no call that a
// client has the answer of, and doubles none.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	const clients, rounds = 16, 3
	up := upstream.Start(t, upstream.KeepBody(1<<10))
	g := start(t)
	var answered []string
	for range rounds {
		c := startCrowd(g, clients, custom(up))
		eventually(t, callLimit, "there is load", func() bool { return c.count() > 500 })
		g.child.kill()
		answered = append(answered, c.stop()...)
		if bad := c.wrong(); len(bad) > 0 {
			t.Fatalf("%d answers are none, the first: %s", len(bad), bad[0])
		}
		g = g.again()
	}
	last := answered[len(answered)-1]
	eventually(t, 10*time.Second, "the last answered call is in the log", func() bool { return g.call("GET", "/v1/logs/"+last, "").Status == 200 })
	logged := map[string]int{}
	for _, id := range g.loggedIDs() {
		logged[id]++
	}
	for id, n := range logged {
		if n > 1 {
			t.Errorf("call %s is %d times in the log", id, n)
		}
	}
	for _, id := range answered {
		if logged[id] == 0 {
			t.Errorf("answered call %s is not in the log", id)
		}
	}
	// What is in the log but was not answered was under way at a kill: sent upstream, or
	// reserved a moment before.
	if n := len(logged); n-len(answered) > rounds*clients || n-up.Total() > rounds*clients {
		t.Errorf("%d calls in the log, %d answered, %d sent upstream", n, len(answered), up.Total())
	}
	t.Logf("%d answered, %d in the log, %d sent upstream", len(answered), len(logged), up.Total())
}
