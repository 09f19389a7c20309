package journal

// prefaultBytes is how many bytes ahead of the writer have their pages ready. The first touch
// of a page goes through the file system, which may wait for the disk. That would delay the
// request being recorded and all others on its processor.
const prefaultBytes = 2 << 20

// prefault loads pages ahead of the writer until stop is called, which waits for the end.
// Meanwhile consumed files are retained for reuse.
func (j *Journal) prefault() (stop func()) {
	j.setRunning(true)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-j.prefaultRequests:
				j.prefaultNext()
			}
		}
	}()
	return func() {
		j.setRunning(false)
		close(quit)
		<-done
	}
}

func (j *Journal) setRunning(is bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running = is
}

// requestPrefault requests more pages when half of the prefaulted ones are used. Callers hold
// mu.
func (j *Journal) requestPrefault(s *segment) {
	if !j.running || s.needsPrefault || s.prefaulted-s.used > prefaultBytes/2 || s.prefaulted >= int64(len(s.data)) {
		return
	}
	s.needsPrefault = true
	select {
	case j.prefaultRequests <- struct{}{}:
	default: // already awake
	}
}

// prefaultNext loads the pages that the active segment requested.
func (j *Journal) prefaultNext() {
	j.mu.Lock()
	s := j.active
	if s == nil || j.closed || !s.needsPrefault {
		j.mu.Unlock()
		return
	}
	v := s.hold()
	from := max(s.prefaulted, s.used)
	j.mu.Unlock()
	to := s.mapPages(from, v.used+prefaultBytes)
	j.mu.Lock()
	s.prefaulted, s.needsPrefault = to, false
	j.mu.Unlock()
	s.release()
}

// mapPages makes the pages of the bytes in [from, to) ready for writing and returns the end of
// the ready pages. If the system does not support that, the writer itself loads each page and
// must not request it again.
func (s *segment) mapPages(from, to int64) int64 {
	from, to = from&^(pageBytes-1), pageUp(to, len(s.data))
	if from < to && populate(s.data[from:to]) != nil {
		return int64(len(s.data))
	}
	return to
}
