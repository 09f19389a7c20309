package guardedstream

import "bytes"

// splitter splits a stream at the blank lines that end its events. A line ends with \n, \r\n or \r.
type splitter struct {
	buf   []byte
	begin int // of the unfinished event
	line  int // of the unfinished line
	seen  int // no line ends before
	// flushed is set if the beginning of the unfinished event was returned by flush.
	flushed bool
}

// feed adds bytes of the stream.
func (s *splitter) feed(p []byte) {
	if s.begin > 0 {
		n := copy(s.buf, s.buf[s.begin:])
		s.buf, s.line, s.seen, s.begin = s.buf[:n], s.line-s.begin, s.seen-s.begin, 0
	}
	s.buf = append(s.buf, p...)
}

// next returns a copy of the next complete event with its blank line, and whether its beginning is
// missing because it was flushed. It returns nil if the event is not complete.
func (s *splitter) next() (raw []byte, flushed bool) {
	for {
		stop, after := lineEnd(s.buf, s.seen)
		if after == 0 {
			s.seen = stop
			return nil, false
		}
		blank := stop == s.line && !(s.flushed && stop == s.begin)
		s.line, s.seen = after, after
		if blank {
			return s.take(after)
		}
	}
}

// pending returns the number of bytes of the unfinished event.
func (s *splitter) pending() int { return len(s.buf) - s.begin }

// flush returns the bytes of the unfinished event, which next then returns without them.
func (s *splitter) flush() []byte {
	raw, _ := s.take(len(s.buf))
	s.flushed = true
	return raw
}

// rest returns the unfinished event at the end of the stream.
func (s *splitter) rest() (raw []byte, flushed bool) { return s.take(len(s.buf)) }

func (s *splitter) take(end int) (raw []byte, flushed bool) {
	raw, flushed = bytes.Clone(s.buf[s.begin:end]), s.flushed
	s.begin, s.flushed = end, false
	s.line, s.seen = max(s.line, end), max(s.seen, end)
	return raw, flushed
}

// lineEnd returns where the line around from stops, and where the next one begins. After is 0 if the
// line is incomplete. A final \r waits for the \n that may follow.
func lineEnd(b []byte, from int) (stop, after int) {
	i := bytes.IndexAny(b[from:], "\r\n")
	if i < 0 {
		return len(b), 0
	}
	stop = from + i
	switch {
	case b[stop] == '\n':
		return stop, stop + 1
	case stop+1 == len(b):
		return stop, 0
	case b[stop+1] == '\n':
		return stop, stop + 2
	}
	return stop, stop + 1
}
