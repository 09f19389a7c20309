package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/gateway/disconnect"
	"sluice/internal/limits/quota"
)

// drains has streams read on within bounds that no test comes to by itself.
func drains(s *gateway.Settings) {
	s.Abandoned = disconnect.Limits{Max: 8, Bytes: 1 << 20, Time: time.Minute}
	s.IdleTimeout = time.Minute
}

// gated is a provider whose streams go on when the gate opens.
type gated struct {
	*httptest.Server
	gate      chan struct{}
	cancelled chan struct{} // one for each call that its caller cancelled
}

func newGated(t *testing.T, before, after string) *gated {
	t.Helper()
	s := &gated{gate: make(chan struct{}), cancelled: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("content-type", "text/event-stream")
		_, _ = io.WriteString(w, before)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.gate:
			_, _ = io.WriteString(w, after)
		case <-r.Context().Done():
			s.cancelled <- struct{}{}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	firstChunk = `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"one two three"}}]}` + "\n\n"
	lastChunk  = `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":" four"},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":333,"total_tokens":342}}` + "\n\ndata: [DONE]\n\n"
	streamed = `{"model":"gpt-4o-mini","stream":true,"max_tokens":400,"messages":[{"role":"user","content":"Hello there"}]}`
	counted  = 9*miniInput + 333*miniOutput
)

// visitor calls OpenAI, reads the beginning of the answer, and leaves.
func (r *rig) visitor(t *testing.T, host, path, body string) {
	t.Helper()
	r.visit(t, speaker{id: "openai", base: "/v1"}, host, path, body)
}

// visit does so with any provider.
func (r *rig) visit(t *testing.T, p speaker, host, path, body string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", r.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"x-gateway-api-key: " + key, "content-type: application/json", "x-gateway-provider: " + p.id, "authorization: Bearer k", "x-gateway-custom-host: " + host + p.base} {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp.StatusCode, err)
	}
}

// until waits for something that other goroutines bring about. The limit is long, because
// tests in parallel can take all processors for many seconds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
	t.Fatalf("waited for %s in vain", what)
}

// A stream whose caller left is read on until the provider says what it used; meanwhile
// the line is open and budgets are held, afterwards both are settled with the provider's
// count.
func TestAbandonedStreamIsReadOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path string }{
		{"as it comes", "/v1/chat/completions"},
		{"translated", "/v1/messages"},
		{"passed through", "/v1/other/completions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, up := newRig(t, drains), newGated(t, firstChunk, lastChunk)
			plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}})
			r.visitor(t, up.URL, c.path, streamed)
			until(t, "the stream to be read on", func() bool { return r.gateway.Abandoned().Streams() == 1 })
			if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held == 0 || len(r.journal.ledger()) != 1 || len(r.journal.all()) != 0 {
				t.Errorf("while it is read on: %+v, %d lines, %d records", s, len(r.journal.ledger()), len(r.journal.all()))
			}
			close(up.gate)
			row := r.journal.one(t)
			if row.Outcome != record.ClientGone || row.Spend.State != "settled" || row.Spend.Cost != counted || row.Usage.OutputTokens != 333 {
				t.Errorf("%s: %+v, usage %+v", row.Outcome, row.Spend, row.Usage)
			}
			until(t, "the place to be given back", func() bool { return r.gateway.Abandoned().Streams() == 0 && r.gateway.Open() == 0 })
			if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != counted {
				t.Errorf("afterwards: %+v", s)
			}
			if lines := r.journal.ledger(); len(lines) != 2 || lines[1].Amount != counted {
				t.Errorf("ledger: %+v", lines)
			}
		})
	}
}

// What is read of a stream without a reader has bounds: in time, in bytes, and in the
// number of streams. A gateway that stops ends all. Each is on record once, estimated.
func TestReadingOnIsBounded(t *testing.T) {
	t.Parallel()
	set := func(a disconnect.Limits) func(*gateway.Settings) {
		return func(s *gateway.Settings) { drains(s); s.Abandoned = a }
	}
	estimated := func(t *testing.T, r *rig, up *gated) {
		t.Helper()
		row := r.journal.one(t)
		if s := row.Spend; row.Outcome != record.ClientGone || s.State != "estimated" || s.Cost < 8*miniInput+3*miniOutput || s.Cost > 20*miniInput+6*miniOutput {
			t.Errorf("%s: %+v", row.Outcome, s)
		}
		<-up.cancelled
		until(t, "the place to be given back", func() bool { return r.gateway.Abandoned().Streams() == 0 && r.gateway.Open() == 0 })
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		r, up := newRig(t, set(disconnect.Limits{Max: 1, Bytes: 1 << 20, Time: time.Millisecond})), newGated(t, firstChunk, "")
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		estimated(t, r, up)
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, set(disconnect.Limits{Max: 1, Bytes: 100, Time: time.Minute}))
		up := newGated(t, firstChunk, strings.Repeat(": nothing\n\n", 100)+lastChunk)
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		until(t, "the stream to be read on", func() bool { return r.gateway.Abandoned().Streams() == 1 })
		close(up.gate)
		if row := r.journal.one(t); row.Outcome != record.ClientGone {
			t.Errorf("on record as %s", row.Outcome)
		}
		until(t, "the place to be given back", func() bool { return r.gateway.Abandoned().Streams() == 0 })
	})
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		r, up := newRig(t, set(disconnect.Limits{Max: 1, Bytes: 1 << 20, Time: time.Minute})), newGated(t, firstChunk, "")
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		until(t, "the stream to be read on", func() bool { return r.gateway.Abandoned().Streams() == 1 })
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		<-up.cancelled
		if r.gateway.Abandoned().Streams() != 1 {
			t.Error("the first stream is not read on any more")
		}
		r.gateway.Abandoned().Cancel()
		<-up.cancelled
	})
	t.Run("a gateway that stops", func(t *testing.T) {
		t.Parallel()
		r, up := newRig(t, drains), newGated(t, firstChunk, "")
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		until(t, "the stream to be read on", func() bool { return r.gateway.Abandoned().Streams() == 1 })
		r.gateway.Abandoned().Cancel()
		estimated(t, r, up)
	})
	t.Run("after it stopped", func(t *testing.T) {
		t.Parallel()
		r, up := newRig(t, drains), newGated(t, firstChunk, "")
		r.gateway.Abandoned().Cancel()
		r.visitor(t, up.URL, "/v1/chat/completions", streamed)
		estimated(t, r, up)
	})
}

// A stream that breaks while it is read on is an estimate, as one that breaks under its
// caller's eyes.
func TestAbandonedStreamBreaks(t *testing.T) {
	t.Parallel()
	broken := `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n"
	for name, after := range map[string]string{"cut": "data: {", "an error in it": broken} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, up := newRig(t, drains), newGated(t, firstChunk, after)
			r.visitor(t, up.URL, "/v1/chat/completions", streamed)
			until(t, "the stream to be read on", func() bool { return r.gateway.Abandoned().Streams() == 1 })
			close(up.gate)
			if row := r.journal.one(t); row.Outcome != record.ClientGone || row.Spend.State != "estimated" {
				t.Errorf("%s: %+v", row.Outcome, row.Spend)
			}
		})
	}
}

// A call whose stream has not begun is cancelled when its caller leaves, whatever the
// settings.
func TestNothingToReadOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, drains)
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, called := make(chan error, 1), make(chan struct{})
	go func() { // reads, and says nothing
		c, err := up.Accept()
		if err != nil {
			ended <- err
			return
		}
		defer c.Close()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			close(called)
		}
		_, err = io.Copy(io.Discard, c)
		ended <- err
	}()
	t.Cleanup(func() { _ = up.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", r.server.URL+"/v1/chat/completions", strings.NewReader(streamed))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"x-gateway-api-key: " + key, "content-type: application/json", "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: http://" + up.Addr().String() + "/v1"} {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	go func() { <-called; cancel() }()
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("an answer came")
	}
	<-ended
	if row := r.journal.one(t); row.Outcome != record.ClientGone || row.Spend.State != "estimated" {
		t.Errorf("%s: %+v", row.Outcome, row.Spend)
	}
}

// A caller that leaves in mid-stream pays for what came through, although the provider
// never said what it was.
func TestWhatCameThroughCounts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/other/completions"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r, up := newRig(t, func(s *gateway.Settings) { s.IdleTimeout = time.Minute }), newGated(t, firstChunk, "")
			r.visitor(t, up.URL, path, streamed)
			<-up.cancelled
			row := r.journal.one(t)
			if s := row.Spend; row.Outcome != record.ClientGone || s.State != "estimated" || path != "/v1/other/completions" && row.Usage.OutputTokens < 3 {
				t.Errorf("%s: %+v, usage %+v", row.Outcome, s, row.Usage)
			}
		})
	}
}
