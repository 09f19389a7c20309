package dialect

import (
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// maxFrameBytes is the largest event of a translated stream: 32 MiB, enough for an image in
// base64.
const maxFrameBytes = 32 << 20

// EventReader splits a stream of server-sent events, or of lines, into events for a decoder.
// The zero value reads server-sent events with line ends of any kind.
type EventReader struct {
	Framing Framing // Lines: each non-empty line is an event without a name

	cur     cursor
	partial []byte // the incomplete event
	joined  []byte
}

// Feed calls each for every complete event in p. It skips comments and events without data.
// Name and data are valid only during the call.
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

// copyPartial copies left, the incomplete event or message, to the beginning of buf. It does not
// move bytes that are there already. Otherwise each fragment of a large event would cause a
// copy of the complete event.
func copyPartial(buf, left []byte) []byte {
	if len(left) > 0 && len(left) == len(buf) && &left[0] == &buf[0] {
		return buf
	}
	return append(buf[:0], left...)
}

// Close emits an event whose blank line never arrived, if its data is complete.
func (r *EventReader) Close(each func(name, data []byte) error) error {
	left := r.partial
	r.partial = nil
	if len(left) == 0 {
		return nil
	}
	e := r.parse(left)
	if string(e.name) == upstreamerror.EventName && len(e.data) > 0 {
		return each(e.name, reportedError(e))
	}
	if !isDone(e.data) && !jsonedit.Valid(e.data) {
		return nil
	}
	return each(e.name, e.data)
}

func (r *EventReader) event(ev []byte, each func(name, data []byte) error) error {
	e := r.parse(ev)
	if len(e.data) == 0 {
		return nil
	}
	if string(e.name) == upstreamerror.EventName {
		e.data = reportedError(e)
	}
	return each(e.name, e.data)
}

// reportedError converts the data of an event named "error" to a shape that decoders support.
// Data in such a shape is returned unchanged; other data becomes
//
//	{"type":"error","error":{"type":"server_error","message":"…","code":"500"},"usage":{…}}
func reportedError(e event) []byte {
	if raw, _ := jsonedit.Find(e.data, "error"); jsonscan.IsObject(raw) || jsonedit.Text(e.data, "type") == upstreamerror.EventName && jsonedit.Text(e.data, "message") != "" {
		return e.data
	}
	f, _ := upstreamerror.Find(e.name, e.data)
	usage, _ := jsonedit.Find(e.data, "usage")
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", upstreamerror.EventName)
	w.Key("error").Open('{')
	w.Opt("type", f.Kind())
	w.Str("message", f.Message)
	w.Opt("code", f.Code)
	w.Close('}')
	if jsonscan.IsObject(usage) {
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
