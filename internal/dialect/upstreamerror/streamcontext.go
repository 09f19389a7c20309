package upstreamerror

import (
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// An error inside a stream that means that the conversation is too long gets ContextCode. On messages
// it also gets Anthropic's wording and type, as in complete responses: see Failure.

// tooLongType is the type of such an error on messages.
const tooLongType = "invalid_request_error"

// aboutContext reports whether an error in a stream of that endpoint means that the conversation is
// too long.
func (f *Fault) aboutContext(ep llm.Endpoint) bool {
	d := details{message: f.Message, typ: f.Kind(), code: f.Code}
	return conversing[ep] && d.aboutContext(f.Status())
}

// TooLong rewrites such an error, whose event has data, for an endpoint. It leaves others unchanged.
func (f *Fault) TooLong(ep llm.Endpoint, data []byte) (changed bool) {
	if !f.aboutContext(ep) {
		return false
	}
	f.Code, f.Extra = ContextCode, Extra(data)
	if ep == llm.Messages {
		f.Type, f.Message = tooLongType, inTooLongWords(f.Message, f.Extra)
	}
	return true
}

// WithCode is the data of an error event with its code as a string. If the conversation is too long,
// it has ContextCode and the wording of the endpoint. If nothing changes, it is data itself.
func WithCode(ep llm.Endpoint, name, data []byte) []byte {
	f, _ := Find(name, data)
	if !f.TooLong(ep, data) {
		return TextCode(data)
	}
	at := ""
	if raw, _ := jsonedit.Find(data, "response", "error"); jsonscan.IsObject(raw) {
		at = "response.error."
	}
	if raw, ok := jsonedit.Find(data, "error"); jsonscan.IsObject(raw) {
		at = "error."
	} else if ok && !noError(raw) { // a string, which has no code
		return data
	}
	var doc jsonedit.Doc
	if jsonedit.Scan(data, &doc) != nil {
		return data
	}
	edits := []jsonedit.Edit{jsonedit.SetPath(at+"code", jsonedit.Quote(f.Code))}
	if ep == llm.Messages {
		edits = append(edits, jsonedit.SetPath(at+"type", jsonedit.Quote(f.Type)), jsonedit.SetPath(at+"message", jsonedit.Quote(f.Message)))
	}
	return doc.Apply(edits)
}

// Reword rewrites an ReadEvent for the caller's surface if it means that the conversation is too
// long. It leaves Raw in place, from which encoders write the other members of the error object. For
// other errors it clears Raw and changes nothing else.
func Reword(surface llm.Endpoint, ev *llm.Event) {
	f := Fault{Message: ev.Text, Type: ev.Name, Code: ev.ID, number: ev.Status}
	if !f.TooLong(surface, ev.Raw) {
		ev.Raw = nil
		return
	}
	ev.Text, ev.Name, ev.ID = f.Message, f.Type, f.Code
}

// WriteExtra writes the additional members of the error in the data of an event: {"n_ctx":4096}.
// Without data it writes nothing.
func WriteExtra(w *jsonwriter.Writer, data []byte) { w.Params(Extra(data)) }
