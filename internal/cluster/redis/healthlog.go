package redis

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// calm is how long all must be well until the log says so: partitions notice one after the
// other what happened to Redis as a whole.
const calm = 2 * time.Second

// healthLog is what the log is told of how it stands with Redis: a line when that gets worse
// and one when all is well again, however many partitions find out.
type healthLog struct {
	log       *slog.Logger
	meanwhile string // what becomes of calls with limits

	mu     sync.Mutex
	out    [partitions]bool // whose part Redis does not know
	logged outageLevel
	well   time.Time // when the last of them came back
}

// outageLevel is how bad it is.
type outageLevel int

const (
	none        outageLevel = iota
	logFailure              // the part of this node has to be stated again
	unreachable             // Redis cannot be asked
)

func newHealthLog(o Options) *healthLog {
	s := &healthLog{log: o.Logger, meanwhile: "calls with limits are rejected"}
	if o.Alone {
		s.meanwhile = "calls continue with this node's counters"
	}
	return s
}

// logFailure notes that an answer did not come, or, where err is nil, that Redis does not know
// what it was told.
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

// logUnreachable notes that Redis cannot be asked.
func (s *healthLog) logUnreachable(partition int, err error) {
	if s.isNewProblem(partition, unreachable) {
		s.log.Error("limits: cannot check limits across nodes", "partition", partition, "error", err.Error(), "meanwhile", s.meanwhile)
	}
}

// isNewProblem reports whether that is news.
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

// logRestored notes that Redis knows the part of this node.
func (s *healthLog) logRestored(partition int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out[partition] {
		s.out[partition], s.well = false, time.Now()
	}
}

// run tells when all is well again, until ctx ends.
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

// checkRecovered reports whether trouble that was told has come to its end.
func (s *healthLog) checkRecovered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == none || s.out != [partitions]bool{} || time.Since(s.well) < calm {
		return false
	}
	s.logged = none
	return true
}
