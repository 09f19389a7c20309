package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// kinds are the servers that every relay property holds for.
var kinds = map[string]string{"http": "HTTP/1.1", "https": "HTTP/1.1", "h2": "HTTP/2.0"}

func eachKind(t *testing.T, f func(t *testing.T, kind string)) {
	t.Helper()
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f(t, kind)
		})
	}
}

// echo answers with what it got, so that a test sees the request from outside.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.Header().Set("X-Saw", fmt.Sprintf("%s %s len=%d te=%v err=%v", r.Method, r.RequestURI, r.ContentLength, r.TransferEncoding, err))
	for name, values := range r.Header {
		w.Header()["Got-"+name] = values
	}
	w.Header().Set("Got-Host", r.Host)
	w.WriteHeader(207)
	_, _ = w.Write(body)
}

func TestRelaysRequestAndAnswer(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(echo))
		c := newClient(t, o)
		r := post(base, wire.Bytes([]byte(`{"model" : "gpt-4o"}`)))
		r.Target = "/v1/files/a%2Fb%3Ac?x=%20&y=//"
		r.Header = wire.Header{
			{Name: "authorization", Value: "Bearer sk-test"}, {Name: "x-twice", Value: "1"}, {Name: "x-twice", Value: "2"},
			{Name: "host", Value: "evil.example"}, {Name: "content-length", Value: "3"}, {Name: "expect", Value: "100-continue"},
			{Name: "te", Value: "trailers"}, {Name: "upgrade", Value: "h2c"}, {Name: "connection", Value: "close, x-hop"}, {Name: "x-hop", Value: "1"},
		}
		for range 3 {
			resp, body, err := call(c, r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Status != 207 || body != `{"model" : "gpt-4o"}` || resp.Proto != kinds[kind] {
				t.Errorf("%d %s %q", resp.Status, resp.Proto, body)
			}
			h := resp.Header
			if got, want := h.Get("x-saw"), "POST "+r.Target+" len=20 te=[] err=<nil>"; got != want {
				t.Errorf("saw  %s\nwant %s", got, want)
			}
			if h.Get("got-authorization") != "Bearer sk-test" || len(h.Values("got-x-twice")) != 2 || h.Get("got-host") != base.Host {
				t.Errorf("header %v", h)
			}
			for _, name := range []string{"got-te", "got-upgrade", "got-x-hop", "got-connection", "got-expect", "got-user-agent", "got-accept-encoding"} {
				if h.Has(name) {
					t.Errorf("%s was sent: %q", name, h.Get(name))
				}
			}
		}
	})
}

func TestSendsEveryKindOfBody(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("0123456789abcdef"), 3<<16) // 3 MiB
	spool := wire.NewSpool(t.TempDir())
	t.Cleanup(func() { _ = spool.Close() })
	if err := spool.Fill(bytes.NewReader(big), -1, 1<<30); err != nil {
		t.Fatal(err)
	}
	bodies := []struct {
		name string
		make func() wire.Payload
		want []byte
		size string
	}{
		{"none", func() wire.Payload { return wire.Payload{} }, nil, "len=0 te=[]"},
		{"small", func() wire.Payload { return wire.Bytes(big[:900]) }, big[:900], "len=900 te=[]"},
		{"pieces", func() wire.Payload { return wire.Join(wire.Bytes(big[:9]), wire.Bytes(big[9:50])) }, big[:50], "len=50 te=[]"},
		{"40 KB", func() wire.Payload { return wire.Bytes(big[:40000]) }, big[:40000], "len=40000 te=[]"},
		{"pieces of 40 KB", func() wire.Payload { return wire.Join(wire.Bytes(big[:20000]), wire.Bytes(big[20000:40000])) }, big[:40000], "len=40000 te=[]"},
		{"3 MB", func() wire.Payload { return wire.Bytes(big) }, big, "len=3145728 te=[]"},
		{"file", spool.Payload, big, "len=3145728 te=[]"},
		{"file in pieces", func() wire.Payload { return wire.Join(wire.Bytes([]byte("<")), spool.Slice(1, 2<<20)) }, append([]byte("<"), big[1:2<<20+1]...), "len=2097153 te=[]"},
		{"stream", func() wire.Payload { return wire.Stream(bytes.NewReader(big), int64(len(big))) }, big, "len=3145728 te=[]"},
		{"stream of no known length", func() wire.Payload { return wire.Stream(bytes.NewReader(big), -1) }, big, "len=-1"},
		{"empty stream", func() wire.Payload { return wire.Stream(strings.NewReader(""), -1) }, nil, "len=-1"},
		{"longer stream than said", func() wire.Payload { return wire.Stream(bytes.NewReader(big), 100) }, big[:100], "len=100 te=[]"},
	}
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(echo))
		c := newClient(t, o)
		for _, b := range bodies {
			resp, body, err := call(c, post(base, b.make()))
			if err != nil {
				t.Fatalf("%s: %v", b.name, err)
			}
			if body != string(b.want) {
				t.Errorf("%s: %d bytes came back of %d", b.name, len(body), len(b.want))
			}
			if saw := resp.Header.Get("x-saw"); !strings.Contains(saw, b.size) {
				t.Errorf("%s: %s", b.name, saw)
			}
		}
	})
}

func TestReadGivesEachPieceAsItComes(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		next := make(chan struct{})
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 3 {
				_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
				w.(http.Flusher).Flush()
				<-next
			}
		}))
		resp, err := newClient(t, o).Do(context.Background(), &base)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		p := make([]byte, 4096)
		for i := range 3 {
			n, err := resp.Body.Read(p)
			if got := string(p[:n]); got != fmt.Sprintf("data: %d\n\n", i) || err != nil {
				t.Errorf("read %d: %q %v", i, got, err)
			}
			next <- struct{}{}
		}
		if n, err := resp.Body.Read(p); n != 0 || err != io.EOF {
			t.Errorf("at the end: %d %v", n, err)
		}
		if resp.Length != -1 || resp.UntilClose {
			t.Errorf("length %d, until close %v", resp.Length, resp.UntilClose)
		}
	})
}

// A body that fails in its source is the caller's failure, not the provider's.
func TestBodyOfTheCallerFails(t *testing.T) {
	t.Parallel()
	gone := errors.New("client went away")
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(echo))
		c := newClient(t, o)
		cases := map[string]struct {
			body wire.Payload
			want error
		}{
			"fails":        {wire.Stream(io.MultiReader(strings.NewReader("begin"), failing{gone}), -1), gone},
			"fails, sized": {wire.Stream(io.MultiReader(strings.NewReader("begin"), failing{gone}), 100), gone},
			"ends early":   {wire.Stream(strings.NewReader("begin"), 100), io.ErrUnexpectedEOF},
		}
		for name, tc := range cases {
			_, _, err := call(c, post(base, tc.body))
			var broken *transport.BodyError
			if !errors.As(err, &broken) || !errors.Is(err, tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// One handshake decides the protocol, however many calls wait for it; over HTTP/2
// they all share the one connection.
func TestProtocolIsLearntOnce(t *testing.T) {
	t.Parallel()
	var conns sync.Map
	var calls atomic.Int32
	base, o := newServer(t, "h2", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		conns.Store(r.RemoteAddr, true)
		calls.Add(1)
	}))
	c := newClient(t, o)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, _, err := call(c, base); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n != 1 || calls.Load() != 50 {
		t.Errorf("%d calls on %d connections", calls.Load(), n)
	}
}

func TestRefusesWhatBreaksTheFraming(t *testing.T) {
	t.Parallel()
	c := newClient(t, transport.Options{})
	good := transport.Request{Method: "GET", Scheme: "http", Host: "127.0.0.1:1", Target: "/"}
	cases := map[string]func(r *transport.Request){
		"method":       func(r *transport.Request) { r.Method = "GET /x HTTP/1.1\r\n" },
		"no method":    func(r *transport.Request) { r.Method = "" },
		"target":       func(r *transport.Request) { r.Target = "/ HTTP/1.1\r\nX: y" },
		"no slash":     func(r *transport.Request) { r.Target = "@evil/" },
		"scheme":       func(r *transport.Request) { r.Scheme = "ftp" },
		"host":         func(r *transport.Request) { r.Host = "a@b" },
		"host path":    func(r *transport.Request) { r.Host = "a/b" },
		"host line":    func(r *transport.Request) { r.Host = "a\r\nX: y" },
		"header name":  func(r *transport.Request) { r.Header = wire.Header{{Name: "x y", Value: "1"}} },
		"header value": func(r *transport.Request) { r.Header = wire.Header{{Name: "x", Value: "1\r\ny: 2"}} },
	}
	for name, change := range cases {
		r := good
		change(&r)
		if _, err := c.Do(context.Background(), &r); !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGuardIsAskedForEveryUpstream(t *testing.T) {
	t.Parallel()
	base, o := newServer(t, "http", http.HandlerFunc(echo))
	c := transport.New(o) // trusts nobody
	t.Cleanup(c.Close)
	if _, _, err := call(c, base); !fault.Has(err, fault.AddressRefused) {
		t.Errorf("Do: %v", err)
	}
	resp, err := c.HTTPClient().Get("http://" + base.Host)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !fault.Has(err, fault.AddressRefused) {
		t.Errorf("HTTPClient: %v", err)
	}
}

// A refusal that comes while the body is still going out is read, and after Close
// nobody touches the body any more.
func TestEarlyAnswerFreesTheBody(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(413) }))
		c := newClient(t, o)
		big := make([]byte, 8<<20)
		resp, err := c.Do(context.Background(), ptr(post(base, wire.Bytes(big))))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		for i := range big { // the race detector sees a sender that is still reading
			big[i] = 1
		}
		if resp.Status != 413 {
			t.Errorf("status %d", resp.Status)
		}
	})
}

func ptr(r transport.Request) *transport.Request { return &r }
