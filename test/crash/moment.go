package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// stage is where a call is.
type stage string

// The stages of a call at which the gateway is killed. Each lies on another side of a
// write: of the reserved line, of the answer, of the record that closes the line.
const (
	dialled   stage = "dialled"  // reserved, the connection to the upstream is there, nothing is sent
	requested stage = "asked"    // the upstream has the request
	streaming stage = "half"     // the upstream has written half of the answer
	served    stage = "served"   // the upstream has written all of it
	received  stage = "received" // the caller has all of it
)

// The stages of a re-rating, by what it writes to the journal: a mark, a correction for
// each attempt, and a mark again, behind which it waits for the log to have them.
const (
	marked    stage = "marked"
	corrected stage = "corrected"
	reRated   stage = "re-rated" // whoever ordered it has the answer; budgets follow
)

// moment is when the gateway is killed.
type moment struct {
	name  string
	stage stage           // with nth: at this stage of the n-th call that comes to it
	nth   int             // from 1; 0: by the clock alone
	after time.Duration   // since the load began: then at the latest
	again []time.Duration // kills of the starting gateway, since it was launched
	order time.Duration   // since the load began: then a re-rating is ordered; below 0: none is
}

// The windows of the kills by the clock.
const (
	longestLoad        = 1100 * time.Millisecond
	latest             = 1500 * time.Millisecond // where a stage was not come to
	usageFlushInterval = time.Second             // the interval of the sums, from the first call on
	usageFlushWindow   = 150 * time.Millisecond
	startWindow        = 700 * time.Millisecond
	orderWindow        = 600 * time.Millisecond
	longestOrder       = 4 * time.Second // until a re-rating has come to a stage
)

// stages are those of moments, in turn.
var stages = [...]stage{dialled, requested, streaming, served, received}

// moment draws when the gateway is killed next, and whether a re-rating is under way.
func (c *campaign) moment(r *rand.Rand) moment {
	m := callMoment(r)
	switch n := r.IntN(10); {
	case n < 3:
		return reRatingMoment(r)
	case n < 7:
		m.order = time.Duration(r.Int64N(int64(orderWindow)))
	default:
		m.order = -1
	}
	return m
}

// reRatingMoment draws a stage of a re-rating.
func reRatingMoment(r *rand.Rand) moment {
	m := moment{after: longestOrder, order: time.Duration(r.Int64N(int64(orderWindow)))}
	switch r.IntN(6) {
	case 0:
		m.name, m.stage, m.nth = "re-rating begun", marked, 1
	case 1:
		m.name, m.stage, m.nth = "all corrected", marked, 2
	case 2:
		m.name, m.stage, m.nth = string(reRated), reRated, 1
	default:
		m.name, m.stage, m.nth = string(corrected), corrected, 1+r.IntN(200)
	}
	return m
}

// callMoment draws an instant, or a stage of a call.
func callMoment(r *rand.Rand) moment {
	switch n := r.IntN(10); {
	case n < 4:
		return moment{name: "by the clock", after: time.Duration(r.Int64N(int64(longestLoad)))}
	case n < 7:
		s := stages[r.IntN(len(stages))]
		return moment{name: string(s), stage: s, nth: 1 + r.IntN(80), after: latest}
	case n < 8:
		return moment{name: "sums", after: usageFlushInterval + time.Duration(r.Int64N(int64(usageFlushWindow)))}
	}
	m := moment{name: "starting", after: time.Duration(r.Int64N(int64(longestLoad)))}
	for range 1 + r.IntN(3) {
		m.again = append(m.again, time.Duration(r.Int64N(int64(startWindow))))
	}
	return m
}

func (m moment) String() string {
	switch {
	case m.nth > 0:
		return fmt.Sprintf("killed at %s, number %d", m.stage, m.nth)
	case len(m.again) > 0:
		return fmt.Sprintf("killed after %s, and starting after %s", m.after, m.again)
	}
	return fmt.Sprintf("killed after %s", m.after)
}
