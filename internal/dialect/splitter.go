package dialect

// maxEventBytes is the largest event that is kept whole: 1 MiB. Of a larger one only the
// beginning and the last maxTailBytes bytes are looked at, and it is relayed unchanged.
const (
	maxEventBytes = 1 << 20
	maxTailBytes  = 8 << 10
)

// splitter cuts what comes in reads of any size into events. Events that lie inside
// one read are not copied. Use: begin, next until it reports false, rest, keep.
type splitter struct {
	framing Framing
	cur     cursor
	buf     []byte // what is being cut
	done    int    // buf[:done] was handed out
	partial []byte // the event of which the end has not come
	sent    int    // bytes of it that need not be relayed again
	large   bool   // it is the tail of an event over maxEventBytes
}

// splitEvent is one event with its line ends.
type splitEvent struct {
	all   []byte
	fresh []byte // what of it was not relayed yet
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

// pass hands out the next event if it looks like a pattern, with what is to be taken out
// of it, else nil.
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

// ended reports whether the unfinished event only waits for the \n that may follow the
// \r of its blank line.
func (sp *splitter) ended() bool {
	n := len(sp.partial)
	return n > 0 && sp.partial[n-1] == '\r' && (sp.cur.line == n-1 || sp.framing == Lines)
}

// rest looks at the unfinished event. When it just passed maxEventBytes, head is its
// beginning; when it is over it, fresh is what came of it now and must be relayed.
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

// savePartial stores the unfinished event for the next begin; the slices handed out before
// are dead after it.
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
		sp.partial = nil // one large event must not cost memory until the stream ends
	}
	sp.partial = append(sp.partial[:0], left...)
	sp.buf = nil
}
