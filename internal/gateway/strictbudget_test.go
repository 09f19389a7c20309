package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/gateway"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// A stream that is given up before its first event, relayed or translated, counts its input, and
// its maximum where the model may have reasoned; whatever is done with streams that have begun.
func TestStreamGivenUpBeforeItsFirstEvent(t *testing.T) {
	t.Parallel()
	usual := func(s *gateway.Settings) { s.IdleTimeout = time.Minute }
	for policy, set := range map[string]func(*gateway.Settings){"by default": usual, "with streams read on": drains} {
		for name, s := range surfaces {
			for _, head := range []bool{false, true} {
				for _, end := range []string{"the caller leaves", "the time is over"} {
					if head && end == "the time is over" {
						continue // that time is until the head
					}
					for model, unknown := range map[string]bool{"openai/gpt-4o-mini": false, "openai/o3": true} {
						t.Run(fmt.Sprintf("%s, %s, head %t, %s, %s", policy, name, head, end, model), func(t *testing.T) {
							t.Parallel()
							r := newRig(t, set)
							plan := r.tokenBudget()
							up := newWordless(t, head)
							body := strings.Replace(strings.Replace(s.body, "m-1", model, 1), "{", `{"stream":true,`, 1)
							headers := []string{"x-gateway-provider: deepinfra", "authorization: Bearer k", "x-gateway-custom-host: " + up.URL + "/v1"}
							if model == "openai/o3" || name == "responses" {
								headers[0] = "x-gateway-provider: openrouter"
							}
							if end == "the time is over" {
								r.call("POST", s.path, body, append(headers, "x-gateway-request-timeout: 50")...)
							} else {
								r.leaver(t, s.path, body, headers, up.called)
							}
							<-up.gone
							used := r.closedAt(t, plan, 1)
							lines := r.journal.ledger()
							held := lines[0].Charges[0].Units
							switch state := lines[1].State; {
							case unknown && (state != ledger.Unknown || used != held):
								t.Errorf("counted %d of %d, %s", used, held, state)
							case !unknown && (state != ledger.Estimated || used < 2 || used > 30):
								t.Errorf("counted %d of %d, %s", used, held, state)
							}
							if n := r.gateway.Abandoned().Streams(); n != 0 {
								t.Errorf("%d streams are read on", n)
							}
						})
					}
				}
			}
		}
	}
}

// wordless is a provider of streams without events.
type wordless struct {
	*httptest.Server
	called, gone chan struct{} // one for each call, and for each that was cancelled
}

func newWordless(t *testing.T, head bool) *wordless {
	t.Helper()
	s := &wordless{called: make(chan struct{}, 16), gone: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if head {
			w.Header().Set("content-type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
		}
		s.called <- struct{}{}
		<-r.Context().Done()
		s.gone <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return s
}

// metered is a provider that generates the longest answer that each call allows, and counts what
// it generated. It goes on with a whole answer whether a gateway waits for it or not; a stream
// that is cancelled ends.
type metered struct {
	*httptest.Server
	gate chan struct{} // closed: answers that are given up go on

	mu        sync.Mutex // guards what follows
	calls     int
	streams   int   // that go on
	generated int64 // tokens
}

// The tokens of one call of a metered provider, its longest answer among them.
const (
	meteredInput  = 4
	meteredOutput = 64
)

func newMetered(t *testing.T, p speaker, stream bool, end string) *metered {
	t.Helper()
	m := &metered{gate: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		first, rest := countedResponse(p, stream)
		if stream {
			w.Header().Set("content-type", "text/event-stream")
			m.stream(w, r, first, rest, end)
			return
		}
		m.generate(1, meteredInput)
		w.Header().Set("content-type", "application/json")
		if end == "the caller leaves" || end == "the time is over" {
			<-m.gate
		}
		m.generate(0, meteredOutput)
		_, _ = io.WriteString(w, first)
		if end == "cut" {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, rest)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *metered) stream(w http.ResponseWriter, r *http.Request, first, rest, end string) {
	m.alive(1)
	defer m.alive(-1)
	m.generate(1, meteredInput)
	cancelled := func() bool {
		select {
		case <-m.gate:
			return false
		case <-r.Context().Done():
			return true
		}
	}
	if end == "the time is over" && cancelled() {
		return
	}
	_, _ = io.WriteString(w, first)
	_ = http.NewResponseController(w).Flush()
	switch {
	case end == "cut":
		m.generate(0, 1)
		panic(http.ErrAbortHandler)
	case end == "the caller leaves" && cancelled():
		m.generate(0, 1)
		return
	}
	m.generate(0, meteredOutput)
	_, _ = io.WriteString(w, rest)
}

// alive counts the streams that go on, and returns how many there are.
func (m *metered) alive(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams += n
	return m.streams
}

func (m *metered) generate(calls int, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls += calls
	m.generated += tokens
}

func (m *metered) total() (calls int, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.generated
}

// countedResponse is an answer of the longest kind, in two parts.
func countedResponse(p speaker, stream bool) (first, rest string) {
	for _, names := range [][2]string{{`"completion_tokens":2`, `"completion_tokens":64`}, {`"output_tokens":2`, `"output_tokens":64`}, {`"candidatesTokenCount":2`, `"candidatesTokenCount":64`}, {`"total_tokens":6`, `"total_tokens":68`}, {`"totalTokenCount":6`, `"totalTokenCount":68`}} {
		p.response = strings.ReplaceAll(p.response, names[0], names[1])
		list := make([]string, len(p.events))
		for i, e := range p.events {
			list[i] = strings.ReplaceAll(e, names[0], names[1])
		}
		p.events = list
	}
	if !stream {
		return p.response[:len(p.response)/2], p.response[len(p.response)/2:]
	}
	n := len(p.events) / 2
	return strings.Join(p.events[:n], ""), strings.Join(p.events[n:], "")
}

// What providers generate for a key, by calls in parallel that are answered, read on, cut and
// given up, is never more than a strict budget that fits some of them.
func TestStrictBudgetIsNotPassed(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, p := range speakers {
			for _, stream := range []bool{false, true} {
				for _, end := range []string{"answered", "the caller leaves", "the time is over", "cut"} {
					for policy, set := range map[string]func(*gateway.Settings){"default": func(*gateway.Settings) {}, "drain": drains} {
						if policy == "drain" && !stream { // it is about streams
							continue
						}
						t.Run(fmt.Sprintf("%s to %s, streamed %t, %s, %s", name, p.id, stream, end, policy), func(t *testing.T) {
							t.Parallel()
							(&spenders{s: s, p: p, stream: stream, end: end, set: set}).run(t)
						})
					}
				}
			}
		}
	}
}

// spenders are calls in parallel whose answers end in one way.
type spenders struct {
	s      surface
	p      speaker
	stream bool
	end    string
	set    func(*gateway.Settings)
}

// fitting is how many calls a budget fits at once.
const fitting = 3

func (c *spenders) body() string {
	if c.stream {
		return strings.Replace(c.s.body, "{", `{"stream":true,`, 1)
	}
	return c.s.body
}

// maximum is what is reserved for one call.
func (c *spenders) maximum(t *testing.T) int64 {
	t.Helper()
	r, up := newRig(t), newMetered(t, c.p, c.stream, "answered")
	plan := r.tokenBudget()
	r.call("POST", c.s.path, c.body(), c.headers(up)...)
	r.closedAt(t, plan, 1)
	return r.journal.ledger()[0].Charges[0].Units
}

func (c *spenders) headers(up *metered) []string {
	list := []string{"x-gateway-provider: " + c.p.id, "authorization: Bearer k", "x-gateway-custom-host: " + up.URL + c.p.base}
	if c.end == "the time is over" {
		list = append(list, "x-gateway-request-timeout: 50")
	}
	return list
}

func (c *spenders) run(t *testing.T) {
	t.Helper()
	r := newRig(t, c.set, func(s *gateway.Settings) { s.IdleTimeout = time.Minute })
	limit := fitting * c.maximum(t)
	up := newMetered(t, c.p, c.stream, c.end)
	open := sync.OnceFunc(func() { close(up.gate) })
	t.Cleanup(open)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, float64(limit))}})
	disconnect := make(chan struct{})
	for round := range 2 {
		var wg sync.WaitGroup
		for range 2 * fitting {
			wg.Go(func() {
				if c.end == "the caller leaves" {
					r.leaver(t, c.s.path, c.body(), c.headers(up), disconnect)
					return
				}
				r.call("POST", c.s.path, c.body(), c.headers(up)...)
			})
		}
		if round == 0 {
			if c.end != "the time is over" { // which may be before a call reaches the provider
				until(t, "calls to reach the provider", func() bool { calls, _ := up.total(); return calls >= fitting })
			}
			close(disconnect)
		}
		wg.Wait()
		until(t, "cancelled streams to end", func() bool { return up.alive(0) == r.gateway.Abandoned().Streams() })
		open()
		until(t, "all to end", func() bool {
			return r.gateway.Abandoned().Responses()+r.gateway.Abandoned().Streams() == 0 && r.gateway.Open() == 0
		})
	}
	until(t, "nothing to be held", func() bool { return r.limiter.State(time.Now(), &plan.Budgets[0]).Held == 0 })
	used := r.limiter.State(time.Now(), &plan.Budgets[0]).Used
	if calls, tokens := up.total(); tokens > limit || tokens > used || used > limit {
		t.Errorf("%d calls generated %d tokens, %d are counted, of a budget of %d", calls, tokens, used, limit)
	}
}
