package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/test/upstream"
)

// pinRig is a rig with two targets, whose statuses and clock a test sets.
type pinRig struct {
	*rig
	clock  *movedClock
	mu     sync.Mutex // guards status
	status map[string]int
}

// movedClock is the time plus what a test added.
type movedClock struct{ added atomic.Int64 }

func (c *movedClock) Now() time.Time { return ident.System{}.Now().Add(time.Duration(c.added.Load())) }

func newPinRig(t *testing.T) *pinRig {
	r := &pinRig{rig: newRig(t), clock: new(movedClock), status: map[string]int{}}
	r.gateway.Clock, r.gateway.Engine = r.clock, routing.NewEngine(r.clock, rand.Float64)
	r.gateway.Reassemble()
	for _, name := range []string{"a", "b"} {
		r.up.Handle("/"+name+"/v1/messages", func(s upstream.Seen) *upstream.Response {
			r.mu.Lock()
			defer r.mu.Unlock()
			out := upstream.JSON(200, []byte(strings.Replace(fmt.Sprintf(messageWithCache, 0, 2000), `"text":"ok"`, `"text":"from `+name+`"`, 1)))
			if status := r.status[name]; status != 0 {
				out = upstream.JSON(status, []byte(`{"type":"error","error":{"type":"api_error","message":"no"}}`))
			}
			return &out
		})
	}
	return r
}

func (r *pinRig) set(name string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status[name] = status
}

// twoTargets is a config that uses targets a and b in turn.
const twoTargets = `{"provider_cache":"auto","strategy":{"mode":"loadbalance","policy":"round_robin"},"targets":[` +
	`{"weight":1,"provider":"anthropic","api_key":"k","custom_host":"HOST/a/v1"},{"weight":1.0,"provider":"anthropic","api_key":"k","custom_host":"HOST/b/v1"}]}`

// ask makes a call of a session and returns the target that answered.
func (r *pinRig) ask(config, session string, headers ...string) string {
	r.t.Helper()
	headers = append([]string{"x-gateway-config: " + strings.ReplaceAll(config, "HOST", r.up.URL()), "x-session-id: " + session}, headers...)
	a := r.call("POST", "/v1/messages", messagesWithMarks("claude-sonnet-4-5", ""), headers...)
	_, name, ok := strings.Cut(a.Text, `"from `)
	if !ok {
		return fmt.Sprint(a.StatusCode)
	}
	return name[:1]
}

func (r *pinRig) expect(config, session, want string, headers ...string) {
	r.t.Helper()
	if got := r.ask(config, session, headers...); got != want {
		r.t.Errorf("session %q was answered by %s, want %s", session, got, want)
	}
}

// A conversation stays at its target, while others are distributed.
func TestPins_KeepAConversationAtItsTarget(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	for range 3 {
		r.expect(twoTargets, "one", "a")
	}
	for range 3 {
		r.expect(twoTargets, "two", "b")
	}
	r.expect(twoTargets, "one", "a")
	rows := r.journal.some(t, 7)
	if strings.Contains(rows[0].PromptCache, `"pinned":true`) || !strings.Contains(rows[6].PromptCache, `"pinned":true`) {
		t.Errorf("log %s, then %s", rows[0].PromptCache, rows[6].PromptCache)
	}
	r.expect(strings.Replace(twoTargets, "auto", "off", 1), "one", "a")
	r.expect(strings.Replace(twoTargets, "auto", "off", 1), "one", "b")
}

// A conversation that a session does not identify is identified by its beginning, and stays for each
// model.
func TestPins_IdentifyAConversationByItsBeginning(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	r.expect(twoTargets, "", "a")
	r.expect(twoTargets, "", "a")
	model := strings.Replace(twoTargets, "{", `{"default_params":{"temperature":1},`, 1)
	call := func(name, want string) {
		t.Helper()
		a := r.call("POST", "/v1/messages", messagesWithMarks(name, ""), "x-gateway-config: "+strings.ReplaceAll(model, "HOST", r.up.URL()), "x-session-id: s")
		if !strings.Contains(a.Text, "from "+want) {
			t.Errorf("%s: %s", name, a.Text)
		}
	}
	call("claude-sonnet-4-5", "a")
	call("claude-haiku-4-5", "b")
	call("claude-sonnet-4-5", "a")
	call("claude-haiku-4-5", "b")
}

// A pin goes when its target fails or is overloaded: the next call is distributed again. An error that
// is the caller's fault changes nothing.
func TestPins_GoWhenTheirTargetFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		next   string
	}{{429, "b"}, {500, "b"}, {529, "b"}, {401, "b"}, {400, "a"}} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			r := newPinRig(t)
			r.expect(twoTargets, "one", "a")
			r.set("a", c.status)
			r.expect(twoTargets, "one", fmt.Sprint(c.status))
			r.set("a", 0)
			r.expect(twoTargets, "one", c.next)
			r.expect(twoTargets, "one", c.next)
		})
	}
}

// After a fallback, the conversation stays at the target that answered, although the first one is usable
// again.
func TestPins_FollowAFallback(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	fallback := strings.Replace(twoTargets, `"mode":"loadbalance","policy":"round_robin"`, `"mode":"fallback"`, 1)
	r.expect(fallback, "one", "a")
	r.set("a", 529)
	r.expect(fallback, "one", "b")
	r.set("a", 0)
	r.expect(fallback, "one", "b")
	r.expect(fallback, "two", "a")
	r.set("b", 503)
	r.expect(fallback, "one", "a")
	r.set("b", 0)
	r.expect(fallback, "one", "a")
}

// A target that drains, by weight 0 or an open circuit, gets no pinned conversation. Other conversations
// keep their targets when a config is saved again.
func TestPins_LeaveATargetThatDrains(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	r.expect(twoTargets, "one", "a")
	r.expect(twoTargets, "two", "b")
	drained := strings.Replace(twoTargets, `"weight":1,`, `"weight":0,`, 1)
	r.expect(drained, "one", "b")
	r.expect(drained, "two", "b")
	r.expect(twoTargets, "one", "b")

	breaker := strings.Replace(twoTargets, `"policy"`, `"cb_config":{"failure_threshold":1,"cooldown_interval":30000},"policy"`, 1)
	r.expect(breaker, "three", "a")
	r.set("a", 503)
	for range 4 {
		r.ask(breaker, "other "+fmt.Sprint(r.up.Total()))
	}
	r.set("a", 0)
	r.expect(breaker, "three", "b")
}

// A pin goes when the cache time ends: five minutes after the last call, or an hour with a mark of an
// hour.
func TestPins_EndWithTheCacheTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ttl   string
		waits []time.Duration
		want  []string
	}{
		{"", []time.Duration{4 * time.Minute, 4 * time.Minute, 6 * time.Minute}, []string{"a", "a", "b"}},
		{"1h", []time.Duration{50 * time.Minute, 50 * time.Minute, 61 * time.Minute}, []string{"a", "a", "b"}},
	} {
		t.Run("ttl "+c.ttl, func(t *testing.T) {
			t.Parallel()
			r := newPinRig(t)
			ask := func() string {
				a := r.call("POST", "/v1/messages", messagesWithMarks("claude-sonnet-4-5", c.ttl, 1), "x-gateway-config: "+strings.ReplaceAll(twoTargets, "HOST", r.up.URL()), "x-session-id: s")
				_, name, _ := strings.Cut(a.Text, `"from `)
				return name[:min(1, len(name))]
			}
			ask()
			for i, wait := range c.waits {
				r.clock.added.Add(int64(wait))
				if got := ask(); got != c.want[i] {
					t.Errorf("%v after the call before: %q, want %q", wait, got, c.want[i])
				}
			}
		})
	}
}

// Two keys with one session id share no pin.
func TestPins_AreNotSharedByKeys(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	const other = "sk-other-key-of-the-tests-0000"
	r.dir.add(r.gateway.Hasher, other, access.WorkspaceService, workspace, access.Allowed(access.WorkspaceService)...)
	r.expect(twoTargets, "one", "a")
	r.expect(twoTargets, "one", "b", "x-gateway-api-key: "+other)
	r.expect(twoTargets, "one", "a")
	r.expect(twoTargets, "one", "b", "x-gateway-api-key: "+other)
}

// The prompt_cache_key of a caller reaches the provider as it was sent, and identifies the conversation.
func TestPins_LeaveThePromptCacheKeyAsSent(t *testing.T) {
	t.Parallel()
	r := newPinRig(t)
	for _, name := range []string{"a", "b"} {
		r.up.Handle("/"+name+"/v1/chat/completions", upstream.Always(upstream.JSON(200, []byte(strings.Replace(fmt.Sprintf(promptCaches[0].response, 1500, 0), `"ok"`, `"from `+name+`"`, 1)))))
	}
	config := strings.ReplaceAll(strings.ReplaceAll(twoTargets, "anthropic", "openai"), "HOST", r.up.URL())
	body := `{"model":"gpt-4o-mini","prompt_cache_key":"support-7","messages":[{"role":"user","content":"Hi %d"}]}`
	for i := range 3 {
		sent := fmt.Sprintf(body, i)
		if a := r.call("POST", "/v1/chat/completions", sent, "x-gateway-config: "+config); !strings.Contains(a.Text, "from a") {
			t.Errorf("call %d: %s", i, a.Text)
		}
		if got := string(r.up.Seen()[i].Body); got != sent {
			t.Errorf("sent %s", got)
		}
	}
}
