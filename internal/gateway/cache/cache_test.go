package cache_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/replay"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// question is a chat call of about 4 KB.
func question() *cachekey.Input {
	return &cachekey.Input{
		Organisation: "org-1", Workspace: "ws-1", Provider: "openai", Host: "https://api.openai.com/v1", Scope: "int-1",
		Endpoint: llm.ChatComplete, Model: "gpt-4o", Header: wire.Header{{Name: "openai-beta", Value: "a"}},
		Body: fmt.Appendf(nil, `{"model":"gpt-4o","messages":[{"role":"system","content":%q},{"role":"user","content":"Hi"}]}`, strings.Repeat("lorem ipsum ", 340)),
	}
}

// text is a response of about 1 KB.
var text = fmt.Sprintf(`{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29}}`,
	strings.Repeat("lorem ipsum ", 85))

// TestAThousandEqualCallsReachTheProviderOnce includes callers that leave, the first one too. All
// responses have different ids.
func TestAThousandEqualCallsReachTheProviderOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	var all sync.WaitGroup
	var ids sync.Map
	r := &responder{store: store.NewMemory(64<<20, ident.System{})}
	r.call = func(ctx context.Context) (int, []byte, error) {
		calls.Add(1)
		for r.flight.Waiting() < 900 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return 200, []byte(text), ctx.Err()
	}
	for i := range 1000 {
		all.Go(func() {
			client, leave := context.WithCancel(t.Context())
			defer leave()
			body, _, err := r.respond(client, question())
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
			if _, twice := ids.LoadOrStore(jsonedit.Text(body, "id"), true); twice {
				t.Errorf("call %d: an id occurs twice", i)
			}
		})
	}
	all.Wait()
	if calls.Load() != 1 {
		t.Errorf("the provider was called %d times", calls.Load())
	}
}

// TestTenantsNeverMeet stores a response for each combination of tenant, credential, host, model
// and guardrails, and finds it under its own key only.
func TestTenantsNeverMeet(t *testing.T) {
	t.Parallel()
	c := storetest.NewClock()
	s := store.NewMemory(64<<20, c)
	seen := map[cachekey.Key]bool{}
	for i := range 1 << 7 {
		choose := func(bit int) string { return "ab"[i>>bit&1 : i>>bit&1+1] }
		in := question()
		in.Organisation, in.Workspace, in.Scope, in.Host, in.Model = choose(0), choose(1), choose(2), choose(3), choose(4)
		in.Guardrails, in.Namespace = []string{choose(5)}, "shared"
		in.Endpoint = llm.Endpoint(choose(6))
		key := cachekey.Compute(in)
		if _, ok := s.Get(t.Context(), key); ok || seen[key] {
			t.Errorf("combination %07b meets another one", i)
		}
		seen[key] = true
		s.Put(t.Context(), key, storetest.Entry(c, "body"))
	}
}

// The figures of an exact hit: go test -run xxx -bench Hit -benchmem ./internal/gateway/cache
func BenchmarkHitJSON(b *testing.B) { benchmarkHit(b, false) }

func BenchmarkHitStream(b *testing.B) { benchmarkHit(b, true) }

func benchmarkHit(b *testing.B, stream bool) {
	s := store.NewMemory(64<<20, ident.System{})
	in := question()
	now := time.Now()
	s.Put(b.Context(), cachekey.Compute(in), &entry.Entry{Endpoint: in.Endpoint, Status: 200, Body: []byte(text), Created: now, Expires: now.Add(time.Hour)})
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		e, ok := s.Get(b.Context(), cachekey.Compute(in))
		switch {
		case !ok:
			b.Fatal("a miss")
		case stream:
			out = replay.Stream(out[:0], e.Endpoint, e.Body, replay.Options{Now: now})
		default:
			replay.JSON(e.Endpoint, e.Body, replay.Options{Now: now})
		}
	}
}
