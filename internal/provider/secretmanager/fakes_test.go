package secretmanager_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/secretmanager"
	"sluice/internal/provider/sign"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// manager is a server that stands for all managers; calls lists what it was asked.
type manager struct {
	mu    sync.Mutex // guards what follows
	calls []string
	serve map[string]func(w http.ResponseWriter, r *http.Request) // by method and path
	hold  chan struct{}                                           // when set, answers wait for it
}

func (m *manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.Host + r.URL.Path
	m.mu.Lock()
	m.calls = append(m.calls, what)
	h, hold := m.serve[r.Method+" "+r.URL.Path], m.hold
	m.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if h == nil {
		http.Error(w, `{"errors":[]}`, http.StatusNotFound)
		return
	}
	h(w, r)
}

func (m *manager) handle(route string, h func(w http.ResponseWriter, r *http.Request)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serve[route] = h
}

func (m *manager) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.calls...)
}

// textHandler answers with a text when the request carries a header.
func textHandler(body string, header ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, h := range header {
			name, want, _ := strings.Cut(h, ": ")
			if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
				http.Error(w, "forbidden: "+got, http.StatusForbidden)
				return
			}
		}
		_, _ = io.WriteString(w, body)
	}
}

// takes answers when the body of a request has fields.
func takes(body string, fields map[string]string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		var sent map[string]string
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || fmt.Sprint(sent) != fmt.Sprint(fields) {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// start makes a reader whose calls, wherever they go, end at a manager.
func start(t *testing.T, change ...func(*secretmanager.Options)) (*secretmanager.Reader, *manager, *clock) {
	t.Helper()
	m := &manager{serve: map[string]func(http.ResponseWriter, *http.Request){}}
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	to, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		if r.Host == "" {
			r.Host = r.URL.Host
		}
		r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
		return srv.Client().Transport.RoundTrip(r)
	})}
	c := &clock{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	o := secretmanager.Options{HTTP: client, Signers: sign.New(sign.Options{HTTP: client, Clock: c}), TakesStoredKeys: netguard.New(nil).WithKeyHosts([]string{"vault.example.com:443"}).TakesStoredKeys, Clock: c, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&o)
	}
	r := secretmanager.New(o)
	t.Cleanup(r.Close)
	return r, m, c
}

// from is a use of a secret. Auth is written as "name=value" pairs.
func from(kind credential.Manager, path, key, format, auth string) []credential.SecretUse {
	s := &credential.SecretSource{RecordID: "r-" + path, Revision: 1, Manager: kind, Path: path, Auth: map[string]string{}}
	for pair := range strings.FieldsSeq(auth) {
		name, v, _ := strings.Cut(pair, "=")
		s.Auth[name] = v
	}
	return []credential.SecretUse{{Field: "key", Key: key, Format: format, Source: s}}
}
