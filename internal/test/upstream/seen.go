package upstream

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	maxSeen  = 20000            // requests remembered; older ones are dropped
	patience = 30 * time.Second // of Await
)

// Field is one header line as it was received, the name's case included.
type Field struct{ Name, Value string }

// Seen is one request. Slices are not to be changed.
type Seen struct {
	ID        int       // 1 for the server's first request
	Conn      int       // number of the connection: equal numbers show reuse
	Proto     string    // "HTTP/1.1", "HTTP/2.0"
	Method    string    // "POST"
	Target    string    // the request target's raw bytes: "/v1/files/a%2Fb?limit=2"
	Host      string    // "127.0.0.1:41234"
	Head      []byte    // raw head up to the empty line; nil on HTTP/2
	Header    []Field   // in order as received; on HTTP/2 sorted by name, lower case
	Body      []byte    // decoded from chunks, the first MaxBody bytes
	BodyBytes int64     // of the whole body
	BodySum   [32]byte  // SHA-256 of the whole body
	Chunked   bool      // the body came in chunks
	BodyErr   error     // the body ended early or was malformed
	Fault     string    // the fault that the request named, "" for none
	Received  time.Time // the head was in
	Answered  time.Time // the answer's last byte was written; zero: not yet, or never
	Cancelled time.Time // the caller was found to have left before that; zero: it did not

	demoResponse *Response // the demo's answer when the body was too long to keep
}

// Path is the target without its query.
func (s *Seen) Path() string {
	path, _, _ := strings.Cut(s.Target, "?")
	return path
}

// Get is the first value of a header, whatever its case; "" when there is none.
func (s *Seen) Get(name string) string {
	for _, f := range s.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Has reports whether there is a header of that name, whatever its case.
func (s *Seen) Has(name string) bool {
	return slices.ContainsFunc(s.Header, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// record is what the server has seen.
type record struct {
	mu      sync.Mutex
	total   int
	list    []*Seen
	changed chan struct{} // closed and replaced at each change
}

func (r *record) add(s *Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	s.ID = r.total
	if len(r.list) == maxSeen {
		r.list = slices.Delete(r.list, 0, maxSeen/10)
	}
	r.list = append(r.list, s)
	r.notify()
}

// update changes a request of the record.
func (r *record) update(s *Seen, change func(*Seen)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(s)
	r.notify()
}

func (r *record) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *record) snapshot() ([]Seen, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Seen, len(r.list))
	for i, s := range r.list {
		out[i] = *s
	}
	return out, r.changed
}

// Seen returns the requests so far, oldest first, also those still running.
func (s *Server) Seen() []Seen {
	all, _ := s.seen.snapshot()
	return all
}

// Total is the number of requests since the start.
func (s *Server) Total() int {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	return s.seen.total
}

// Await waits until the requests fulfil ok and returns them. It fails the test
// after half a minute, saying what it waited for.
func (s *Server) Await(t testing.TB, what string, ok func([]Seen) bool) []Seen {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		all, changed := s.seen.snapshot()
		if ok(all) {
			return all
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("upstream: no %s after %s; %d requests seen", what, patience, len(all))
			return all
		}
	}
}
