package dialect

import (
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// maxFrameBytes is the largest event of a stream that is translated: 32 MiB, room for an
// image in base64.
const maxFrameBytes = 32 << 20

// EventReader cuts a stream of server-sent events, or of lines, into events for a
// decoder. The zero value reads server-sent events with line ends of any kind.
type EventReader struct {
	Framing Framing // Lines: each line that is not empty is an event without a name

	cur     cursor
	partial []byte // the event of which the end has not come
	joined  []byte
}

// Feed calls each for every event in p that is whole by now. Comments and events
// without data are skipped. Name and data are valid during the call.
func (r *EventReader) Feed(p []byte, each func(name, data []byte) error) error {
	buf := p
	if len(r.partial) > 0 {
		r.partial = append(r.partial, p...)
		buf = r.partial
	}
	for {
		n := r.cur.end(buf, r.Framing)
		if n == 0 {
			break
		}
		if err := r.event(buf[:n], each); err != nil {
			return err
		}
		buf = buf[n:]
	}
	if len(buf) > maxFrameBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent an event larger than %d bytes", maxFrameBytes)
	}
	r.partial = copyPartial(r.partial, buf)
	return nil
}

// copyPartial is what is kept of an event or a message whose end has not come: left, at the
// beginning of the room. What lies there already is not moved, or a large event that
// comes in small pieces would be copied as a whole with each.
func copyPartial(buf, left []byte) []byte {
	if len(left) > 0 && len(left) == len(buf) && &left[0] == &buf[0] {
		return buf
	}
	return append(buf[:0], left...)
}

// Close takes an event whose blank line never came, when its data is whole.
func (r *EventReader) Close(each func(name, data []byte) error) error {
	left := r.partial
	r.partial = nil
	if len(left) == 0 {
		return nil
	}
	e := r.parse(left)
	if string(e.name) == errorName && len(e.data) > 0 {
		return each(e.name, reportedError(e))
	}
	if !isDone(e.data) && !splice.Valid(e.data) {
		return nil
	}
	return each(e.name, e.data)
}

func (r *EventReader) event(ev []byte, each func(name, data []byte) error) error {
	e := r.parse(ev)
	if len(e.data) == 0 {
		return nil
	}
	if string(e.name) == errorName {
		e.data = reportedError(e)
	}
	return each(e.name, e.data)
}

// reportedError is the data of an event that is named "error" in a shape that decoders know:
// as it came where they know it, else
//
//	{"type":"error","error":{"type":"server_error","message":"…","code":"500"},"usage":{…}}
func reportedError(e event) []byte {
	if raw, _ := splice.Find(e.data, "error"); isObject(raw) || splice.Text(e.data, "type") == errorName && splice.Text(e.data, "message") != "" {
		return e.data
	}
	f, _ := findFault(e)
	usage, _ := splice.Find(e.data, "usage")
	var w JSON
	w.Open('{')
	w.Str("type", errorName)
	w.Key("error").Open('{')
	w.Opt("type", f.kind())
	w.Str("message", f.message)
	w.Opt("code", f.code)
	w.Close('}')
	if isObject(usage) {
		w.Raw("usage", usage)
	}
	w.Close('}')
	return w.B
}

func (r *EventReader) parse(ev []byte) event {
	if r.Framing == Lines {
		stop, _ := lineEnd(ev, 0)
		if len(ev) > 0 && (ev[0] == '{' || ev[0] == '[') { // NDJSON
			return event{data: ev[:stop]}
		}
	}
	return parse(ev, &r.joined)
}

// Done reports whether data is the [DONE] that ends OpenAI's streams.
func Done(data []byte) bool { return isDone(data) }
