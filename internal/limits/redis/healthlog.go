package redis

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// calm is how long all partitions must be healthy until that is logged, because partitions
// detect a problem of Redis one after another.
const calm = 2 * time.Second

// healthLog logs changes in Redis health: one line when it degrades and one when it recovers,
// however many partitions detect it.
type healthLog struct {
	log       *slog.Logger
	meanwhile string // what happens to calls with limits

	mu     sync.Mutex
	out    [partitions]bool // partitions for which Redis does not have the share of this node
	logged outageLevel
	well   time.Time // when the last of them recovered
}

// outageLevel is the severity of an outage.
type outageLevel int

const (
	none        outageLevel = iota
	logFailure              // this node has to report its share again
	unreachable             // Redis cannot be reached
)

func newHealthLog(o Options) *healthLog {
	s := &healthLog{log: o.Logger, meanwhile: "calls with limits are rejected"}
	if o.Alone {
		s.meanwhile = "calls continue with this node's counters"
	}
	return s
}

// logFailure records that a response is missing or, if err is nil, that Redis lost the
// reported counters.
func (s *healthLog) logFailure(partition int, err error) {
	if !s.isNewProblem(partition, logFailure) {
		return
	}
	if err == nil {
		s.log.Warn("limits: redis lost this node's counters; resending them", "partition", partition)
		return
	}
	s.log.Warn("limits: no response from redis; resending counters", "partition", partition, "error", err.Error())
}

// logUnreachable records that Redis cannot be reached.
func (s *healthLog) logUnreachable(partition int, err error) {
	if s.isNewProblem(partition, unreachable) {
		s.log.Error("limits: cannot check limits across nodes", "partition", partition, "error", err.Error(), "meanwhile", s.meanwhile)
	}
}

// isNewProblem reports whether the problem was not logged yet.
func (s *healthLog) isNewProblem(partition int, t outageLevel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[partition] = true
	if t <= s.logged {
		return false
	}
	s.logged = t
	return true
}

// logRestored records that Redis has the share of this node.
func (s *healthLog) logRestored(partition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out[partition] {
		s.out[partition], s.well = false, time.Now()
	}
}

// run logs recoveries until ctx ends.
func (s *healthLog) run(ctx context.Context) error {
	tick := time.NewTicker(calm / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if s.checkRecovered() {
			s.log.Info("limits: checks across nodes restored")
		}
	}
}

// checkRecovered reports whether a logged outage is over.
func (s *healthLog) checkRecovered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == none || s.out != [partitions]bool{} || time.Since(s.well) < calm {
		return false
	}
	s.logged = none
	return true
}
