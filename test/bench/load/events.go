package load

import (
	"bytes"
	"errors"
	"time"

	"sluice/internal/test/upstream/responder"
	"sluice/test/bench/stat"
)

var errStream = errors.New("a stream that lacks events or its end")

var (
	field       = []byte(responder.SentField)
	sentKeyword = []byte(responder.SentKeyword)
	blank       = []byte("\n\n")
	done        = []byte("data: [DONE]")
)

// events follows an event stream through the parts it comes in. It belongs to one
// goroutine.
type events struct {
	delay *stat.Histogram
	rest  []byte // the beginning of an event whose end has not come
	seen  int    // events with a time
	ended bool
}

func (e *events) reset() { e.rest, e.seen, e.ended = e.rest[:0], 0, false }

// see takes the next part. Events are counted as delayed up to now.
func (e *events) see(part []byte) {
	now := time.Now().UnixNano()
	for len(part) > 0 {
		event, after, complete := e.cut(part)
		if !complete {
			e.rest = append(e.rest, part...)
			return
		}
		e.take(event, now)
		e.rest, part = e.rest[:0], after
	}
}

// cut splits the first event off part, with what came of it in earlier parts; its
// blank line may be split as well.
func (e *events) cut(part []byte) (event, after []byte, complete bool) {
	began := len(e.rest)
	if began == 0 {
		return bytes.Cut(part, blank)
	}
	joined := append(e.rest, part...)
	i := bytes.Index(joined[began-1:], blank)
	if i < 0 {
		return nil, nil, false
	}
	end := began - 1 + i
	return joined[:end], part[end+len(blank)-began:], true
}

// take looks at one event.
func (e *events) take(event []byte, now int64) {
	if digits := sent(event); digits != nil {
		e.seen++
		e.delay.Add(time.Duration(now - number(digits)))
		return
	}
	e.ended = e.ended || bytes.Equal(event, done)
}

// sent is what follows the mark of the time; nil: the event has none.
func sent(event []byte) []byte {
	if i := bytes.Index(event, field); i >= 0 {
		return event[i+len(field):]
	}
	if i := bytes.Index(event, sentKeyword); i >= 0 {
		return event[i+len(sentKeyword):]
	}
	return nil
}

// number reads the digits that b begins with.
func number(b []byte) (n int64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// check says whether the stream was whole.
func (e *events) check(want int) error {
	if e.seen != want || !e.ended {
		return errStream
	}
	return nil
}
