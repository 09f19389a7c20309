package pins_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/gateway/promptcache/pins"
)

// clock is a clock that moves only when it is set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var (
	both = []string{"a", "b"}
	chat = pins.NewKey("ws", "key", "session:1")
)

func check(t *testing.T, p *pins.Pins, k pins.Key, candidates []string, want string) {
	t.Helper()
	if got, ok := p.Prefer(k, candidates); got != want || ok != (want != "") {
		t.Errorf("got %q %v, want %q", got, ok, want)
	}
}

func TestPins_AConversationStaysWithItsWarmTarget(t *testing.T) {
	t.Parallel()
	c := newClock()
	p := pins.New(c, 10)
	check(t, p, chat, both, "")
	p.Warm(chat, "b", 5*time.Minute)
	c.advance(4 * time.Minute)
	check(t, p, chat, both, "b")
	p.Warm(chat, "b", 5*time.Minute) // each call extends it
	c.advance(4 * time.Minute)
	check(t, p, chat, both, "b")
}

func TestPins_APinEndsWithTheCacheOfTheProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lifetime, after time.Duration }{
		"five minutes":      {5 * time.Minute, 5 * time.Minute},
		"an hour":           {time.Hour, time.Hour},
		"longer than a day": {1000 * time.Hour, pins.MaxLifetime},
		"no cache":          {0, 0},
		"a negative time":   {-time.Hour, 0},
	} {
		clock := newClock()
		p := pins.New(clock, 10)
		p.Warm(chat, "a", c.lifetime)
		if c.after > 0 {
			clock.advance(c.after - 1)
			check(t, p, chat, both, "a")
			clock.advance(1)
		}
		check(t, p, chat, both, "")
		if n := p.Len(); n != 0 {
			t.Errorf("%s: %d pins remain", name, n)
		}
	}
}

func TestPins_APinToAnUnusableTargetHasNoEffect(t *testing.T) {
	t.Parallel()
	p := pins.New(newClock(), 10)
	p.Warm(chat, "a", time.Hour)
	check(t, p, chat, []string{"b", "c"}, "")
	check(t, p, chat, nil, "")
	check(t, p, chat, both, "a") // the target recovered in time
}

func TestPins_AFailureEndsThePinOfItsConversation(t *testing.T) {
	t.Parallel()
	other := pins.NewKey("ws", "key", "session:2")
	p := pins.New(newClock(), 10)
	p.Warm(chat, "a", time.Hour)
	p.Warm(other, "a", time.Hour)
	p.Drop(chat, "a")
	check(t, p, chat, both, "")
	check(t, p, other, both, "a")

	p.Warm(chat, "b", time.Hour)
	p.Drop(chat, "a") // a late failure at the target before
	check(t, p, chat, both, "b")
}

func TestPins_TwoKeysWithOneSessionIDShareNone(t *testing.T) {
	t.Parallel()
	p := pins.New(newClock(), 10)
	p.Warm(pins.NewKey("ws", "key-1", "session:1"), "a", time.Hour)
	for _, k := range []pins.Key{
		pins.NewKey("ws", "key-2", "session:1"), pins.NewKey("ws-2", "key-1", "session:1"),
		pins.NewKey("wsk", "ey-1", "session:1"), pins.NewKey("ws", "key-1session:1", ""), pins.NewKey("", "wskey-1", "session:1"),
	} {
		check(t, p, k, both, "")
	}
}

func TestPins_TheLeastRecentlyUsedPinIsEvicted(t *testing.T) {
	t.Parallel()
	key := func(i int) pins.Key { return pins.NewKey("ws", "key", strconv.Itoa(i)) }
	p := pins.New(newClock(), 3)
	for i := range 3 {
		p.Warm(key(i), "a", time.Hour)
	}
	check(t, p, key(0), both, "a")
	p.Warm(key(3), "b", time.Hour)
	check(t, p, key(1), both, "")
	check(t, p, key(0), both, "a")
	check(t, p, key(3), both, "b")
	if n := p.Len(); n != 3 {
		t.Errorf("got %d pins, want 3", n)
	}
}

// A map of pins without limit and eviction is the model of Pins.
func TestPins_BehaveLikeAMapThatNeverExceedsItsMaximum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const maxPins = 4
		c := newClock()
		p := pins.New(c, maxPins)
		type entry struct {
			target  string
			expires time.Time
		}
		model := map[pins.Key]entry{}
		keys := rapid.Custom(func(t *rapid.T) pins.Key {
			return pins.NewKey("ws", "key", strconv.Itoa(rapid.IntRange(0, 5).Draw(t, "conversation")))
		})
		targets := rapid.SampledFrom(both)
		t.Repeat(map[string]func(*rapid.T){
			"warm": func(t *rapid.T) {
				k, name, d := keys.Draw(t, "key"), targets.Draw(t, "target"), time.Duration(rapid.IntRange(1, 5).Draw(t, "minutes"))*time.Minute
				p.Warm(k, name, d)
				model[k] = entry{name, c.Now().Add(d)}
			},
			"drop": func(t *rapid.T) {
				k, name := keys.Draw(t, "key"), targets.Draw(t, "target")
				p.Drop(k, name)
				if model[k].target == name {
					delete(model, k)
				}
			},
			"advance": func(*rapid.T) { c.advance(time.Minute) },
			"prefer": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				got, ok := p.Prefer(k, both)
				if e, known := model[k]; ok && (!known || e.target != got || !c.Now().Before(e.expires)) {
					t.Fatalf("got %q, want %+v", got, e)
				}
			},
			"": func(t *rapid.T) {
				if n := p.Len(); n > maxPins {
					t.Fatalf("%d pins, more than %d", n, maxPins)
				}
			},
		})
	})
}

func TestPins_AreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	p := pins.New(newClock(), 50)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 500 {
				k, name := pins.NewKey("ws", "key", fmt.Sprint(n%90)), both[(i+n)%2]
				p.Warm(k, name, time.Hour)
				p.Prefer(k, both)
				if n%7 == 0 {
					p.Drop(k, name)
				}
			}
		})
	}
	wg.Wait()
	if n := p.Len(); n > 50 {
		t.Errorf("%d pins", n)
	}
}

func BenchmarkPrefer(b *testing.B) {
	p := pins.New(newClock(), 100_000)
	for i := range 100_000 {
		p.Warm(pins.NewKey("ws", "key", strconv.Itoa(i)), "a", time.Hour)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Prefer(pins.NewKey("ws", "key", "77"), both); !ok {
			b.Fatal("no pin")
		}
	}
}
