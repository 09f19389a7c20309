package journal

import "sync"

// segmentSet is the list of segments with entries, and the sequence numbers of the journal. Its lock
// is the lock of the journal: it also guards the fields of segments, of the pool and of consumers
// that name segmentSet.mu.
type segmentSet struct {
	o *Options

	mu       sync.Mutex // guards the fields below
	first    uint64     // first sequence number of this run
	segments []*segment // oldest first; the last one may be active
	active   *segment   // nil until the first Append
	next     uint64     // sequence number of the next entry
	running  bool       // Run is running: spare files are retained
	closed   bool
}

// setRunning records whether Run runs: only then consumed files are retained for reuse.
func (set *segmentSet) setRunning(is bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.running = is
}

func (set *segmentSet) isClosed() bool {
	set.mu.Lock()
	defer set.mu.Unlock()
	return set.closed
}

// size returns the bytes of the files in use, without preallocated files. Callers hold segmentSet.mu.
func (set *segmentSet) size() (total int64) {
	for _, s := range set.segments {
		total += int64(len(s.data))
	}
	return total
}

// lag counts the entries from a sequence number on. Callers hold segmentSet.mu.
func (set *segmentSet) lag(seq uint64) (n uint64) {
	for _, s := range set.segments {
		if from := max(s.first, seq); from < s.next {
			n += s.next - from
		}
	}
	return n
}

// view finds the segment of the first record at or after seq.
func (set *segmentSet) view(seq uint64) (view, bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	for _, s := range set.segments {
		if s.next > seq {
			return s.hold(), true
		}
	}
	return view{}, false
}

// unsynced returns views of the segments of this run that are not completely on the disk.
// The active segment is padded first, so that nothing more is appended to the pages of the
// views. The caller releases the segments.
func (set *segmentSet) unsynced() []view {
	set.mu.Lock()
	defer set.mu.Unlock()
	var out []view
	for _, s := range set.segments {
		if s.live && !s.durable {
			if s == set.active {
				s.pad()
			}
			out = append(out, s.hold())
		}
	}
	return out
}

// synced records that a sealed segment does not need another write. The write would
// miss a frame that was filled meanwhile. So the segment must have been sealed, and
// released by its writers, before the write began.
func (set *segmentSet) synced(v view) {
	set.mu.Lock()
	defer set.mu.Unlock()
	v.seg.durable = v.sealed && v.quiet
}

// advanceSequence continues numbers after those that a consumer has, because it would skip
// lower ones. A consumer is ahead of the journal only if files were lost, or older ones
// restored, and the clock was set back. Callers hold segmentSet.mu.
func (set *segmentSet) advanceSequence(seq uint64) {
	if seq <= set.next || set.closed {
		return
	}
	set.o.Logger.Warn("consumer offset is beyond the journal (segments lost, clock set back); advancing sequence numbers",
		"next", set.next, "goes_on_at", seq)
	if set.active != nil {
		set.active.sealed, set.active = true, nil
	}
	set.next, set.first = seq, seq
}
