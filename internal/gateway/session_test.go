package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// What gpt-realtime costs in nano-dollars a token.
const (
	realtimeTextIn, realtimeTextOut   = 4_000, 16_000
	realtimeAudioIn, realtimeAudioOut = 32_000, 64_000
	realtimeCached                    = 400
)

// talker is a provider of realtime conversations: it answers each event with the next of
// its replies, and says the opening by itself.
func talker(t *testing.T, opening []string, replies ...[]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		send := func(events []string) {
			for _, e := range events {
				_ = c.Write(r.Context(), websocket.MessageText, []byte(e))
			}
		}
		send(opening)
		for i := 0; ; i++ {
			if _, _, err := c.Read(r.Context()); err != nil {
				return
			}
			if i < len(replies) {
				send(replies[i])
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// socketTo asks the gateway for a conversation with a provider.
func (r *rig) socketTo(ctx context.Context, host, path string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{"X-Gateway-Api-Key": {key}, "X-Gateway-Provider": {"openai"}, "Authorization": {"Bearer k"}, "X-Gateway-Custom-Host": {host + "/v1"}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return websocket.Dial(ctx, r.server.URL+path, &websocket.DialOptions{HTTPHeader: h})
}

// converse opens a conversation with a provider through the gateway.
func (r *rig) converse(t *testing.T, ctx context.Context, host string) *websocket.Conn {
	t.Helper()
	c, _, err := r.socketTo(ctx, host, "/v1/realtime?model=gpt-realtime")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// readUntil reads events up to one that has a text in it.
func readUntil(t *testing.T, ctx context.Context, c *websocket.Conn, text string) string {
	t.Helper()
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("waiting for %s: %v", text, err)
		}
		if strings.Contains(string(b), text) {
			return string(b)
		}
	}
}

const (
	asking          = `{"type":"response.create"}`
	created         = `{"type":"response.created","response":{"id":"r","status":"in_progress","usage":null}}`
	transcriptDelta = `{"type":"response.output_audio_transcript.delta","delta":"one two three"}`
	done            = `{"type":"response.done","response":{"id":"r","status":"completed","usage":{"total_tokens":140,"input_tokens":100,"output_tokens":40,` +
		`"input_token_details":{"text_tokens":20,"audio_tokens":50,"cached_tokens":30},"output_token_details":{"text_tokens":10,"audio_tokens":30}}}}`
	doneCost = 20*realtimeTextIn + 50*realtimeAudioIn + 30*realtimeCached + 10*realtimeTextOut + 30*realtimeAudioOut
)

// In a browser OpenAI's clients offer their key as a subprotocol. It is the caller's key, and
// is neither agreed to nor sent on; whosever it is, it is not on record.
func TestKeyAmongSubprotocols(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offered string
		headers []string
		status  int
	}{
		"ours":           {key, []string{"X-Gateway-Api-Key: "}, 101},
		"a provider's":   {"sk-proj-s3cr3t", nil, 101},
		"nobody's":       {"sk-nobody", []string{"X-Gateway-Api-Key: "}, 401},
		"beside a token": {"sk-nobody", []string{"X-Gateway-Api-Key: ", "Authorization: Bearer " + key}, 101},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			r := newRig(t)
			r.dir.accounts["spoken"] = &credential.Account{
				Slug: "spoken", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": "sk-saved", "custom_host": r.up.URL() + "/v1"},
			}
			h := http.Header{"X-Gateway-Api-Key": {key}, "X-Gateway-Provider": {"@spoken"}}
			for _, line := range c.headers {
				name, value, _ := strings.Cut(line, ": ")
				h.Set(name, value)
			}
			conn, resp, err := websocket.Dial(ctx, r.server.URL+"/v1/realtime?model=gpt-realtime", &websocket.DialOptions{
				HTTPHeader: h, Subprotocols: []string{"openai-insecure-api-key." + c.offered, "realtime"},
			})
			if resp == nil || resp.StatusCode != c.status {
				t.Fatalf("%v %v", resp, err)
			}
			if c.status != 101 {
				return
			}
			if got := conn.Subprotocol(); got != "realtime" {
				t.Errorf("agreed to %q", got)
			}
			_ = conn.Close(websocket.StatusNormalClosure, "")
			seen := r.up.Await(t, "the conversation", func(s []upstream.Seen) bool { return len(s) == 1 })[0]
			if row := r.journal.one(t); strings.Contains(string(row.ClientRequest.Head), c.offered) || seen.Get("Authorization") != "Bearer sk-saved" || strings.Contains(string(seen.Head), c.offered) {
				t.Errorf("on record %s, sent %s", row.ClientRequest.Head, seen.Head)
			}
		})
	}
}

// No spelling of a path opens a conversation for which nothing is held.
func TestConversationsAreMeteredByWhateverPath(t *testing.T) {
	t.Parallel()
	for path, opens := range map[string]bool{"/v1/real%74ime": true, "/v1/v1/realtime": true, "/v1/realtime/": true, "/v1//realtime": true, "/v1/openai/realtime": false, "/v1/x/real%74ime": false} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			r := newRig(t)
			plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
			c, resp, err := r.socketTo(ctx, talker(t, nil, []string{created, transcriptDelta, done}), path+"?model=gpt-realtime")
			if !opens {
				if err == nil || resp == nil || resp.StatusCode != http.StatusNotImplemented {
					t.Errorf("opened: %v %v", resp, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Write(ctx, websocket.MessageText, []byte(asking)); err != nil {
				t.Fatal(err)
			}
			readUntil(t, ctx, c, "response.done")
			if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Error(err)
			}
			if row, s := r.journal.one(t), r.limiter.State(time.Now(), &plan.Budgets[0]); row.Spend.Cost != doneCost || s.Used != doneCost {
				t.Errorf("cost %d, used %d", row.Spend.Cost, s.Used)
			}
		})
	}
}

// Each response of a conversation has its line, reserved before the provider is asked and
// closed with the provider's count; the record has the sum.
func TestConversationIsBilledByResponse(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
	c := r.converse(t, ctx, talker(t, nil, []string{created, transcriptDelta, done}, []string{created, done}))
	for n := range 2 {
		if err := c.Write(ctx, websocket.MessageText, []byte(asking)); err != nil {
			t.Fatal(err)
		}
		readUntil(t, ctx, c, "response.done")
		if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != int64(n+1)*doneCost {
			t.Errorf("behind response %d: %+v", n, s)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	row, lines := r.journal.one(t), r.journal.ledger()
	if row.Outcome != record.OK || row.Spend.State != "settled" || row.Spend.Cost != 2*doneCost || row.Usage.InputAudioTokens != 100 || row.Usage.TotalTokens != 280 {
		t.Errorf("%s: %+v, %+v", row.Outcome, row.Spend, row.Usage)
	}
	if !strings.Contains(row.Spend.Terms, `"audio_output"`) || !strings.Contains(row.Spend.Terms, `"units":60`) {
		t.Errorf("terms %s", row.Spend.Terms)
	}
	if len(lines) != 4 || lines[0].ID != lines[1].ID || lines[0].ID == lines[2].ID || lines[2].State != ledger.Reserved || lines[3].Amount != doneCost || lines[3].RequestID != lines[0].RequestID {
		t.Errorf("ledger: %+v", lines)
	}
}

// A response that no budget has room for is not asked for: the caller is told in an event,
// and the conversation is closed.
func TestConversationEndsAtItsBudget(t *testing.T) {
	t.Parallel()
	for name, opening := range map[string][]string{"the caller asks": nil, "the provider begins by itself": {created}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			r := newRig(t)
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}})
			c := r.converse(t, ctx, talker(t, opening, []string{created, done}))
			if err := c.Write(ctx, websocket.MessageText, []byte(asking)); err != nil {
				t.Fatal(err)
			}
			if e := readUntil(t, ctx, c, `"type":"error"`); !strings.Contains(e, "api_key_exhaust_error") {
				t.Error(e)
			}
			_, _, err := c.Read(ctx)
			if ce := (websocket.CloseError{}); !errors.As(err, &ce) || ce.Code != websocket.StatusPolicyViolation {
				t.Errorf("closed by %v", err)
			}
			if row := r.journal.one(t); row.Outcome != record.Refused || row.Spend.Cost != 0 || len(r.journal.ledger()) != 0 {
				t.Errorf("%s: %+v, %d lines", row.Outcome, row.Spend, len(r.journal.ledger()))
			}
		})
	}
}

// A caller that leaves in the middle of a response pays for the input of the one before
// and for what was said.
func TestConversationBreaksOff(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	c := r.converse(t, ctx, talker(t, nil, []string{created, done}, []string{created, transcriptDelta}))
	for _, until := range []string{"response.done", "one two three"} {
		if err := c.Write(ctx, websocket.MessageText, []byte(asking)); err != nil {
			t.Fatal(err)
		}
		readUntil(t, ctx, c, until)
	}
	if err := c.CloseNow(); err != nil {
		t.Error(err)
	}
	row, lines := r.journal.one(t), r.journal.ledger()
	rest := row.Spend.Cost - doneCost
	if row.Spend.State != "estimated" || rest < 100*realtimeTextIn+3*realtimeTextOut || rest > 100*realtimeTextIn+6*realtimeTextOut || len(lines) != 4 || lines[3].State != ledger.Estimated {
		t.Errorf("%s: %+v, %+v", row.Outcome, row.Spend, lines)
	}
}

// A response that was asked for and never began costs nothing.
func TestResponseThatNeverBegan(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	r := newRig(t)
	c := r.converse(t, ctx, talker(t, nil, []string{`{"type":"error","error":{"message":"no"}}`}))
	if err := c.Write(ctx, websocket.MessageText, []byte(asking)); err != nil {
		t.Fatal(err)
	}
	readUntil(t, ctx, c, "error")
	if err := c.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	if row, lines := r.journal.one(t), r.journal.ledger(); row.Spend.Cost != 0 || len(lines) != 2 || lines[1].State != ledger.Released {
		t.Errorf("%+v, %+v", row.Spend, lines)
	}
}

// Both sides of a conversation that the gateway ends are told that it goes away, one that
// does not answer holds it up for a moment only, and it is on record as the gateway's doing.
func TestStopEndsConversations(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprintf("the caller answers: %v", answers), func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			r, upstreamClosed := newRig(t), make(chan error, 1)
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				c, err := websocket.Accept(w, req, nil)
				if err != nil {
					return
				}
				defer c.CloseNow()
				_ = c.Write(req.Context(), websocket.MessageText, []byte(created))
				_, _, err = c.Read(req.Context())
				upstreamClosed <- err
			}))
			t.Cleanup(upstream.Close)
			calls, cut := context.WithCancel(t.Context())
			defer cut()
			r.server.URL = serveUnder(t, calls, nethttp.New(r.gateway))
			c := r.converse(t, ctx, upstream.URL)
			readUntil(t, ctx, c, "response.created")
			r.gateway.Stop()
			cut()
			if answers {
				_, _, err := c.Read(ctx)
				if websocket.CloseStatus(err) != websocket.StatusGoingAway {
					t.Errorf("the caller is told %v", err)
				}
			}
			if err := <-upstreamClosed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("the provider is told %v", err)
			}
			if row := r.journal.one(t); row.Outcome != record.Interrupted {
				t.Errorf("on record as %s: %s", row.Outcome, row.Error)
			}
		})
	}
}

// silent is a provider that takes connections and never says a word.
func silent(t *testing.T) (url string, called <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	took := make(chan struct{}, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		took <- struct{}{}
		<-t.Context().Done()
	}()
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String(), took
}

// A provider that never answers a handshake is waited for as long as for any other answer.
func TestSilentHandshakes(t *testing.T) {
	t.Parallel()
	const path = "/v1/realtime?model=gpt-realtime"
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		r := newRig(t)
		host, _ := silent(t)
		_, resp, err := r.socketTo(ctx, host, path, "X-Gateway-Request-Timeout: 50")
		if err == nil || resp == nil || resp.StatusCode != http.StatusRequestTimeout {
			t.Fatalf("answered %v %v", resp, err)
		}
		if row := r.journal.one(t); row.Outcome != record.Timeout {
			t.Errorf("on record as %s: %s", row.Outcome, row.Error)
		}
	})
	t.Run("the caller leaves", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		r := newRig(t)
		host, called := silent(t)
		go func() {
			<-called
			cancel()
		}()
		if _, _, err := r.socketTo(ctx, host, path); err == nil {
			t.Fatal("opened")
		}
		if row := r.journal.one(t); row.Outcome != record.ClientGone {
			t.Errorf("on record as %s: %s", row.Outcome, row.Error)
		}
	})
}

// A provider that takes no more events is not waited for without end: nobody would notice
// that the caller has left meanwhile.
func TestProviderThatTakesNoEvents(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		<-t.Context().Done()
	}))
	t.Cleanup(deaf.Close)
	r := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = 200 * time.Millisecond })
	c := r.converse(t, ctx, deaf.URL)
	event := []byte(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 1<<20) + `"}`)
	for { // until the gateway gives up, long after the system takes no more on the way
		if err := c.Write(ctx, websocket.MessageText, event); err != nil {
			break
		}
	}
	if row := r.journal.one(t); row.Outcome != record.Truncated || ctx.Err() != nil {
		t.Errorf("on record as %s: %s", row.Outcome, row.Error)
	}
}

// serveUnder serves requests whose contexts end with ctx.
func serveUnder(t *testing.T, ctx context.Context, h http.Handler) (url string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.URL
}
