package load

import (
	"crypto/tls"
	"time"

	"sluice/test/bench/stat"
)

// Job is one load on one target.
type Job struct {
	Addr    string        // "127.0.0.1:8787"
	TLS     *tls.Config   // nil: plain
	Request []byte        // head and body, the same each time
	Next    func() []byte // makes another request each time, in place of Request; many call it at once

	Events int // events with a time in them that an answer must have; 0: it is no stream
	Body   int // length of an answer's body; 0: any

	Conns      int
	Unmeasured int           // requests on each connection that are not measured
	Each       int           // requests on each connection that are; 0: as long as For
	For        time.Duration // measured time
	Rate       float64       // requests a second in all; 0: a closed loop
	Ramp       time.Duration // over which the connections begin; 0: at once
	Limit      time.Duration // after which a whole round counts as hung; never 0
}

// Result is what a Job came to. Its counts are exact: every request that was begun
// was seen to its end.
type Result struct {
	Unmeasured int64            // requests before the measured ones
	Sent       int64            // measured requests
	Failed     int64            // of both
	Failures   map[string]int64 // by what went wrong; at most maxFailures different
	Took       time.Duration
	Latency    *stat.Histogram // of whole answers
	Delay      *stat.Histogram // of a stream's events, from the write at the upstream to the read here
}

// Answered is the number of measured and unmeasured requests that were answered
// as they should be.
func (r *Result) Answered() int64 { return r.Unmeasured + r.Sent - r.Failed }

// PerSecond is the measured throughput.
func (r *Result) PerSecond() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Sent) / r.Took.Seconds()
}
