package modellist_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/gateway/modellist"
)

const (
	period = time.Minute
	wait   = 2 * time.Second
)

// server is where the lists of a test come from: what a provider responds with at the time.
// A provider without a response does not respond until the read ends.
type server struct {
	mu       sync.Mutex // guards what follows
	models   map[string][]string
	fails    map[string]error
	calls    map[string]int
	now, max int // reads that run at once
}

func (s *server) read(ctx context.Context, from modellist.Source) ([]string, error) {
	s.mu.Lock()
	s.calls[from.Provider]++
	s.now++
	s.max = max(s.max, s.now)
	models, err := s.models[from.Provider], s.fails[from.Provider]
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
	}()
	if models == nil && err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return models, err
}

func (s *server) set(provider string, err error, models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models[provider], s.fails[provider] = models, err
}

// atOnce is the most reads that ran at once.
func (s *server) atOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.max
}

func (s *server) requestCount(provider string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[provider]
}

// clock is turned by hand.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// cache is a running cache with its server and clock.
type cache struct {
	*modellist.Lists
	*server
	clock *clock
	log   *bytes.Buffer // to be read when nothing runs
}

// inBubble runs a test with a cache in a bubble of its own, where time passes by itself when
// nothing else happens.
func inBubble(t *testing.T, test func(t *testing.T, c *cache)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cache{server: &server{models: map[string][]string{}, fails: map[string]error{}, calls: map[string]int{}}, clock: &clock{now: time.Now()}, log: new(bytes.Buffer)}
		c.Lists = modellist.New(modellist.Options{
			Read: c.read, Period: period, Wait: wait, Timeout: 10 * time.Second, Clock: c.clock, Log: slog.New(slog.NewTextHandler(c.log, nil)),
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		test(t, c)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func source(provider string) modellist.Source {
	return modellist.Source{ID: "id of " + provider, Workspace: "w", Provider: provider, Version: sha256.Sum256([]byte("1"))}
}

// names asks for the lists of providers and reports how long that took.
func (c *cache) names(t *testing.T, sources ...modellist.Source) (got [][]string, took time.Duration) {
	t.Helper()
	began := time.Now()
	got = c.Names(t.Context(), sources)
	return got, time.Since(began)
}

// expectList holds that one list is there at once.
func (c *cache) expectList(t *testing.T, what string, s modellist.Source, want ...string) {
	t.Helper()
	got, took := c.names(t, s)
	if !slices.Equal(got[0], want) || took != 0 {
		t.Errorf("%s: %q after %s, want %q at once", what, got[0], took, want)
	}
}

func TestNames_FirstRequestWaitsForTheList(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("a", nil, "m1", "m2")
		c.expectList(t, "first", source("a"), "m1", "m2")
		c.expectList(t, "second", source("a"), "m1", "m2")
		if n := c.requestCount("a"); n != 1 {
			t.Errorf("the provider was asked %d times", n)
		}
	})
}

func TestNames_SilentProviderDelaysOneAnswerOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("live", nil, "m")
		got, took := c.names(t, source("silent"), source("live"))
		if took != wait || got[0] != nil || !slices.Equal(got[1], []string{"m"}) {
			t.Errorf("first: %q after %s", got, took)
		}
		got, took = c.names(t, source("silent"), source("live"))
		if took != 0 || got[0] != nil || !slices.Equal(got[1], []string{"m"}) {
			t.Errorf("second: %q after %s", got, took)
		}
		time.Sleep(10 * time.Second) // the read ends
		synctest.Wait()
		c.clock.turn(period)
		if _, took = c.names(t, source("silent")); took != 0 {
			t.Errorf("after its failure: waited %s", took)
		}
		synctest.Wait()
		if n := c.requestCount("silent"); n != 2 {
			t.Errorf("the provider was asked %d times", n)
		}
	})
}

func TestNames_ClientThatLeavesStopsWaiting(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		c.Names(ctx, []modellist.Source{source("silent"), source("dead")})
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %s", took)
		}
	})
}

func TestNames_AreRefreshedInTheBackgroundWhenOld(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("a", nil, "old")
		c.expectList(t, "first", source("a"), "old")
		c.set("a", nil, "new")
		c.clock.turn(period - 1)
		c.expectList(t, "within the period", source("a"), "old")
		synctest.Wait()
		c.expectList(t, "within the period", source("a"), "old")
		c.clock.turn(1)
		c.expectList(t, "after the period", source("a"), "old")
		synctest.Wait()
		c.expectList(t, "after the refresh", source("a"), "new")
		if n := c.requestCount("a"); n != 2 {
			t.Errorf("the provider was asked %d times", n)
		}
	})
}

func TestNames_LastListStaysWhileTheProviderIsDown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("a", nil, "m")
		c.expectList(t, "first", source("a"), "m")
		c.set("a", errors.New("connection refused"))
		for range 3 {
			c.clock.turn(period)
			c.expectList(t, "down", source("a"), "m")
			synctest.Wait()
		}
		c.expectList(t, "down", source("a"), "m")
		c.set("a", nil, []string{}...)
		c.clock.turn(period)
		c.expectList(t, "back", source("a"), "m")
		synctest.Wait()
		c.expectList(t, "back without models", source("a"))
		text := c.log.String()
		if strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, `msg="cannot read the model list of a provider; using the previous list" provider=@a workspace=w models=1 error="connection refused"`) {
			t.Error(text)
		}
		if strings.Count(text, "level=INFO") != 1 || !strings.Contains(text, `msg="model list of a provider restored" provider=@a`) {
			t.Error(text)
		}
	})
}

func TestNames_ChangedProviderIsAskedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("a", nil, "old")
		c.expectList(t, "first", source("a"), "old")
		c.set("a", nil, "new")
		changed := source("a")
		changed.Version = sha256.Sum256([]byte("2"))
		c.expectList(t, "changed", changed, "new")
		if n := c.Len(); n != 1 {
			t.Errorf("%d lists are cached", n)
		}
	})
}

func TestRetain_ForgetsDeletedProviders(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		c.set("a", nil, "m")
		c.set("b", nil, "m")
		c.names(t, source("a"), source("b"))
		c.Retain(func(s modellist.Source) bool { return s.Provider != "a" })
		if n := c.Len(); n != 1 {
			t.Errorf("%d lists are cached", n)
		}
		waiting := make(chan [][]string)
		go func() { waiting <- c.Names(t.Context(), []modellist.Source{source("silent")}) }()
		synctest.Wait()
		began := time.Now()
		c.Retain(func(modellist.Source) bool { return false })
		if got := <-waiting; got[0] != nil || time.Since(began) != 0 {
			t.Errorf("who waited for a deleted provider got %q after %s", got, time.Since(began))
		}
	})
}

func TestNames_CacheIsBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		for i := range modellist.MaxLists + 10 {
			c.set(fmt.Sprint("p", i), nil, "m")
			c.names(t, source(fmt.Sprint("p", i)))
		}
		last := fmt.Sprint("p", modellist.MaxLists)
		if n := c.requestCount(last); n != 0 || c.Len() != modellist.MaxLists {
			t.Errorf("the provider after the last was asked %d times, %d lists are cached", n, c.Len())
		}
		if text := c.log.String(); strings.Count(text, "model list cache is full") != 1 {
			t.Error(text)
		}
		c.clock.turn(time.Hour)
		c.expectList(t, "when the others are idle", source(last), "m")
		if c.Len() != modellist.MaxLists {
			t.Errorf("%d lists are cached", c.Len())
		}
	})
}

func TestRun_ReadsAFewListsAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cache) {
		var sources []modellist.Source
		for i := range 50 {
			sources = append(sources, source(fmt.Sprint("silent", i)))
		}
		if _, took := c.names(t, sources...); took != wait {
			t.Errorf("waited %s", took)
		}
		if n := c.atOnce(); n != 8 {
			t.Errorf("%d lists were read at once", n)
		}
	})
}

func TestRun_OutlivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var log bytes.Buffer
		l := modellist.New(modellist.Options{
			Read:   func(context.Context, modellist.Source) ([]string, error) { panic("broken dialect") },
			Period: period, Wait: wait, Timeout: time.Second, Clock: &clock{now: time.Now()}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		for _, got := range l.Names(ctx, []modellist.Source{source("a"), source("b")}) {
			if got != nil {
				t.Errorf("%q", got)
			}
		}
		stop()
		<-ended
		if !strings.Contains(log.String(), "broken dialect") {
			t.Error(log.String())
		}
	})
}

func TestNames_ListsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	var many, large []string
	for i := range 2000 {
		many = append(many, fmt.Sprint("m", i))
		large = append(large, fmt.Sprintf("%0250d", i))
	}
	for name, c := range map[string]struct{ sent, want []string }{
		"each name once":        {[]string{"a", "b", "a"}, []string{"a", "b"}},
		"unusable names":        {[]string{"", "a\nb", "a\x00", "\xff", long + "x", long, "org/model:tag@1"}, []string{long, "org/model:tag@1"}},
		"number of models":      {many, many[:1000]},
		"size of all together":  {large, large[:64<<10/250]},
		"an empty list is read": {[]string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *cache) {
				r.set("a", nil, c.sent...)
				got, _ := r.names(t, source("a"))
				if !slices.Equal(got[0], c.want) {
					t.Errorf("%d models: %.80q…, want %d", len(got[0]), got[0], len(c.want))
				}
			})
		})
	}
}
