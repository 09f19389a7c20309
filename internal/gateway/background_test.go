package gateway_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// worker is a provider that works on background responses. What it says of the one
// that it has may change.
type worker struct {
	*httptest.Server
	mu    sync.Mutex // guards what follows
	state string     // the members of the response behind its id
	code  int        // of answers to GET; 0 is 200
	polls int
	first string // the answer to POST is encoded or a stream, if it says so
}

const (
	queued         = `"status":"queued","model":"gpt-4o-mini","output":[],"usage":null`
	completed      = `"status":"completed","model":"gpt-4o-mini","output":[{"type":"message","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":9,"output_tokens":333,"total_tokens":342}`
	cancelled      = `"status":"cancelled","model":"gpt-4o-mini","output":[{"type":"message","content":[{"type":"output_text","text":"one two three"}]}],"usage":null`
	broken         = `"status":"failed","model":"gpt-4o-mini","output":[],"usage":null,"error":{"code":"server_error","message":"no luck"}`
	backgroundBody = `{"model":"gpt-4o-mini","background":true,"max_output_tokens":400,"input":"Hello there"}`
)

func newWorker(t *testing.T) *worker {
	w := &worker{state: queued}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

// ServeHTTP implements http.Handler.
func (w *worker) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Header().Set("content-type", "application/json")
	body := `{"id":"resp_a","object":"response","background":true,` + w.state + `}`
	switch {
	case r.Header.Get("authorization") != "Bearer k":
		out.WriteHeader(401)
	case r.Method == "DELETE":
		w.code = 404
		body = `{"id":"resp_a","object":"response","deleted":true}`
	case r.Method == "GET":
		w.polls++
		if w.code != 0 {
			out.WriteHeader(w.code)
		}
	case w.first == "gzip":
		out.Header().Set("content-encoding", "gzip")
		z := gzip.NewWriter(out)
		defer z.Close()
		_, _ = io.WriteString(z, body)
		return
	case w.first == "stream":
		out.Header().Set("content-type", "text/event-stream")
		body = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":" + body + "}\n\n"
	}
	_, _ = io.WriteString(out, body)
}

func (w *worker) becomes(state string, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state, w.code = state, code
}

func (w *worker) pollCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.polls
}

// follows has looks made often.
func follows(s *gateway.Settings) {
	s.Background.Pause, s.Background.MaxPause = time.Millisecond, 5*time.Millisecond
}

// patient has no look made that nobody asks for.
func patient(s *gateway.Settings) { s.Background.Pause = time.Hour }

// following runs the part of a gateway that follows responses; stop ends it and waits.
func (r *rig) following(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.gateway.Background().Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func hostHeaders(host string) []string {
	return []string{"x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: " + host + "/v1"}
}

// A response in the background is held for until it has ended, and then costs what the
// provider says; where nobody can hear that, it costs its bound.
func TestBackgroundResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		ends    func(r *rig, w *worker, stop func())
		outcome record.Outcome
		state   ledger.State
		cost    int64 // below 0: the bound
	}{
		{"told", func(_ *rig, w *worker, _ func()) { w.becomes(completed, 0) }, record.OK, ledger.Settled, counted},
		{"after a failure of the provider", func(_ *rig, w *worker, _ func()) {
			w.becomes(queued, 503)
			for n := w.pollCount(); w.pollCount() < n+10; {
				time.Sleep(time.Millisecond)
			}
			w.becomes(completed, 0)
		}, record.OK, ledger.Settled, counted},
		{"incomplete", func(_ *rig, w *worker, _ func()) {
			w.becomes(strings.Replace(completed, "completed", "incomplete", 1), 0)
		}, record.OK, ledger.Settled, counted},
		{"failed", func(_ *rig, w *worker, _ func()) { w.becomes(broken, 0) }, record.Failed, ledger.Released, 0},
		{"forgotten by the provider", func(_ *rig, w *worker, _ func()) { w.becomes(queued, 404) }, record.Unreachable, ledger.Unknown, -1},
		{"the gateway stops", func(_ *rig, _ *worker, stop func()) { stop() }, record.Interrupted, ledger.Unknown, -1},
		{"ended as the gateway stops", func(_ *rig, w *worker, stop func()) { w.becomes(completed, 0); stop() }, record.OK, ledger.Settled, counted},
	} {
		for _, first := range []string{"", "gzip", "stream"} {
			t.Run(strings.TrimSpace(c.name+" "+first), func(t *testing.T) {
				t.Parallel()
				r, w := newRig(t, follows), newWorker(t)
				stop := r.following(t)
				plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}})
				w.first = first
				body := backgroundBody
				if first == "stream" {
					body = strings.Replace(backgroundBody, "{", `{"stream":true,`, 1)
				}
				if a := r.call("POST", "/v1/responses", body, hostHeaders(w.URL)...); a.StatusCode != 200 {
					t.Fatalf("%d %s", a.StatusCode, a.Text)
				}
				until(t, "a look", func() bool { return w.pollCount() > 2 })
				s, lines := r.limiter.State(time.Now(), &plan.Budgets[0]), r.journal.ledger()
				if s.Held == 0 || s.Used != 0 || r.gateway.Background().Len() != 1 {
					t.Errorf("meanwhile: %+v, %d are followed", s, r.gateway.Background().Len())
				}
				if call := r.journal.one(t); call.Spend.State != "released" || call.Spend.Cost != 0 || call.Endpoint != llm.CreateModelResponse || len(lines) != 3 {
					t.Errorf("the call: %+v, %d lines", call.Spend, len(lines))
				}
				c.ends(r, w, stop)
				until(t, "the end", func() bool { return r.gateway.Background().Len() == 0 })
				rows := r.journal.all()
				if len(rows) != 2 {
					t.Fatalf("%d records", len(rows))
				}
				call, work := rows[0], rows[1]
				cost := c.cost
				if cost < 0 {
					cost = work.Spend.MaxCost
				}
				if work.Outcome != c.outcome || work.Spend.State != c.state.String() || work.Spend.Cost != cost || work.Spend.MaxCost == 0 {
					t.Errorf("%s (%s): %+v", work.Outcome, work.Error, work.Spend)
				}
				if work.RequestID != call.RequestID || work.ID == call.ID || work.Number != 1 || work.Endpoint != llm.CreateModelResponse || work.Model != "gpt-4o-mini" {
					t.Errorf("the work: %s of %s, number %d, %s of %s", work.ID, work.RequestID, work.Number, work.Endpoint, work.Model)
				}
				if isDone := c.state == ledger.Settled; isDone != (work.Usage.OutputTokens == 333) || isDone != strings.Contains(string(work.Response.Bytes), `"Hi."`) {
					t.Errorf("usage %+v, body %s", work.Usage, work.Response.Bytes)
				}
				if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != cost {
					t.Errorf("afterwards: %+v", s)
				}
				if lines := r.journal.ledger(); len(lines) != 4 || lines[3].Amount != cost || lines[3].ID != work.ID {
					t.Errorf("ledger: %+v", lines)
				}
			})
		}
	}
}

// A response that was cancelled without a count costs its input, and what came until then.
func TestCancelledBackgroundResponse(t *testing.T) {
	t.Parallel()
	r, w := newRig(t, follows), newWorker(t)
	r.following(t)
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
	w.becomes(cancelled, 0)
	until(t, "the end", func() bool { return len(r.journal.all()) == 2 })
	if s := r.journal.all()[1].Spend; s.State != "estimated" || s.Cost < 2*miniInput+3*miniOutput || s.Cost > 20*miniInput+6*miniOutput {
		t.Errorf("%+v", s)
	}
}

// Cancelling is free: the response that is cancelled is billed where it was asked for.
func TestCancellingIsFree(t *testing.T) {
	t.Parallel()
	r, w := newRig(t), newWorker(t)
	w.becomes(completed, 0)
	r.call("POST", "/v1/responses/resp_a/cancel", "", hostHeaders(w.URL)...)
	if row := r.journal.one(t); row.Status != 200 || row.Spend.State != "" || len(r.journal.ledger()) != 0 {
		t.Errorf("%d %+v", row.Status, row.Spend)
	}
	r = newRig(t)
	r.call("POST", "/v1/responses/resp_a;x/cancel", `{"model":"gpt-4o-mini"}`, hostHeaders(w.URL)...)
	if row := r.journal.one(t); row.Spend.State == "" {
		t.Errorf("another path is free: %+v", row.Spend)
	}
}

// What a caller hears of the end of a response, the gateway hears too, before it is deleted.
func TestBackgroundResponseIsReadByItsCaller(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			r, w := newRig(t, patient), newWorker(t)
			r.following(t)
			r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
			if r.call("GET", "/v1/responses/resp_a", "", hostHeaders(w.URL)...); r.gateway.Background().Len() != 1 {
				t.Fatal("it is not followed")
			}
			w.becomes(completed, 0)
			r.call(method, "/v1/responses/resp_a", "", hostHeaders(w.URL)...)
			until(t, "the end", func() bool { return r.gateway.Background().Len() == 0 })
			for _, row := range r.journal.all() {
				if row.Number == 1 && (row.Spend.State != "settled" || row.Spend.Cost != counted) {
					t.Errorf("%+v", row.Spend)
				}
			}
		})
	}
}

// What cannot be followed counts with its bound as soon as it is answered.
func TestBackgroundResponseThatIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gateway.Settings){
		"none is":    func(s *gateway.Settings) { s.Background.Responses = 0 },
		"it is late": func(s *gateway.Settings) { follows(s); s.Background.Time = time.Nanosecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := newRig(t, change), newWorker(t)
			r.following(t)
			r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
			until(t, "the end", func() bool { return r.gateway.Background().Len() == 0 })
			rows := r.journal.all()
			last := rows[len(rows)-1]
			if s := last.Spend; s.State != "unknown" || s.Cost == 0 || s.Cost != s.MaxCost || last.Tokens() != 0 {
				t.Errorf("%+v, %d tokens", s, last.Tokens())
			}
		})
	}
}

// Responses whose gateway has stopped to follow any are closed by those who answer them.
func TestBackgroundResponseAtTheEnd(t *testing.T) {
	t.Parallel()
	r, w := newRig(t, follows), newWorker(t)
	r.following(t)()
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
	if rows := r.journal.all(); len(rows) != 1 || rows[0].Spend.State != "unknown" {
		t.Errorf("%d records", len(rows))
	}
}

// Where the ledger takes no line for the work, the call counts with its bound, once.
func TestBackgroundResponseThatTheLedgerRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, follows)
	r.following(t)
	up := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		r.journal.refuse(errors.New("the disk is full"))
		out.Header().Set("content-type", "application/json")
		_, _ = io.WriteString(out, `{"id":"resp_a","object":"response",`+queued+`}`)
	}))
	t.Cleanup(up.Close)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1)}})
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(up.URL)...)
	row := r.journal.one(t)
	if s := row.Spend; s.State != "unknown" || s.Cost == 0 || s.Cost != s.MaxCost {
		t.Errorf("%+v", s)
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != row.Spend.MaxCost {
		t.Errorf("%+v", s)
	}
}

// A provider that cannot be reached any more has the call all the same: it counts with its
// bound.
func TestBackgroundResponseOfAProviderThatIsGone(t *testing.T) {
	t.Parallel()
	r, w := newRig(t, patient), newWorker(t)
	stop := r.following(t)
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
	w.Close()
	stop()
	if rows := r.journal.all(); len(rows) != 2 || rows[1].Spend.State != "unknown" || rows[1].Spend.Cost != rows[1].Spend.MaxCost {
		t.Errorf("%d records, %+v", len(rows), rows[len(rows)-1].Spend)
	}
}

// A provider that does not answer keeps no gateway from stopping.
func TestBackgroundResponseOfAProviderThatHangs(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 100)
	up := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); r.Method == "GET" {
			hangs <- struct{}{}
			<-r.Context().Done()
			return
		}
		out.Header().Set("content-type", "application/json")
		_, _ = io.WriteString(out, `{"id":"resp_a","object":"response",`+queued+`}`)
	}))
	t.Cleanup(up.Close)
	r := newRig(t, follows)
	stop := r.following(t)
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(up.URL)...)
	<-hangs
	stop()
	if rows := r.journal.all(); len(rows) != 2 || rows[1].Spend.State != "unknown" || rows[1].Outcome != record.Interrupted {
		t.Errorf("%d records", len(rows))
	}
}

// The work is no fallback, and no look at it the time in which a provider answers.
func TestBackgroundResponseInFigures(t *testing.T) {
	t.Parallel()
	r, w := newRig(t, follows), newWorker(t)
	r.following(t)
	r.call("POST", "/v1/responses", backgroundBody, hostHeaders(w.URL)...)
	w.becomes(completed, 0)
	until(t, "the end", func() bool { return len(r.journal.all()) == 2 && r.gateway.Background().Len() == 0 })
	if work := r.journal.all()[1]; work.FirstByte != 0 || work.Duration == 0 {
		t.Errorf("first byte after %s of %s", work.FirstByte, work.Duration)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.metrics.Collectors()...)
	if n, err := testutil.GatherAndCount(registry, "sluice_fallbacks_total"); n != 0 || err != nil {
		t.Errorf("%d fallbacks, %v", n, err)
	}
	if n, err := testutil.GatherAndCount(registry, "sluice_first_byte_seconds"); n != 1 || err != nil {
		t.Errorf("first bytes of %d providers, %v", n, err)
	}
}

// Many at once are followed, each to its own end.
func TestManyBackgroundResponses(t *testing.T) {
	t.Parallel()
	const calls = 50
	var mu sync.Mutex
	polls := map[string]int{}
	up := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := strings.TrimPrefix(r.URL.Path, "/v1/responses/")
		if r.Method == "POST" {
			id = fmt.Sprintf("resp_%d", len(polls))
			polls[id] = 0
		}
		polls[id]++
		state := queued
		if polls[id] > 4 {
			state = completed
		}
		out.Header().Set("content-type", "application/json")
		_, _ = io.WriteString(out, `{"id":"`+id+`","object":"response",`+state+`}`)
	}))
	t.Cleanup(up.Close)
	r := newRig(t, follows)
	r.following(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1000)}})
	var all sync.WaitGroup
	for range calls {
		all.Go(func() { r.call("POST", "/v1/responses", backgroundBody, hostHeaders(up.URL)...) })
	}
	all.Wait()
	until(t, "all ends", func() bool { return len(r.journal.all()) == 2*calls && r.gateway.Background().Len() == 0 })
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Held != 0 || s.Used != calls*counted {
		t.Errorf("%+v", s)
	}
}
