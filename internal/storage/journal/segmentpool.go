package journal

import (
	"fmt"
	"os"
	"time"
)

// segmentPool provides the segments that the appender writes. It creates their files, ahead of need
// while Run runs, and takes back consumed files (reuse.go). It bounds the size of all files.
// Its fields from preallocated on are guarded by segmentSet.mu.
type segmentPool struct {
	o     *Options
	files *segmentSet
	wake  wakeup

	preallocated     []*segment // created before they are needed, or used before
	idlePreallocated int        // how many of them, at the front, were not needed since dropSpares
	number           uint64     // of the next file
	refusal          error      // why entries are rejected at present
	createError      error      // why no file could be created
	retry            time.Time  // no new file is tried before this time
}

// retryAfter is the delay before a failed file creation is retried. Appends fail
// immediately until then.
const retryAfter = time.Second

// prepare creates the preallocated file without holding mu, so that appends do not wait.
func (p *segmentPool) prepare() {
	p.files.mu.Lock()
	if len(p.preallocated) > 0 || p.files.closed || p.full() || p.o.Clock.Now().Before(p.retry) {
		p.files.mu.Unlock()
		return
	}
	number := p.number
	p.number++
	p.files.mu.Unlock()

	s, err := createSegment(p.o.Dir, number, p.o.SegmentBytes, true)

	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	switch {
	case err != nil:
		if p.createError == nil {
			p.o.Logger.Error("cannot create journal segment; retrying", "error", err)
		}
		p.fail(err)
	case p.files.closed:
		s.release()
		_ = os.Remove(s.path) // the next Open removes it otherwise
	default:
		p.grown()
		p.preallocated = append(p.preallocated, s)
	}
}

// full reports whether one more segment would exceed Options.MaxBytes. Callers hold segmentSet.mu.
func (p *segmentPool) full() bool { return p.files.size()+p.o.SegmentBytes > p.o.MaxBytes }

// fail records that a file could not be created. Callers hold segmentSet.mu.
func (p *segmentPool) fail(err error) {
	p.retry = p.o.Clock.Now().Add(retryAfter)
	p.createError = fmt.Errorf("%w: %w", ErrFull, err)
	p.wake.send()
}

// leavesToRun reports whether only Run may retry the creation of a file. On a full disk an
// attempt can take long, and all appends would wait for it. Without Run the next append
// retries, at most once in retryAfter. Callers hold segmentSet.mu.
func (p *segmentPool) leavesToRun() bool {
	return p.createError != nil && (p.files.running || p.o.Clock.Now().Before(p.retry))
}

// grow creates a file immediately. Callers hold segmentSet.mu.
func (p *segmentPool) grow() (*segment, error) {
	s, err := createSegment(p.o.Dir, p.number, p.o.SegmentBytes, false)
	p.number++
	if err != nil {
		p.fail(err)
		return nil, p.createError
	}
	p.grown()
	return s, nil
}

// grown clears the recorded creation failure. Callers hold segmentSet.mu.
func (p *segmentPool) grown() {
	if p.createError != nil {
		p.o.Logger.Info("journal segment creation restored")
	}
	p.createError, p.refusal = nil, nil
}

func (p *segmentPool) isStuck() bool {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	return p.createError != nil
}
