package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/test/upstream"
)

// memoryResponses keeps responses in memory.
type memoryResponses struct {
	mu   sync.Mutex // guards rows
	rows map[string][2][]byte
}

func (s *memoryResponses) SaveResponse(_ context.Context, workspace, id string, _ time.Time, input, response []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[workspace+"/"+id] = [2][]byte{input, response}
	return nil
}

func (s *memoryResponses) FindResponse(_ context.Context, workspace, id string, _ time.Time) (input, response []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[workspace+"/"+id]
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "no such response")
	}
	return r[0], r[1], nil
}

func (s *memoryResponses) DeleteResponse(_ context.Context, workspace, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.rows[workspace+"/"+id]; !ok {
		return fault.New(fault.NotFound, "no such response")
	}
	delete(s.rows, workspace+"/"+id)
	return nil
}

func (s *memoryResponses) SweepResponses(context.Context, time.Time) error { return nil }

// A conversation over three calls to a provider that keeps nothing: whole, streamed,
// and whole again; then what is kept of it is read and deleted.
func TestResponsesAreKept(t *testing.T) {
	t.Parallel()
	responseStore := responsestore.New(&memoryResponses{rows: map[string][2][]byte{}}, ident.System{}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- responseStore.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	r := newRig(t)
	r.gateway.States = responseStore
	r.gateway.Reassemble()
	p := speakers[1] // Anthropic
	r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(p.response))))
	first := r.call("POST", "/v1/responses", `{"model":"m-1","instructions":"Be brief","input":"One"}`, r.as(p)...)
	id := idOf(t, first.Text)

	r.up.Handle(p.path, upstream.Always(events(p.events...)))
	second := r.call("POST", "/v1/responses", `{"model":"m-1","input":"Two","stream":true,"previous_response_id":"`+id+`"}`, r.as(p)...)
	_, last, _ := strings.Cut(second.Text, "event: response.completed\ndata: ")
	var done2 struct{ Response json.RawMessage }
	if err := json.Unmarshal([]byte(strings.TrimSpace(last)), &done2); err != nil {
		t.Fatalf("%v in %s", err, second.Text)
	}
	id2 := idOf(t, string(done2.Response))

	r.up.Handle(p.path, upstream.Always(upstream.JSON(200, []byte(p.response))))
	third := r.call("POST", "/v1/responses", `{"model":"m-1","input":"Three","previous_response_id":"`+id2+`"}`, r.as(p)...)
	if third.StatusCode != 200 {
		t.Fatalf("%d %s", third.StatusCode, third.Text)
	}
	seen := string(r.up.Seen()[2].Body)
	for _, want := range []string{`"One"`, `"Two"`, `"Three"`, `"Hello"`} {
		if !strings.Contains(seen, want) {
			t.Errorf("the third call lacks %s: %s", want, seen)
		}
	}
	got := r.call("GET", "/v1/responses/"+id2, "")
	items := r.call("GET", "/v1/responses/"+id2+"/input_items", "")
	if got.StatusCode != 200 || !strings.Contains(got.Text, id2) || items.StatusCode != 200 || !strings.Contains(items.Text, "Two") {
		t.Errorf("%d %s, %d %s", got.StatusCode, got.Text, items.StatusCode, items.Text)
	}
	if a := r.call("DELETE", "/v1/responses/"+id2, ""); a.StatusCode != 200 || !strings.Contains(a.Text, `"deleted":true`) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/responses/"+id2, ""); a.StatusCode != 404 {
		t.Errorf("after its deletion: %d %s", a.StatusCode, a.Text)
	}
	if a := r.call("POST", "/v1/responses", `{"model":"m-1","input":"x","previous_response_id":"`+id2+`"}`, r.as(p)...); a.StatusCode != 400 || !strings.Contains(a.Text, "previous_response_id") {
		t.Errorf("going on from what was deleted: %d %s", a.StatusCode, a.Text)
	}
	if n := r.up.Total(); n != 3 {
		t.Errorf("%d calls went out", n)
	}
}

func idOf(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		ID    string
		Store bool
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil || r.ID == "" || !r.Store {
		t.Fatalf("no kept response (%v): %s", err, body)
	}
	return r.ID
}
