package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// books is what the gateway says about a key.
type books struct {
	used     int64   // of its budget, in nano-dollars
	policies []int64 // of the budget that it has of each policy
	entries  []entry
}

// entry is an attempt in the request log.
type entry struct {
	id            string
	number        int // of the call; 0: a crash left only its bound
	requestID     string
	state         string
	input, out    int64 // tokens
	cost, maxCost int64 // nano-dollars
	priced        bool
}

// call is the number of the call that an entry is about. Its bound is what its longest
// answer costs, and a little for its input.
func (e *entry) call(p price) int {
	if e.number > 0 {
		return e.number
	}
	return int(e.maxCost / (p.out * lengthStep))
}

// costs reports whether an entry costs what its tokens do at one of some prices.
func (e *entry) costs(w work, prices []price) bool {
	return slices.ContainsFunc(prices, func(p price) bool { return e.cost == p.cost(w) })
}

// change is what a re-rating did to an entry, in nano-dollars.
type change struct {
	operation     string
	before, after int64
}

// judgeChanges returns what is wrong with the corrections of an entry, the oldest first:
// each goes on from the one before, none was made twice, and the last is what holds.
func judgeChanges(e *entry, changes []change) string {
	for i, c := range changes {
		switch {
		case c.before == c.after:
			return fmt.Sprintf("a correction that changes nothing: %+v of %+v", changes, *e)
		case slices.ContainsFunc(changes[:i], func(o change) bool { return o.operation == c.operation }):
			return fmt.Sprintf("corrected twice by one re-rating: %+v of %+v", changes, *e)
		case i > 0 && c.before != changes[i-1].after:
			return fmt.Sprintf("a correction that does not follow the one before: %+v of %+v", changes, *e)
		}
	}
	if n := len(changes); n > 0 && changes[n-1].after != e.cost {
		return fmt.Sprintf("another cost than the last correction says: %+v of %+v", changes, *e)
	}
	return ""
}

// The states of a line of the ledger, as the request log has them.
const (
	settled  = "settled"
	unknown  = "unknown"
	released = "released"
)

// truth is what really happened with a key.
type truth struct {
	prices []price // there may have been, of which only the input differs
	limit  int64   // nano-dollars
	calls  map[int]call
	served map[int]work // what the upstream did, also for other keys
}

// judge returns what is wrong with the books, nothing when all is well.
func (t *truth) judge(b books) (wrong []string) {
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	byNumber, requests, sum := map[int]*entry{}, map[string]bool{}, int64(0)
	minimum, maximum := t.span()
	var corrected int64 // what re-rating may have added behind the limit
	for i := range b.entries {
		e := &b.entries[i]
		n := e.call(minimum)
		switch {
		case requests[e.requestID]:
			report("request %s is in the log twice", e.requestID)
		case byNumber[n] != nil:
			report("call %d is in the log twice, as requests %s and %s", n, byNumber[n].requestID, e.requestID)
		}
		if _, made := t.calls[n]; !made {
			report("nobody made call %d of request %s: %+v", n, e.requestID, *e)
		}
		if !e.priced {
			report("call %d has no cost", n)
		}
		byNumber[n], requests[e.requestID] = e, true
		sum += e.cost
		corrected += e.input * (maximum.input - minimum.input)
	}
	var real int64
	for n, c := range t.calls {
		w, wasServed := t.served[n]
		if wasServed {
			real += minimum.cost(w)
		}
		if fault := t.judgeCall(&c, byNumber[n], w, wasServed); fault != "" {
			report("call %d: %s", n, fault)
		}
	}
	if b.used != sum {
		report("the budget has %d used, the log comes to %d", b.used, sum)
	}
	for i, used := range b.policies {
		if used != sum {
			report("policy %d has %d used, the log comes to %d", i, used, sum)
		}
	}
	if max(b.used, real) > t.limit+corrected {
		report("the budget of %d was passed: %d by the books, %d by the upstream", t.limit, b.used, real)
	}
	return wrong
}

// span is the lowest price and the highest.
func (t *truth) span() (minimum, maximum price) {
	byIn := func(a, b price) int { return cmp.Compare(a.input, b.input) }
	return slices.MinFunc(t.prices, byIn), slices.MaxFunc(t.prices, byIn)
}

// judgeCall returns what is wrong with the entry of a call, if it has one.
func (t *truth) judgeCall(c *call, e *entry, w work, wasServed bool) string {
	minimum, _ := t.span()
	cost := minimum.cost(w)
	switch {
	case w.times > 1:
		return fmt.Sprintf("the upstream was asked %d times", w.times)
	case e == nil && (wasServed || c.result != incomplete):
		return fmt.Sprintf("missing in the log; the upstream was asked: %t, the caller saw: %d", wasServed, c.result)
	case e == nil:
		return ""
	case c.result == answered && !w.complete:
		return "answered, though the upstream never wrote the whole answer"
	case c.result != incomplete && e.requestID != c.requestID:
		return fmt.Sprintf("logged as request %s, answered as %s", e.requestID, c.requestID)
	case c.result == refused:
		return expect(!wasServed && e.cost == 0, "refused, but the upstream was asked or it cost something: %+v", e)
	case e.state == settled:
		return expect(e.costs(w, t.prices) && e.input == w.input && e.out == w.out && cost <= e.maxCost, "the upstream served %d and %d tokens, which cost %d at least, at prices of %+v: %+v", w.input, w.out, cost, t.prices, e)
	case c.result == answered:
		return fmt.Sprintf("answered, and not settled: %+v", *e)
	case e.state == unknown:
		return expect(e.cost == e.maxCost && e.cost >= cost, "the upstream served what costs %d at least: %+v", cost, e)
	case wasServed:
		return fmt.Sprintf("the upstream was asked, which no line says: %+v", *e)
	}
	return expect(e.cost == 0 && (e.state == released || e.state == ""), "never sent, and yet: %+v", e)
}

// expect words what is wrong unless holds; the entry is the last argument.
func expect(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// nano is an amount of the API in nano-dollars.
func nano(amount, unit float64) int64 { return int64(math.Round(amount * unit)) }

// mismatch is books that are wrong.
type mismatch struct {
	epoch int
	key   string
	what  []string
}

func (m *mismatch) Error() string {
	const maximum = 20
	text := fmt.Sprintf("epoch %d, key %s: %d differences", m.epoch, m.key, len(m.what))
	return text + "\n  " + strings.Join(m.what[:min(maximum, len(m.what))], "\n  ")
}
