package journal

import "time"

// A consumer that takes up all that came in a second at once keeps a core from the
// callers for as long, of which they notice every microsecond. So it rests after each
// slice, unless it is so far behind that catching up matters more.
const (
	slice   = 128              // entries
	rest    = time.Millisecond // after each: half as long again as a slice takes
	farBack = 50_000           // entries
)

// gently rests between the slices of what it visits.
func (j *Journal) gently(visit func(frame) bool) func(frame) bool {
	n := 0
	return func(f frame) bool {
		if n++; n%slice == 0 && j.near(f.seq) {
			time.Sleep(rest)
		}
		return visit(f)
	}
}

// near reports whether an entry is one of the last of a journal that is being written.
func (j *Journal) near(seq uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running && j.behind(seq) < farBack
}
