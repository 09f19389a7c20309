package main

import (
	"strings"
	"testing"
)

// Corrections that do not follow one from the other are found.
func TestJudgeChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes []change
		want    string
	}{
		"none":               {nil, ""},
		"one after another":  {[]change{{"x", 900, 700}, {"y", 700, 500}}, ""},
		"twice":              {[]change{{"x", 900, 700}, {"x", 700, 500}}, "corrected twice"},
		"nothing":            {[]change{{"x", 500, 500}}, "changes nothing"},
		"one is missing":     {[]change{{"x", 900, 700}, {"y", 600, 500}}, "does not follow"},
		"the last is not it": {[]change{{"x", 900, 700}}, "another cost"},
	} {
		got := judgeChanges(&entry{cost: 500}, c.changes)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Every kind of wrong book is found, and right ones are not.
func TestJudge(t *testing.T) {
	t.Parallel()
	// Call 1 was answered, 2 refused, 3 cut off at the upstream, 4 before it.
	const maxCost3, maxCost4 = 3_000_400, 4_000_400
	cases := []struct {
		name  string
		spoil func(*truth, *books)
		want  string // in what is said; empty: nothing is wrong
	}{
		{"right", func(*truth, *books) {}, ""},
		{"no line for a call that never came through", func(_ *truth, b *books) { b.entries = b.entries[:3]; b.used -= maxCost4 }, ""},
		{"released where nothing was sent", func(_ *truth, b *books) {
			b.entries[3] = entry{number: 4, requestID: "d", state: released, priced: true}
			b.used -= maxCost4
		}, ""},
		{"settled though the caller saw nothing", func(_ *truth, b *books) {
			b.entries[2] = entry{number: 3, requestID: "c", state: settled, input: 10, out: 30, cost: 301_000, maxCost: maxCost3, priced: true}
			b.used += 301_000 - maxCost3
		}, ""},
		{"an answered call is missing", func(_ *truth, b *books) { b.entries = b.entries[1:]; b.used -= 501_000 }, "call 1: missing"},
		{"a call in flight is missing", func(_ *truth, b *books) {
			b.entries = append(b.entries[:2], b.entries[3])
			b.used -= maxCost3
		}, "call 3: missing"},
		{"a request twice", func(_ *truth, b *books) { b.entries = append(b.entries, b.entries[0]); b.used += 501_000 }, "request a is in the log twice"},
		{"a call twice", func(_ *truth, b *books) {
			b.entries = append(b.entries, b.entries[2])
			b.entries[4].requestID = "e"
			b.used += maxCost3
		}, "call 3 is in the log twice"},
		{"a call that nobody made", func(_ *truth, b *books) {
			b.entries[3].maxCost, b.entries[3].cost = 7_000_400, 7_000_400
			b.used += 3_000_000
		}, "nobody made call 7"},
		{"billed at a price of before", func(_ *truth, b *books) { b.entries[0].cost -= 100; b.used -= 100 }, ""},
		{"raised above the limit by a re-rating", func(w *truth, b *books) { w.limit = b.used - 100 }, ""},
		{"another request id", func(_ *truth, b *books) { b.entries[0].requestID = "z" }, "answered as a"},
		{"another cost", func(_ *truth, b *books) { b.entries[0].cost++; b.used++ }, "which cost 500900 at least"},
		{"no cost", func(_ *truth, b *books) { b.entries[1].priced = false }, "no cost"},
		{"answered, and not settled", func(_ *truth, b *books) { b.entries[0].state = "estimated" }, "answered, and not settled"},
		{"released though the upstream was asked", func(_ *truth, b *books) {
			b.entries[2].state, b.entries[2].cost = released, 0
			b.used -= maxCost3
		}, "which no line says"},
		{"an unknown line below its bound", func(_ *truth, b *books) { b.entries[2].cost--; b.used-- }, "call 3: the upstream served"},
		{"a bound below what was served", func(w *truth, _ *books) { w.served[3] = work{input: 10, out: 400, times: 1} }, "call 3: the upstream served"},
		{"a refused call that cost something", func(_ *truth, b *books) { b.entries[1].cost = 5; b.used += 5 }, "call 2: refused, but"},
		{"an answer that nobody wrote", func(w *truth, _ *books) { w.served[1] = work{input: 10, out: 50, times: 1} }, "never wrote"},
		{"asked twice", func(w *truth, _ *books) { w.served[1] = work{input: 10, out: 50, times: 2} }, "asked 2 times"},
		{"a sum that is another", func(_ *truth, b *books) { b.used-- }, "the log comes to"},
		{"policies that say the same", func(_ *truth, b *books) { b.policies = []int64{b.used, b.used} }, ""},
		{"a policy that says less", func(_ *truth, b *books) { b.policies = []int64{b.used, b.used - 1} }, "policy 1 has"},
		{"a budget that was passed", func(w *truth, _ *books) { w.limit = 1_000_000 }, "was passed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := truth{
				prices: []price{{input: 100, out: 10_000}, {input: 90, out: 10_000}}, limit: 10_000_000,
				calls: map[int]call{
					1: {number: 1, result: answered, requestID: "a"}, 2: {number: 2, result: refused, requestID: "b"},
					3: {number: 3}, 4: {number: 4},
				},
				served: map[int]work{1: {input: 10, out: 50, times: 1, complete: true}, 3: {input: 10, out: 30, times: 1}},
			}
			b := books{used: 501_000 + maxCost3 + maxCost4, entries: []entry{
				{number: 1, requestID: "a", state: settled, input: 10, out: 50, cost: 501_000, maxCost: 1_000_400, priced: true},
				{number: 2, requestID: "b", priced: true},
				{requestID: "c", state: unknown, cost: maxCost3, maxCost: maxCost3, priced: true},
				{requestID: "d", state: unknown, cost: maxCost4, maxCost: maxCost4, priced: true},
			}}
			c.spoil(&w, &b)
			wrong := w.judge(b)
			if c.want == "" && len(wrong) > 0 || c.want != "" && !strings.Contains(strings.Join(wrong, "\n"), c.want) {
				t.Errorf("%q, want %q", wrong, c.want)
			}
		})
	}
}
