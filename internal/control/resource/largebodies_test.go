package resource_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

type noteIn struct {
	Text string `json:"text"`
}

// Large bodies are taken apart a few at a time, small ones wait for none of them, and a
// caller who leaves or meets a panic takes no room away.
func TestLargeBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	const large, calls = 8 << 20, 12 // of 32 MiB in all
	var mu sync.Mutex                // guards what follows
	inside, maxInside := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		inside += n
		maxInside = max(maxInside, inside)
	}
	entered, gate := make(chan struct{}, calls), make(chan struct{})
	op := resource.Operation{
		Method: http.MethodPost, Path: "/notes", ID: "note", Summary: "Note", Tag: "Notes", Scopes: []access.Scope{"configs.create"},
		Body: noteIn{}, Many: 10, MaxBytes: 16 << 20,
		Run: func(_ context.Context, c *resource.Call) (any, error) {
			if c.Items[0].Text("text") == "panic" {
				panic("a mistake")
			}
			if len(c.Items[0].Text("text")) < 100 {
				return nil, nil
			}
			count(1)
			entered <- struct{}{}
			<-gate
			count(-1)
			return nil, nil
		},
	}
	r := newRig(t, nil, resource.Operations{op})
	body := func(n int) string { return fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", n-11)) }
	for range 8 { // more than there would be room for, were any of it lost
		func() {
			defer func() { _ = recover() }() // the mistake
			r.call(t, "POST", "/notes", `[{"text":"panic"},`+body(large)+`]`)
		}()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		r.engine.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, "POST", "/v1/notes", strings.NewReader(`[{"text":"x"},`+body(large)+`]`)))
	}
	var all sync.WaitGroup
	for range calls {
		all.Go(func() { r.expect(t, 200, "{}", "POST", "/notes", body(large)) })
	}
	for range 4 {
		<-entered
	}
	r.expect(t, 200, "{}", "POST", "/notes", `{"text":"small"}`)
	close(gate)
	all.Wait()
	if maxInside != 4 {
		t.Errorf("%d large bodies were taken apart at a time, want 4", maxInside)
	}
}
