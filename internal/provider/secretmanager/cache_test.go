package secretmanager_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider/secretmanager"
)

// secretFixture is one secret at a manager, read at times that a test chooses.
type secretFixture struct {
	t      *testing.T
	reader *secretmanager.Reader
	m      *manager
	clock  *clock
}

func newSecretFixture(t *testing.T) *secretFixture {
	reader, m, clock := start(t)
	return &secretFixture{t, reader, m, clock}
}

// uses is what is read; its manager answers at one path.
func (*secretFixture) uses() []credential.SecretUse {
	return from("hashicorp_vault", "kv/one", "k", "", onToken)
}

func (s *secretFixture) holds(v string) {
	s.m.handle("GET /v1/kv/one", textHandler(`{"data":{"k":"`+v+`"}}`))
}

// fails lets the manager answer with a status.
func (s *secretFixture) fails(status int) {
	s.m.handle("GET /v1/kv/one", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// expect reads, after a while, and looks at what came and at how often the manager was
// asked until all was quiet.
func (s *secretFixture) expect(what string, pass time.Duration, value string, calls int) {
	s.t.Helper()
	s.clock.pass(pass)
	got, err := s.reader.Read(s.t.Context(), s.uses())
	text := got["key"]
	if err != nil {
		text = err.Error()
	}
	if !strings.Contains(text, value) {
		s.t.Errorf("%s: %q, want %q", what, text, value)
	}
	s.reader.Wait()
	if n := len(s.m.requests()); n != calls {
		s.t.Errorf("%s: %d calls, want %d", what, n, calls)
	}
}

// A secret serves for five minutes, for one more as it is renewed behind the calls, and
// for an hour when the manager is in trouble, which is asked every 15 seconds.
func TestKept(t *testing.T) {
	t.Parallel()
	s := newSecretFixture(t)
	s.holds("first")
	s.expect("fetched", 0, "first", 1)
	s.holds("second")
	s.expect("kept", 5*time.Minute-1, "first", 1)
	s.expect("stale, renewed behind", 1, "first", 2)
	s.expect("renewed", 0, "second", 2)
	s.fails(http.StatusServiceUnavailable)
	s.expect("the manager fails, the old one serves", 5*time.Minute, "second", 3)
	s.expect("and is left in peace", 15*time.Second-1, "second", 3)
	s.expect("for a while", 1, "second", 4)
	s.expect("a call after a pause waits, and falls back", 10*time.Minute, "second", 5)
	s.holds("third")
	s.expect("an outage keeps nobody waiting", 15*time.Second, "second", 6)
	s.expect("and ends", 0, "third", 6)
	s.fails(http.StatusServiceUnavailable)
	s.expect("a second one", 5*time.Minute, "third", 7)
	s.expect("almost an hour old", 55*time.Minute-1, "third", 8)
	s.expect("too old", 1, "secret_unavailable", 8)
	s.expect("a failure is kept for a while", 15*time.Second-2, "secret_unavailable", 8)
	s.holds("fourth")
	s.expect("and tried again", 1, "fourth", 9)
}

// After a pause longer than the minute of grace the first call waits for the secret as
// it is now.
func TestFirstCallAfterAPause(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{6 * time.Minute, 59 * time.Minute, 24 * time.Hour} {
		s := newSecretFixture(t)
		s.holds("old")
		s.expect("fetched", 0, "old", 1)
		s.holds("new")
		s.expect(pause.String(), pause, "new", 2)
	}
}

// In the minute of grace no call waits for the renewal; after it, all do.
func TestGrace(t *testing.T) {
	t.Parallel()
	s := newSecretFixture(t)
	s.holds("old")
	s.expect("fetched", 0, "old", 1)
	s.holds("new")
	hold := make(chan struct{})
	s.m.mu.Lock()
	s.m.hold = hold
	s.m.mu.Unlock()
	gone, cancel := context.WithCancel(t.Context())
	cancel() // who waits for nothing gets what is kept
	s.clock.pass(5 * time.Minute)
	if got, err := s.reader.Read(gone, s.uses()); err != nil || got["key"] != "old" {
		t.Errorf("in the minute: %v, %v", got, err)
	}
	s.clock.pass(time.Minute)
	if got, err := s.reader.Read(gone, s.uses()); !errors.Is(err, context.Canceled) {
		t.Errorf("after it: %v, %v", got, err)
	}
	close(hold)
	s.expect("the renewal that began behind", 0, "new", 2)
}

// A refusal takes a secret back, in the minute of grace and after a pause. It outlives
// what tells of no more than trouble.
func TestRefusals(t *testing.T) {
	t.Parallel()
	amazon := func(typ string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"`+typ+`","message":"s3cr3t"}`, http.StatusBadRequest)
		}
	}
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	vault := from("hashicorp_vault", "kv/one", "k", "", onToken)
	hidden := from("hashicorp_vault", "closed/one", "k", "", onToken) // its path has to be found
	sm := from("aws_sm", "one", "k", "", awsKeys)
	for _, c := range []struct {
		name, route, good string
		uses              []credential.SecretUse
		bad               func(http.ResponseWriter, *http.Request)
		isCached          bool
	}{
		{"unauthorized", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(401), false},
		{"forbidden", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(403), false},
		{"not found", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(404), false},
		{"elsewhere", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(302), false},
		{"deleted", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, textHandler(`{"data":{}}`), false},
		{"no JSON", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, textHandler("<html>"), false},
		{"too many", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(429), true},
		{"on standby", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(307), true},
		{"an error", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(500), true},
		{"sealed", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, status(503), true},
		{"no answer", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		{"half an answer", "GET /v1/kv/one", `{"data":{"k":"v"}}`, vault, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte(`{"data":`))
		}, true},
		{"too many, where the first path is forbidden", "GET /v1/closed/data/one", `{"data":{"k":"v"}}`, hidden, status(429), true},
		{"forbidden on both paths", "GET /v1/closed/data/one", `{"data":{"k":"v"}}`, hidden, status(403), false},
		{"AWS knows it not", "POST /", `{"SecretString":"{\"k\":\"v\"}"}`, sm, amazon("ResourceNotFoundException"), false},
		{"AWS denies it", "POST /", `{"SecretString":"{\"k\":\"v\"}"}`, sm, amazon("AccessDeniedException"), false},
		{"AWS has no time", "POST /", `{"SecretString":"{\"k\":\"v\"}"}`, sm, amazon("com.amazonaws#ThrottlingException"), true},
	} {
		for name, pause := range map[string]time.Duration{"in the minute of grace": 5 * time.Minute, "after a pause": 50 * time.Minute} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				t.Parallel()
				reader, m, clock := start(t)
				m.handle("GET /v1/closed/one", status(403))
				m.handle(c.route, textHandler(c.good))
				read := func() bool {
					_, err := reader.Read(t.Context(), c.uses)
					if err != nil && !fault.Has(err, fault.SecretUnavailable) || strings.Contains(errorText(err), "s3cr3t") {
						t.Errorf("%v", err)
					}
					reader.Wait()
					return err == nil
				}
				if !read() {
					t.Fatal("nothing was read")
				}
				m.handle(c.route, c.bad)
				clock.pass(pause)
				if got, want := read(), c.isCached || pause == 5*time.Minute; got != want {
					t.Errorf("the first call: served %v, want %v", got, want)
				}
				for _, wait := range []time.Duration{0, 15 * time.Second, 2 * time.Minute} {
					clock.pass(wait)
					if got := read(); got != c.isCached {
						t.Errorf("%v later: served %v, want %v", wait, got, c.isCached)
					}
				}
			})
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
