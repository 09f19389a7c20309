package placeholder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/sealed"
)

// clock is a fake clock.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }

// fixture is a store with its parts.
type fixture struct {
	*placeholder.Store
	clock   *clock
	backend *spyBackend
}

// spyBackend records values and may fail.
type spyBackend struct {
	*placeholder.Memory
	err  error
	gets atomic.Int64
	mu   sync.Mutex
	keys []string
	data []byte
}

func (s *spyBackend) Get(ctx context.Context, key string) ([]byte, error) {
	s.gets.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	return s.Memory.Get(ctx, key)
}

func (s *spyBackend) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	s.keys, s.data = append(s.keys, key), append(s.data, value...)
	s.mu.Unlock()
	return s.Memory.Swap(ctx, key, old, value, ttl)
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func newStore(t fataler) *fixture {
	t.Helper()
	box, err := sealed.NewBox(secret)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{clock: newClock()}
	f.backend = &spyBackend{Memory: placeholder.NewMemory(1<<20, f.clock.Now)}
	f.Store, err = placeholder.NewStore(placeholder.Options{Secret: secret, Sealer: box, Backend: f.backend, TTL: time.Hour, Now: f.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open opens a vault and fails on an error.
func (f *fixture) open(t fataler, scope placeholder.Scope, ids ...string) *placeholder.Vault {
	t.Helper()
	v, err := f.Open(context.Background(), scope, ids...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (f *fixture) save(t fataler, scope placeholder.Scope, v *placeholder.Vault, ids ...string) {
	t.Helper()
	if err := f.Save(context.Background(), scope, v, ids...); err != nil {
		t.Fatal(err)
	}
}

func TestStore_ContinuesAConversation(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	first := f.open(t, ann)
	name := first.Hide("EMAIL", "a@b.c")
	f.save(t, ann, first, "resp_1", "trace-1", "")

	second := ann
	second.Conversation = "another id in the second turn"
	for _, id := range []string{"resp_1", "trace-1"} {
		v := f.open(t, second, "unknown", id)
		if got := v.Restore(name); got != "a@b.c" {
			t.Errorf("by %s: got %q, want the value of the first turn", id, got)
		}
		if got := v.Hide("EMAIL", "a@b.c"); got != name {
			t.Errorf("by %s: hidden again: got %s, want %s", id, got, name)
		}
	}
	third := f.open(t, second, "resp_1")
	other := third.Hide("EMAIL", "d@e.f")
	f.save(t, second, third, "resp_2")
	if got := f.open(t, second, "resp_2").Restore(name + other); got != "a@b.cd@e.f" {
		t.Errorf("in the third turn: got %q, want the values of both turns", got)
	}
}

func TestStore_SeparatesCallers(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	v := f.open(t, ann)
	name := v.Hide("EMAIL", "a@b.c")
	f.save(t, ann, v, "resp_1")
	bob, workspace, tenant := ann, ann, ann
	bob.Caller, workspace.Workspace, tenant.Organisation = "bob", "ws2", "org2"
	for what, scope := range map[string]placeholder.Scope{"caller": bob, "workspace": workspace, "organisation": tenant} {
		if got := f.open(t, scope, "resp_1").Restore(name); got != name {
			t.Errorf("another %s: got %q, want the placeholder", what, got)
		}
	}
}

func TestStore_StoresNeitherValuesNorIDs(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	v := f.open(t, ann)
	v.Hide("EMAIL", "private@example.com")
	f.save(t, ann, v, "resp_1")
	stored := append([]byte(fmt.Sprint(f.backend.keys)), f.backend.data...)
	for _, text := range []string{"private@example.com", "EMAIL", "resp_1", "ann"} {
		if bytes.Contains(stored, []byte(text)) {
			t.Errorf("the backend contains %q", text)
		}
	}
	if len(f.backend.data) == 0 {
		t.Error("nothing is stored")
	}
}

func TestStore_ForgetsAfterTheTTL(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	v := f.open(t, ann)
	name := v.Hide("EMAIL", "a@b.c")
	f.save(t, ann, v, "resp_1")
	f.clock.now = f.clock.now.Add(time.Hour - time.Second)
	if got := f.open(t, ann, "resp_1").Restore(name); got != "a@b.c" {
		t.Errorf("before: got %q, want the value", got)
	}
	f.clock.now = f.clock.now.Add(time.Second)
	if got := f.open(t, ann, "resp_1").Restore(name); got != name {
		t.Errorf("after: got %q, want the placeholder", got)
	}
}

func TestStore_MergesConcurrentSaves(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	names := make([]string, 20)
	var wg sync.WaitGroup
	for i := range names {
		v := f.open(t, ann)
		names[i] = v.Hide("K", fmt.Sprint("value", i))
		wg.Go(func() { f.save(t, ann, v, "trace") })
	}
	wg.Wait()
	v := f.open(t, ann, "trace")
	for i, name := range names {
		if got, want := v.Restore(name), fmt.Sprint("value", i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOpen_ReturnsAVaultWithAnError(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	f.backend.err = errors.New("down")
	v, err := f.Open(context.Background(), ann, "resp_1", "conversation", "trace")
	if !errors.Is(err, f.backend.err) {
		t.Errorf("got error %v, want %v", err, f.backend.err)
	}
	if n := f.backend.gets.Load(); n != 1 {
		t.Errorf("the backend that is down was called %d times, want 1", n)
	}
	if name := v.Hide("K", "a"); v.Restore(name) != "a" {
		t.Error("the vault is not usable")
	}
	if err := f.Save(context.Background(), ann, v, "resp_1", "trace"); !errors.Is(err, f.backend.err) {
		t.Errorf("saving: got error %v, want %v", err, f.backend.err)
	}
	want := `
# HELP sluice_placeholder_failures_total Calls whose placeholders of earlier calls could not be loaded, or whose values could not be saved for later ones, by operation.
# TYPE sluice_placeholder_failures_total counter
sluice_placeholder_failures_total{operation="load"} 1
sluice_placeholder_failures_total{operation="save"} 1
`
	if err := testutil.CollectAndCompare(f.Store, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestOpen_ReportsForeignData(t *testing.T) {
	t.Parallel()
	f := newStore(t)
	v := f.open(t, ann)
	name := v.Hide("K", "a")
	f.save(t, ann, v, "resp_1", "resp_2")
	other, err := f.backend.Get(context.Background(), f.backend.keys[1])
	if err != nil {
		t.Fatal(err)
	}
	present, err := f.backend.Get(context.Background(), f.backend.keys[0])
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := f.backend.Memory.Swap(context.Background(), f.backend.keys[0], present, other, time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	v, err = f.Open(context.Background(), ann, "resp_1")
	if err == nil || v.Restore(name) != name {
		t.Errorf("got error %v and %q, want an error and the placeholder", err, v.Restore(name))
	}
}

func TestNewStore_RequiresItsOptions(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox(secret)
	if err != nil {
		t.Fatal(err)
	}
	c := newClock()
	valid := placeholder.Options{Secret: secret, Sealer: box, Backend: placeholder.NewMemory(1, c.Now), TTL: time.Hour, Now: c.Now}
	for name, change := range map[string]func(o *placeholder.Options){
		"short secret":    func(o *placeholder.Options) { o.Secret = secret[:15] },
		"without sealer":  func(o *placeholder.Options) { o.Sealer = nil },
		"without backend": func(o *placeholder.Options) { o.Backend = nil },
		"without clock":   func(o *placeholder.Options) { o.Now = nil },
		"without ttl":     func(o *placeholder.Options) { o.TTL = 0 },
	} {
		o := valid
		change(&o)
		if _, err := placeholder.NewStore(o); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestStore_NeverMixesCallers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newStore(t)
		sent := map[string]map[string]string{} // values by caller and placeholder
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			scope := ann
			scope.Caller = rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "caller")
			id := rapid.SampledFrom([]string{"r1", "r2", ""}).Draw(t, "id")
			v := f.open(t, scope, id)
			if sent[scope.Caller] == nil {
				sent[scope.Caller] = map[string]string{}
			}
			value := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "value") + scope.Caller
			sent[scope.Caller][v.Hide("K", value)] = value
			f.save(t, scope, v, id)
			for caller, values := range sent {
				for name, value := range values {
					got := v.Restore(name)
					if got != name && (caller != scope.Caller || got != value) {
						t.Fatalf("%s reads %q of %s", scope.Caller, got, caller)
					}
				}
			}
		}
	})
}
