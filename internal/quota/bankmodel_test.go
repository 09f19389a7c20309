package quota_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"sluice/internal/quota"
)

// The limits of the model: two budgets, a rate of tokens and one of requests.
var modelled = [...]quota.Hold{
	hold(0, 100),
	{Counter: quota.CounterID{Carrier: "w", Entry: "b"}, Limit: 60},
	rate(quota.PerMinute, 0, 80),
	requests(quota.PerMinute, 12),
}

// openCalls is how many calls a history has at most.
const openCalls = 64

// bankModel is what a Bank with the limits above is in one thread.
type bankModel struct {
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
	now     time.Duration // behind noon
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

func (m bankModel) take(op operation) (bankModel, outcome) {
	for i, h := range modelled {
		c := &m.counters[i]
		c.roll(h, op.now)
		if left := h.Limit - c.used - c.held; c.used >= h.Limit || op.amounts[i] > left {
			for j := range i {
				m.give(op, j)
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

func (m *bankModel) give(op operation, i int) {
	if c := &m.counters[i]; !modelled[i].Spent && m.taken[op.call][i] == c.window {
		c.held -= op.amounts[i]
	}
}

// settle uses half of what was taken.
func (m bankModel) settle(op operation) bankModel {
	for i := 0; i < len(modelled) && m.open[op.call]; i++ {
		c := &m.counters[i]
		c.roll(modelled[i], op.now)
		if m.give(op, i); !modelled[i].Spent {
			c.used += op.amounts[i] / 2
		}
	}
	m.open[op.call] = false
	return m
}

var linear = porcupine.Model{
	Init: func() any { return bankModel{} },
	Step: func(state, input, output any) (bool, any) {
		m, op := state.(bankModel), input.(operation)
		if op.settle {
			return true, m.settle(op)
		}
		next, got := m.take(op)
		return got == output.(outcome), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// TestLinearisable: what calls at once are answered is what some order of them one behind
// another would have been answered.
func TestLinearisable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		history := record(seed, 4, openCalls/4)
		if result, info := porcupine.CheckOperationsVerbose(linear, history, 20*time.Second); result != porcupine.Ok {
			t.Fatalf("seed %d: %s: %+v", seed, result, info)
		}
	}
}

// record runs callers against a bank and writes down what they asked and were answered.
func record(seed uint64, callers, calls int) []porcupine.Operation {
	b := quota.NewBank()
	var clock, elapsed atomic.Int64
	var mu sync.Mutex // guards history
	var history []porcupine.Operation
	note := func(client int, op operation, f func() any) {
		begin := clock.Add(1)
		out := f()
		end := clock.Add(1)
		mu.Lock()
		history = append(history, porcupine.Operation{ClientId: client, Input: op, Call: begin, Output: out, Return: end})
		mu.Unlock()
	}
	var all sync.WaitGroup
	for client := range callers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			for i := range calls {
				now := time.Duration(elapsed.Add(random.Int64N(4))) * time.Second
				op := operation{call: client*calls + i, now: now, amounts: [...]int64{random.Int64N(40), random.Int64N(30), random.Int64N(30), 1}}
				holds := append([]quota.Hold(nil), modelled[:]...)
				used := make([]int64, len(holds))
				for j := range holds {
					holds[j].Amount, used[j] = op.amounts[j], op.amounts[j]/2
				}
				note(client, op, func() any {
					refused, left, _ := b.Take(noon.Add(op.now), holds)
					return outcome{refused, left}
				})
				op.settle = true
				note(client, op, func() any { b.Settle(noon.Add(op.now), holds, used); return nil })
			}
		})
	}
	all.Wait()
	return history
}
