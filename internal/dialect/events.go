package dialect

import (
	"bytes"

	"sluice/internal/dialect/upstreamerror"
)

// Framing is how a provider separates events on the wire.
type Framing int

// The framings. In both, a line ends with \n, \r\n or \r.
const (
	SSE   Framing = iota // server-sent events: a blank line ends each
	Lines                // each line is an event; relayed as SSE
)

// cursor is how far an incomplete event was scanned. Its indexes count from the event's
// first byte.
type cursor struct {
	line int // where the unfinished line begins; negative if its start was discarded
	seen int // no line ends before this
}

// end returns the index after the event at the start of b, or 0 if the event is incomplete.
// Then it may be called again with more bytes.
func (c *cursor) end(b []byte, f Framing) int {
	for {
		stop, after := lineEnd(b, c.seen)
		if after == 0 {
			c.seen = stop
			return 0
		}
		blank := stop == c.line
		c.line, c.seen = after, after
		if blank || f == Lines {
			*c = cursor{}
			return after
		}
	}
}

// lineEnd returns where the line around from stops and where the next one begins. After is 0
// if the line is incomplete. A final \r waits for the \n that may follow.
func lineEnd(b []byte, from int) (stop, after int) {
	rest := b[from:]
	nl := bytes.IndexByte(rest, '\n')
	if nl >= 0 {
		rest = rest[:nl]
	}
	switch cr := bytes.IndexByte(rest, '\r'); {
	case cr >= 0 && from+cr+1 == len(b):
		return from + cr, 0
	case cr >= 0 && b[from+cr+1] == '\n':
		return from + cr, from + cr + 2
	case cr >= 0:
		return from + cr, from + cr + 1
	case nl >= 0:
		return from + nl, from + nl + 1
	}
	return len(b), 0
}

// event is the parsed content of an event. The slices point into the event, except for data
// from several lines.
type event struct {
	name     []byte
	data     []byte
	off, end int  // position of the value of a single data line; both 0 if there were several
	bare     bool // data is an error without a data line
}

// parse parses an event. Joined is a buffer for data of several lines.
func parse(ev []byte, joined *[]byte) event {
	var e event
	lines, pos := 0, 0
	if bytes.HasPrefix(ev, byteOrder) {
		pos = len(byteOrder)
	}
	for pos < len(ev) {
		stop, after := lineEnd(ev, pos)
		if after == 0 { // the end of the stream also ends the line
			after = len(ev)
		}
		switch line := ev[pos:stop]; {
		case bytes.HasPrefix(line, dataField):
			v := value(line[len(dataField):])
			if lines++; lines == 1 {
				e.data, e.off, e.end = v, stop-len(v), stop
				break
			}
			if lines == 2 {
				*joined = append((*joined)[:0], e.data...)
			}
			*joined = append(append(*joined, '\n'), v...)
			e.data, e.off, e.end = *joined, 0, 0
		case bytes.HasPrefix(line, nameField):
			e.name = value(line[len(nameField):])
		case lines == 0 && bytes.HasPrefix(line, errorField):
			v := value(line[len(errorField):])
			e.data, e.off, e.end, e.bare = v, stop-len(v), stop, true
			e.name = errorField[:len(upstreamerror.EventName)]
		case lines == 0 && bytes.HasPrefix(line, errorLine):
			e.data, e.off, e.end, e.bare = line, pos, stop, true
		}
		pos = after
	}
	return e
}

var (
	dataField = []byte("data:")
	nameField = []byte("event:")

	errorField = []byte("error:")   // of llama.cpp
	errorLine  = []byte(`{"error"`) // of servers that forget the field

	byteOrder = []byte("\xef\xbb\xbf") // allowed at the beginning of a stream
)

// value is the content after a field's colon, without one optional space.
func value(b []byte) []byte {
	if len(b) > 0 && b[0] == ' ' {
		return b[1:]
	}
	return b
}

// isDone reports whether data is the marker that ends OpenAI's streams.
func isDone(data []byte) bool {
	return len(data) < 16 && string(bytes.TrimSpace(data)) == "[DONE]"
}
