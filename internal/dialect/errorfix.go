package dialect

import (
	"bytes"
	"cmp"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// fix is a replacement for an error event, in the shape of the surface.
type fix struct {
	from, to int // position of the event in the splitter's buffer
	with     []byte
	same     int // number of leading bytes that with shares with the event
}

// corrects reports whether error events of the surface are converted to its shape if the
// provider uses another one.
func (s *Stream) corrects() bool {
	switch s.opt.Endpoint {
	case llm.ChatComplete, llm.Complete, llm.Messages, llm.CreateModelResponse:
		return true
	default:
		return false
	}
}

// fix records the replacement of an event that reports an error, if it needs one.
func (s *Stream) fix(all []byte, e event) {
	if !s.corrects() {
		return
	}
	f := fix{from: s.split.done - len(all), to: s.split.done}
	if s.holds() || mayBeError(all) {
		f.with = s.inShape(e)
	}
	if f.with == nil {
		f.with, f.same = s.withCode(all, e)
	}
	if f.with != nil {
		s.fixes = append(s.fixes, f)
	}
}

// inShape converts an error event to the shape that clients of the surface read. It returns nil
// for an event that is in that shape already.
func (s *Stream) inShape(e event) []byte {
	raw, _ := jsonedit.Find(e.data, "error")
	typ := jsonedit.Text(e.data, "type")
	f, _ := upstreamerror.Find(e.name, e.data)
	f.TooLong(s.opt.Endpoint, e.data)
	switch s.opt.Endpoint {
	case llm.Messages:
		if !e.bare && typ == upstreamerror.EventName && string(e.name) == upstreamerror.EventName && jsonscan.IsObject(raw) && upstreamerror.MessagesTypes[jsonedit.Text(raw, "type")] {
			return nil
		}
		inner := f.Type
		if !upstreamerror.MessagesTypes[inner] {
			inner = upstreamerror.MessagesTypeOf(f.Status())
		}
		return messagesError(f, inner)
	case llm.CreateModelResponse:
		if !e.bare && (typ == upstreamerror.EventName || typ == upstreamerror.ResponseFailed) {
			return nil
		}
		return responsesError(f, s.watch.sequence-1)
	default:
		if !e.bare && jsonscan.IsObject(raw) && jsonedit.Text(raw, "message") != "" {
			return nil
		}
		return chatError(e.data, f)
	}
}

// chatError is an error in the shape of chat, with the other members of its chunk.
func chatError(data []byte, f upstreamerror.Fault) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("message", f.Message)
	w.Str("type", cmp.Or(f.Kind(), "server_error"))
	w.Raw("param", jsonNull)
	w.StrOrNull("code", f.Code)
	w.Params(f.Extra)
	w.Close('}')
	var out jsonwriter.Writer
	out.Open('{')
	out.Raw("error", w.B)
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"id"`, `"object"`, `"created"`, `"model"`, `"choices"`, `"usage"`, `"provider"`:
			if !jsonedit.IsName(val, upstreamerror.EventName) { // the value of "object" in an error without a wrapper
				key, _ := jsonedit.Unquote(name)
				out.Named(key, val)
			}
		}
	}
	out.Close('}')
	return append(append([]byte("data: "), out.B...), "\n\n"...)
}

// messagesError is an error event of messages. It has a code only if the provider sent one.
func messagesError(f upstreamerror.Fault, typ string) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", upstreamerror.EventName)
	w.Key("error").Open('{')
	w.Str("type", typ)
	w.Str("message", f.Message)
	w.Opt("code", f.Code)
	w.Params(f.Extra)
	w.Close('}')
	w.Close('}')
	return namedError(w.B)
}

// responsesError is an error event of responses. It has no field for the type except its code.
func responsesError(f upstreamerror.Fault, number int64) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", upstreamerror.EventName)
	w.StrOrNull("code", cmp.Or(f.Code, f.Kind()))
	w.Str("message", f.Message)
	w.Raw("param", jsonNull)
	w.Int("sequence_number", number)
	w.Params(f.Extra)
	w.Close('}')
	return namedError(w.B)
}

func namedError(data []byte) []byte {
	return append(append([]byte("event: error\ndata: "), data...), "\n\n"...)
}

// relayed is the number of bytes of the unfinished event that were relayed.
func (s *Stream) relayed() int {
	if s.held {
		return 0
	}
	return len(s.split.partial)
}

// corrected returns the bytes to relay for p in streams that do not hold complete events. The
// bytes buf[from:] are not relayed yet. The result is p itself, unless an error event is
// corrected or the start of a possible error is held until the event is complete.
func (s *Stream) corrected(from int, p []byte) []byte {
	buf, was := s.split.buf, s.held
	left := buf[s.split.done:]
	s.held = !s.split.large && s.split.done >= from && (mayBeError(left) || bytes.Contains(left, upstreamerror.ErrorObjectKey))
	if !was && !s.held && len(s.fixes) == 0 {
		return p
	}
	pos := from
	for _, f := range s.fixes {
		switch relayed := pos - f.from; {
		case relayed <= 0:
			s.out = append(append(s.out, buf[pos:f.from]...), f.with...)
		case relayed <= f.same: // its start was relayed unchanged
			s.out = append(s.out, f.with[relayed:]...)
		default:
			continue
		}
		pos = f.to
	}
	end := len(buf)
	if s.held {
		end, s.mid = s.split.done, false
	}
	s.out = append(s.out, buf[pos:end]...)
	return s.out
}

// errorBeginnings are the starts of events that are named "error" or whose data is an error,
// without the space after the colon.
var errorBeginnings = [...]string{
	"event:error", `error:{"`, `{"error`, `data:{"error`, `data:{"object":"error"`, `data:{"type":"error`, `data:{"code":`, `data:{"status`, `data:{"message":"`, `data:{"detail":`, `data:{"errors":`,
}

// mayBeError reports whether a possibly incomplete event begins like an error. In streams that
// do not hold complete events, only such events are held and corrected.
func mayBeError(b []byte) bool {
	for _, s := range errorBeginnings {
		if beginsLike(b, s) {
			return len(b) > 0
		}
	}
	return false
}

// beginsLike reports whether b is a prefix of s or s is a prefix of b. It ignores spaces after the
// first colon and within JSON.
func beginsLike(b []byte, s string) bool {
	i := 0
	for _, c := range b {
		switch {
		case i == len(s):
			return true
		case c == s[i]:
			i++
		case c != ' ' || i == 0 || s[i-1] != ':' && s[i-1] != '{':
			return false
		}
	}
	return true
}

// lastHeld relays a held event at the end of the stream. It omits an incomplete event, as
// readers of such streams do.
func (s *Stream) lastHeld(all []byte, e event, complete bool) {
	if s.mid = false; !complete {
		return
	}
	if s.watch.fresh && s.corrects() {
		if with := s.inShape(e); with != nil && mayBeError(all) {
			s.out = append(s.out, with...)
			return
		}
		if with, _ := s.withCode(all, e); with != nil {
			all = with
		}
	}
	s.out = append(append(s.out, all...), "\n\n"...)
}

// upstreamerror.WithCode returns an error event with its code as a string, and the number of leading bytes that
// it shares with the original. It is nil if nothing changes.
func (s *Stream) withCode(all []byte, e event) (with []byte, same int) {
	if e.end == 0 || len(e.data) == 0 {
		return nil, 0
	}
	data := upstreamerror.WithCode(s.opt.Endpoint, e.name, e.data)
	if bytes.Equal(data, e.data) {
		return nil, 0
	}
	with = append(with, all[:e.off]...)
	with = append(with, data...)
	with = append(with, all[e.end:]...)
	for same < len(all) && with[same] == all[same] {
		same++
	}
	return with, same
}

// jsonNull is a null in raw JSON.
var jsonNull = []byte("null")
