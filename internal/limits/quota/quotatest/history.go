// Package quotatest checks that calls at once are answered by a bank of limits as some
// order of them one behind another would have been: for one bank and for many that share
// what they count.
package quotatest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"sluice/internal/limits/quota"
)

// Limiter is what is checked: *quota.Bank, *redis.Bank.
type Limiter interface {
	Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error)
	Settle(now time.Time, holds []quota.Hold, used []int64)
}

// noon is when histories begin.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// checkLimit bounds the search for an order.
const checkLimit = 20 * time.Second

// The limits of the model: two budgets, a rate of tokens and one of requests.
var modelled = [...]quota.Hold{
	{Counter: quota.CounterID{Subject: "k", Entry: "b"}, Measure: quota.Cost, Limit: 100},
	{Counter: quota.CounterID{Subject: "w", Entry: "b"}, Limit: 60},
	{Counter: quota.CounterID{Subject: "k", Entry: quota.RateEntry(quota.Tokens, quota.PerMinute)}, Measure: quota.TokenCount, Limit: 80, Unit: quota.PerMinute},
	{Counter: quota.CounterID{Subject: "k", Entry: quota.RateEntry(quota.Requests, quota.PerMinute)}, Measure: quota.Calls, Limit: 12, Unit: quota.PerMinute, Spent: true},
}

// openCalls is how many calls a history has.
const openCalls = 64

// limiterModel is what a Bank with the limits above is in one thread.
type limiterModel struct {
	counters [len(modelled)]counterModel
	taken    [openCalls][len(modelled)]int8 // windows in which a call took its holds
	open     [openCalls]bool
}

type counterModel struct {
	used, held int64
	minute     int64 // at which the window began
	window     int8  // how many there were
}

// operation is a Take, or the Settle of the same call.
type operation struct {
	call    int
	settle  bool
	now     time.Duration // since noon
	amounts [len(modelled)]int64
}

type outcome struct {
	refused int
	left    int64
}

func (c *counterModel) roll(h quota.Hold, now time.Duration) {
	if minute := int64(now / time.Minute); h.Unit != "" && (c.window == 0 || minute > c.minute) {
		*c = counterModel{minute: minute, window: c.window + 1}
	}
}

func (m limiterModel) take(op operation) (limiterModel, outcome) {
	for i, h := range modelled {
		c := &m.counters[i]
		c.roll(h, op.now)
		if left := h.Limit - c.used - c.held; c.used >= h.Limit || op.amounts[i] > left {
			for j := range i {
				m.refund(op, j)
			}
			return m, outcome{i, max(left, 0)}
		}
		if m.taken[op.call][i] = c.window; h.Spent {
			c.used += op.amounts[i]
		} else {
			c.held += op.amounts[i]
		}
	}
	m.open[op.call] = true
	return m, outcome{-1, 0}
}

func (m *limiterModel) refund(op operation, i int) {
	if c := &m.counters[i]; !modelled[i].Spent && m.taken[op.call][i] == c.window {
		c.held -= op.amounts[i]
	}
}

// settle uses half of what was taken.
func (m limiterModel) settle(op operation) limiterModel {
	for i := 0; i < len(modelled) && m.open[op.call]; i++ {
		c := &m.counters[i]
		c.roll(modelled[i], op.now)
		if m.refund(op, i); !modelled[i].Spent {
			c.used += op.amounts[i] / 2
		}
	}
	m.open[op.call] = false
	return m
}

var linear = porcupine.Model{
	Init: func() any { return limiterModel{} },
	Step: func(state, input, output any) (bool, any) {
		m, op := state.(limiterModel), input.(operation)
		if op.settle {
			return true, m.settle(op)
		}
		next, got := m.take(op)
		return got == output.(outcome), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// History is how calls are made.
type History struct {
	Seed           uint64
	Org            string    // its counters are those of no other history
	Limiters       []Limiter // callers use them in turn
	Callers        int       // at once
	MaxStepSeconds int64     // most seconds that go by between two steps; 0: time stands still
	// AwaitSync waits until what was settled is known to all banks; nil where it is at once.
	AwaitSync func(Limiter)
}

// Check makes the calls of a history and looks for an order of them.
func Check(t testing.TB, h History) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(linear, h.record(t), checkLimit)
	if result != porcupine.Ok {
		t.Fatalf("seed %d: %s: %v", h.Seed, result, info.PartialLinearizationsOperations())
	}
}

// recorder writes down what callers ask and are answered.
type recorder struct {
	clock   atomic.Int64
	mu      sync.Mutex // guards history
	history []porcupine.Operation
}

func (r *recorder) note(client int, op operation, f func() any) {
	begin := r.clock.Add(1)
	out := f()
	end := r.clock.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: op, Call: begin, Output: out, Return: end})
}

// record runs the callers.
func (h *History) record(t testing.TB) []porcupine.Operation {
	var r recorder
	var elapsed atomic.Int64
	var all sync.WaitGroup
	for client := range h.Callers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(h.Seed, uint64(client)))
			for i := range openCalls / h.Callers {
				now := elapsed.Load()
				if h.MaxStepSeconds > 0 {
					now = elapsed.Add(random.Int64N(h.MaxStepSeconds + 1))
				}
				h.call(t, &r, client, operation{
					call: client*(openCalls/h.Callers) + i, now: time.Duration(now) * time.Second,
					amounts: [...]int64{1 + random.Int64N(40), 1 + random.Int64N(30), random.Int64N(30), 1},
				})
			}
		})
	}
	all.Wait()
	return r.history
}

// call takes and settles once.
func (h *History) call(t testing.TB, r *recorder, client int, op operation) {
	limiter := h.Limiters[client%len(h.Limiters)]
	holds := append([]quota.Hold(nil), modelled[:]...)
	used := make([]int64, len(holds))
	for i := range holds {
		holds[i].Org, holds[i].Counter.Subject = h.Org, holds[i].Counter.Subject+h.Org
		holds[i].Amount, used[i] = op.amounts[i], op.amounts[i]/2
	}
	r.note(client, op, func() any {
		refused, left, _, err := limiter.Reserve(context.Background(), noon.Add(op.now), holds)
		if err != nil {
			t.Error(err)
		}
		return outcome{refused, left}
	})
	op.settle = true
	r.note(client, op, func() any {
		limiter.Settle(noon.Add(op.now), holds, used)
		if h.AwaitSync != nil {
			h.AwaitSync(limiter)
		}
		return nil
	})
}
