package journal

import "time"

// A consumer that processes a second's backlog in one burst occupies a core, which delays
// callers. So it pauses after each slice, unless its lag is so large that catching up matters
// more.
const (
	slice      = 128              // entries
	rest       = time.Millisecond // after each: half as long again as a slice takes
	catchUpLag = 50_000           // entries
)

// throttled pauses between the slices of what it visits.
func (sc *scanner) throttled(visit func(frame) bool) func(frame) bool {
	n := 0
	return func(f frame) bool {
		if n++; n%slice == 0 && sc.files.isNearTail(f.seq) {
			time.Sleep(rest)
		}
		return visit(f)
	}
}

// isNearTail reports whether an entry is one of the last of a journal that is being written.
func (set *segmentSet) isNearTail(seq uint64) bool {
	set.mu.Lock()
	defer set.mu.Unlock()
	return set.running && set.lag(seq) < catchUpLag
}
