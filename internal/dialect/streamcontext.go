package dialect

import (
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// An error inside a stream that means that the conversation is too long gets ContextCode. On messages
// it also gets Anthropic's wording and type, as in complete responses: see Failure.

// tooLongType is the type of such an error on messages.
const tooLongType = "invalid_request_error"

// aboutContext reports whether an error in a stream of that endpoint means that the conversation is
// too long.
func (f *streamFault) aboutContext(ep llm.Endpoint) bool {
	d := details{message: f.message, typ: f.kind(), code: f.code}
	return conversing[ep] && d.aboutContext(f.status())
}

// tooLong rewrites such an error, whose event has data, for an endpoint. It leaves others unchanged.
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

// withCode is the data of an error event with its code as a string. If the conversation is too long,
// it has ContextCode and the wording of the endpoint. If nothing changes, it is data itself.
func withCode(ep llm.Endpoint, name, data []byte) []byte {
	f, _ := findFault(event{name: name, data: data})
	if !f.tooLong(ep, data) {
		return TextCode(data)
	}
	at := ""
	if raw, _ := splice.Find(data, "response", "error"); jsonscan.IsObject(raw) {
		at = "response.error."
	}
	if raw, ok := splice.Find(data, "error"); jsonscan.IsObject(raw) {
		at = "error."
	} else if ok && !noError(raw) { // a string, which has no code
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

// FaultWords rewrites an EventFault for the caller's surface if it means that the conversation is too
// long. It leaves Raw in place, from which encoders write the other members of the error object. For
// other errors it clears Raw and changes nothing else.
func FaultWords(surface llm.Endpoint, ev *llm.Event) {
	f := streamFault{message: ev.Text, typ: ev.Name, code: ev.ID, number: ev.Status}
	if !f.tooLong(surface, ev.Raw) {
		ev.Raw = nil
		return
	}
	ev.Text, ev.Name, ev.ID = f.message, f.typ, f.code
}

// WriteErrorExtra writes the additional members of the error in the data of an event: {"n_ctx":4096}.
// Without data it writes nothing.
func WriteErrorExtra(w *jsonwriter.Writer, data []byte) { w.Params(errorExtra(data)) }
