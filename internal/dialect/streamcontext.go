package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Errors inside a stream that say that the conversation is too long get the one code and, on
// messages, the words and the type of Anthropic, as whole answers do: see Failure.

// tooLongType is the type of such an error on messages.
const tooLongType = "invalid_request_error"

// aboutContext reports whether an error in a stream of that endpoint says that the conversation is
// too long.
func (f *streamFault) aboutContext(ep llm.Endpoint) bool {
	d := details{message: f.message, typ: f.kind(), code: f.code}
	return conversing[ep] && d.aboutContext(f.status())
}

// tooLong puts such an error, whose event has data, into the words of an endpoint. Others stay.
func (f *streamFault) tooLong(ep llm.Endpoint, data []byte) (changed bool) {
	if !f.aboutContext(ep) {
		return false
	}
	f.code, f.extra = ContextCode, errorExtra(data)
	if ep == llm.Messages {
		f.typ, f.message = tooLongType, inTooLongWords(f.message, f.extra)
	}
	return true
}

// withCode is the data of an error event with its code as a string. Of a conversation that is too
// long it is the one code, with the words of the endpoint. It is data itself where nothing changes.
func withCode(ep llm.Endpoint, name, data []byte) []byte {
	f, _ := findFault(event{name: name, data: data})
	if !f.tooLong(ep, data) {
		return TextCode(data)
	}
	at := ""
	if raw, _ := splice.Find(data, "response", "error"); isObject(raw) {
		at = "response.error."
	}
	if raw, ok := splice.Find(data, "error"); isObject(raw) {
		at = "error."
	} else if ok && !noError(raw) { // a text, which has no code
		return data
	}
	var doc splice.Doc
	if splice.Scan(data, &doc) != nil {
		return data
	}
	edits := []splice.Edit{splice.SetPath(at+"code", splice.Quote(f.code))}
	if ep == llm.Messages {
		edits = append(edits, splice.SetPath(at+"type", splice.Quote(f.typ)), splice.SetPath(at+"message", splice.Quote(f.message)))
	}
	return doc.Apply(edits)
}

// FaultWords puts an EventFault that says that the conversation is too long into the words of the
// caller's surface, and leaves its Raw, of which encoders write what else the error object has.
// Others keep their words, and lose their Raw.
func FaultWords(surface llm.Endpoint, ev *llm.Event) {
	f := streamFault{message: ev.Text, typ: ev.Name, code: ev.ID, number: ev.Status}
	if !f.tooLong(surface, ev.Raw) {
		ev.Raw = nil
		return
	}
	ev.Text, ev.Name, ev.ID = f.message, f.typ, f.code
}

// ErrorExtra writes what else the error in the data of an event has: {"n_ctx":4096}. Without data
// it writes nothing.
func (w *JSON) ErrorExtra(data []byte) { w.params(errorExtra(data)) }
