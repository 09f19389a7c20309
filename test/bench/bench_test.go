package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream/responder"
	"sluice/test/bench/load"
	"sluice/test/bench/report"
	"sluice/test/bench/stat"
	"sluice/test/bench/target"
)

// Requests are what they claim to be, as a server reads them.
func TestCalls(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		if s.asks != nil {
			continue // TestPlaneCalls
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(s.call.wire("127.0.0.1:8787", "x-gateway-api-key: k"))))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength || r.Header.Get("x-gateway-api-key") != "k" || r.Host != "127.0.0.1:8787" {
			t.Errorf("%s: %d bytes, %v, %v", s.name, len(body), r.Header, err)
		}
		kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if kind == "application/json" {
			size := 690
			if s.translated {
				size = conversationSize(t, s.name, body)
			}
			if !gjson.ValidBytes(body) || len(body) != size || gjson.GetBytes(body, "stream").Bool() != (s.job.Events > 0) {
				t.Errorf("%s: body of %d bytes: %.80s", s.name, len(body), body)
			}
			continue
		}
		form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(1 << 20)
		if err != nil || form.Value["model"][0] != "bench" || form.File["file"][0].Size < 1<<20 {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// The calls of the administration are as many different ones as they claim to be.
func TestPlaneCalls(t *testing.T) {
	t.Parallel()
	p := &plane{Deployment: &target.Deployment{WorkspaceIDs: []string{"w0", "w1", "w2"}, InTurn: []string{"k0", "k1", "k2"}}}
	for _, s := range ofPlanes() {
		seen := map[string]bool{}
		for n := range 6 {
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(s.asks(p, n).wire("127.0.0.1:8787"))))
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || len(body) > 0 != (r.Method != "GET") || len(body) > 0 && !gjson.ValidBytes(body) {
				t.Errorf("%s: %s with the body %q, %v", s.name, r.Method, body, err)
			}
			seen[r.Method+r.URL.String()+string(body)] = true
		}
		if len(seen) != 6 {
			t.Errorf("%s: %d different calls of 6", s.name, len(seen))
		}
	}
}

// conversationSize is the size that a scenario's name tells, after a look whether
// every call of a tool has its result.
func conversationSize(t *testing.T, name string, body []byte) int {
	t.Helper()
	var open []string
	gjson.GetBytes(body, "messages").ForEach(func(_, m gjson.Result) bool {
		for _, id := range m.Get("tool_calls.#.id").Array() {
			open = append(open, id.Str)
		}
		if id := m.Get("tool_call_id"); id.Exists() && (len(open) != 1 || open[0] != id.Str) {
			t.Errorf("%s: the result of %s comes where %v are open", name, id, open)
		} else if id.Exists() {
			open = nil
		}
		return true
	})
	calls := gjson.GetBytes(body, "messages.#.tool_calls.0.id").Array()
	if len(calls) == 0 || len(open) > 0 || gjson.GetBytes(body, "tools.#").Int() != 2 {
		t.Errorf("%s: %d calls, open %v", name, len(calls), open)
	}
	if strings.Contains(name, "-50k-") {
		return 50 << 10
	}
	return 1 << 10
}

// An answer's length is learnt only from one that says what the upstream says.
func TestLearn(t *testing.T) {
	t.Parallel()
	response := `{"choices":[{"message":{"content":"lorem"}}],"usage":{"total_tokens":220}}`
	for _, c := range []struct {
		name, body string
		status     int
		want       int
	}{
		{"an answer", response, 200, len(response)},
		{"without words", `{"choices":[{"message":{"content":""}}],"usage":{"total_tokens":220}}`, 200, 0},
		{"without usage", `{"choices":[{"message":{"content":"lorem"}}]}`, 200, 0},
		{"refused", response, 401, 0},
	} {
		requests := 0
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests++; r.Header.Get("x-gateway-config") != "c" || r.URL.Path != chat.path {
				t.Errorf("%s: asked %s with %v", c.name, r.URL, r.Header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		to := &contender{addr: up.Listener.Addr().String(), lines: []string{"x-gateway-config: c"}}
		if err := to.learn(t.Context(), chat); (err == nil) != (c.want > 0) || to.body != c.want || requests != 1 {
			t.Errorf("%s: %d bytes after %d requests, %v", c.name, to.body, requests, err)
		}
		up.Close()
		s := &scenario{call: chat, job: load.Job{Body: 1024}}
		if want := cmp.Or(c.want, 1024); s.with(to, options{}).Body != want {
			t.Errorf("%s: the job wants %d bytes, not %d", c.name, s.with(to, options{}).Body, want)
		}
	}
}

// Callers take turns, and each request is made once for all.
func TestInTurn(t *testing.T) {
	t.Parallel()
	to := &contender{addr: "127.0.0.1:8787", lines: []string{"x-gateway-config: c"}, keys: []string{"a", "b", "c"}}
	s := &scenario{call: pricedChat(`"n":1`)}
	next := s.with(to, options{}).Next
	first := next()
	for _, want := range []string{"b", "c", "a"} {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(next())))
		if err != nil || r.Header.Get("x-gateway-api-key") != want || r.Header.Get("x-gateway-config") != "c" {
			t.Errorf("%v of %v, want the key %s", err, r.Header, want)
		}
	}
	next()
	next()
	if again := next(); &again[0] != &first[0] {
		t.Error("a request was made anew")
	}
	if to.keys = nil; s.with(to, options{}).Next != nil {
		t.Error("nobody takes turns")
	}
}

func TestScenariosAreTold(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range scenarios() {
		if seen[s.name] || s.title == "" || s.job.Conns < 1 || (s.job.Events > 0) != (s.answers.Chunks > 0) {
			t.Errorf("%+v", s)
		}
		seen[s.name] = true
	}
	for _, a := range report.Aims {
		if !seen[a.Scenario] || a.From != "" && !seen[a.From] {
			t.Errorf("the aim %q is for a scenario that is not there", a)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all := scenarios()
	if got, err := choose(all, ""); err != nil || len(got) != len(all) {
		t.Errorf("all: %d, %v", len(got), err)
	}
	got, err := choose(all, "rate-8000, chat-1k-c64")
	if err != nil || len(got) != 2 || got[0].name != "chat-1k-c64" || got[1].name != "rate-8000" {
		t.Errorf("two: %v, %v", got, err)
	}
	if _, err := choose(all, "chat-1k-c64,nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("unknown: %v", err)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[uint64]int{65536: 10000, 1 << 40: 10000, 20000: 9500, 1024: 12, 256: 10000} {
		s := scenario{title: "Open streams", files: 2, job: load.Job{Conns: 10000}}
		if s.fit(limit); s.job.Conns != want || (s.title == "Open streams") != (want == 10000) {
			t.Errorf("limit %d: %d connections, %q; want %d", limit, s.job.Conns, s.title, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	res := &load.Result{Unmeasured: 10, Sent: 90}
	for _, c := range []struct {
		name          string
		failures      map[string]int64
		before, after counts
		want          string // parts of the problems, all of them
	}{
		{name: "all is well", before: counts{upstream: 500, broken: 1, records: 70}, after: counts{upstream: 600, broken: 1, records: 170}},
		{name: "no journal", before: counts{upstream: 500, broken: 0, records: -1}, after: counts{upstream: 600, broken: 0, records: -1}},
		{name: "failed", failures: map[string]int64{"status 502": 2}, after: counts{upstream: 100, broken: 0, records: 100}, want: "2 of 100 requests failed: status 502"},
		{name: "lost", after: counts{upstream: 99, broken: 0, records: 100}, want: "1 of 100 requests lost"},
		{name: "doubled", after: counts{upstream: 101, broken: 0, records: 100}, want: "1 of 100 requests doubled"},
		{name: "broken", after: counts{upstream: 100, broken: 1, records: 100}, want: "1 of 100 requests broken"},
		{name: "not recorded", after: counts{upstream: 100, broken: 0, records: 97}, want: "3 of 100 requests not on record"},
		{name: "recorded twice", after: counts{upstream: 100, broken: 0, records: 101}, want: "1 of 100 requests on record twice"},
	} {
		res.Failures = c.failures
		got := check("sluice", res, c.before, c.after)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	res := &load.Result{Unmeasured: 5, Sent: 2000, Took: time.Second, Latency: new(stat.Histogram), Delay: new(stat.Histogram)}
	res.Latency.Add(time.Millisecond)
	ms := time.Millisecond
	r := roundMetrics(res, costs{}, costs{target: 40 * ms, upstream: 20 * ms, generator: 10 * ms, machine: 70 * ms})
	if r.CPU != 20 || r.Upstream != 10 || r.Generator != 5 || r.Foreign != 0 || r.PerSecond != 2000 || r.P50US != 1000 || r.Events != 0 {
		t.Errorf("got %+v", r)
	}
}

// A whole scenario on real programs, less Sluice, agrees in all counts.
func TestFieldAgainstTheUpstream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := target.BuildUpstream(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	up, err := target.StartUpstream(t.Context(), program, dir, target.Answers{Options: responder.Options{Chunks: 3}})
	if err != nil {
		t.Fatal(err)
	}
	f := &field{up: up, family: []int{up.PID}, stops: []func() error{up.Stop}}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
	c := &contender{name: report.Direct, addr: up.Addr}
	if err := f.learn(t.Context(), c, chat); err != nil || c.body != 1024 {
		t.Errorf("learnt a length of %d, %v", c.body, err)
	}
	if err := f.learn(t.Context(), c, passThrough); err == nil {
		t.Error("learnt a length from an echo")
	}
	s := &scenario{call: streamed, job: load.Job{Conns: 2, Unmeasured: 1, Each: 4, Events: 3}}
	r, problems, err := f.round(t.Context(), c, s.with(c, options{}))
	if err != nil || len(problems) != 0 || r.Requests != 8 || r.Unmeasured != 2 || r.Failed != 0 || r.Events != 24 {
		t.Fatalf("%+v, %q, %v", r, problems, err)
	}
	s.job.Events = 4
	if _, problems, err = f.round(t.Context(), c, s.with(c, options{quick: true})); err != nil || len(problems) != 1 {
		t.Errorf("streams that lack an event: %q, %v", problems, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := f.round(ended, c, s.with(c, options{})); err == nil {
		t.Error("a round after the end")
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"lorem"}}],"usage":{"total_tokens":220}}`)
	}))
	defer elsewhere.Close()
	if err := f.learn(t.Context(), &contender{addr: elsewhere.Listener.Addr().String()}, chat); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("learnt from an answer that is not the upstream's: %v", err)
	}
}
