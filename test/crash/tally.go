package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// tally is what came out of a campaign.
type tally struct {
	engine   string
	seed     uint64
	runs     map[string]int // by the name of the moment
	starts   int            // that were killed before they had ended
	counts   counts
	ordered  int // re-ratings
	finished int // those of them that were answered
	changed  int // attempts that these corrected
	restarts []time.Duration
}

// add counts a run that was right.
func (t *tally) add(m moment, n counts) {
	if t.runs == nil {
		t.runs = map[string]int{}
	}
	t.runs[m.name]++
	t.starts += len(m.again)
	t.counts = counts{t.counts.answered + n.answered, t.counts.refused + n.refused, t.counts.incomplete + n.incomplete}
}

func (t *tally) String() string {
	total, kinds := 0, make([]string, 0, len(t.runs))
	for _, name := range slices.Sorted(maps.Keys(t.runs)) {
		total += t.runs[name]
		kinds = append(kinds, fmt.Sprintf("%s %d", name, t.runs[name]))
	}
	return fmt.Sprintf("%s, seed %d: %d runs (%s), %d kills of a start; %d calls answered, %d refused, %d cut off; %d re-ratings, %d of them answered, with %d corrections; restart %s",
		t.engine, t.seed, total, strings.Join(kinds, ", "), t.starts, t.counts.answered, t.counts.refused, t.counts.incomplete, t.ordered, t.finished, t.changed, spread(t.restarts))
}

// spread is the middle and the end of some durations.
func spread(d []time.Duration) string {
	if len(d) == 0 {
		return "never"
	}
	s := slices.Sorted(slices.Values(d))
	return fmt.Sprintf("median %s, at most %s", s[len(s)/2].Round(time.Millisecond), s[len(s)-1].Round(time.Millisecond))
}
