package dialect

// maxEventBytes is the largest event that is buffered completely: 1 MiB. Only the beginning and
// the last maxTailBytes bytes of a larger one are read, and it is relayed unchanged.
const (
	maxEventBytes = 1 << 20
	maxTailBytes  = 8 << 10
)

// splitter splits reads of any size into events. It does not copy events that are inside one
// read. Call begin, next until it reports false, rest, and then savePartial.
type splitter struct {
	framing Framing
	cur     cursor
	buf     []byte // the bytes being split
	done    int    // buf[:done] was returned
	partial []byte // the incomplete event
	sent    int    // number of its bytes that were relayed already
	large   bool   // partial is the tail of an event over maxEventBytes
}

// splitEvent is one event with its line ends.
type splitEvent struct {
	all   []byte
	fresh []byte // the part that was not relayed yet
	large bool   // all is only its tail
}

func (sp *splitter) begin(p []byte) {
	sp.buf, sp.done = p, 0
	if len(sp.partial) > 0 {
		sp.partial = append(sp.partial, p...)
		sp.buf = sp.partial
	}
}

func (sp *splitter) next() (splitEvent, bool) {
	left := sp.buf[sp.done:]
	n := sp.cur.end(left, sp.framing)
	if n == 0 {
		return splitEvent{}, false
	}
	sp.done += n
	return sp.take(left[:n]), true
}

// pass returns the next event and the span to remove from it if the event matches a pattern,
// otherwise nil.
func (sp *splitter) pass(p *pattern) ([]byte, span) {
	if sp.large || sp.cur != (cursor{}) {
		return nil, span{}
	}
	n, cut := p.fits(sp.buf[sp.done:])
	if n == 0 {
		return nil, span{}
	}
	sp.done += n
	return sp.buf[sp.done-n : sp.done], cut
}

func (sp *splitter) take(ev []byte) splitEvent {
	p := splitEvent{all: ev, fresh: ev[sp.sent:], large: sp.large}
	sp.sent, sp.large = 0, false
	return p
}

// ended reports whether the unfinished event waits only for the \n that may follow the \r of
// its blank line.
func (sp *splitter) ended() bool {
	n := len(sp.partial)
	return n > 0 && sp.partial[n-1] == '\r' && (sp.cur.line == n-1 || sp.framing == Lines)
}

// rest checks the unfinished event. When it first exceeds maxEventBytes, head is its beginning.
// While it exceeds it, fresh is the part that arrived now and must be relayed.
func (sp *splitter) rest() (head, fresh []byte) {
	left := sp.buf[sp.done:]
	if !sp.large {
		if len(left) <= maxEventBytes {
			return nil, nil
		}
		sp.large, head = true, left[:maxTailBytes]
	}
	return head, left[sp.sent:]
}

// savePartial stores the unfinished event for the next begin. It invalidates all slices
// returned before.
func (sp *splitter) savePartial() {
	left := sp.buf[sp.done:]
	if drop := len(left) - maxTailBytes; sp.large && drop > 0 {
		sp.cur.line -= drop
		sp.cur.seen -= drop
		left = left[drop:]
	}
	if sp.large {
		sp.sent = len(left)
	}
	if len(left) == 0 && cap(sp.partial) > 8*maxTailBytes {
		sp.partial = nil // free the memory of one large event before the stream ends
	}
	sp.partial = append(sp.partial[:0], left...)
	sp.buf = nil
}
