package replay

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Assembled is the outcome of a stream.
type Assembled struct {
	Body   []byte // complete JSON response of the surface; nil if the stream had none
	Cut    bool   // the stream ended before its end, or is larger than permitted
	Failed bool   // the stream contained an error
}

// Assembler builds the JSON response of one stream while it is relayed. It retains nothing of what
// it is given. It belongs to one goroutine.
type Assembler struct {
	reader  dialect.EventReader
	surface assembly
	builder *builder
	failed  bool
}

// assembly is the part of an Assembler that depends on the surface.
type assembly interface {
	// event adds an event. Data is a valid JSON object.
	event(data []byte)
	// body returns the response, and whether the stream was complete.
	body() (body []byte, complete bool)
	// end reports that the end marker [DONE] arrived.
	end()
}

// NewAssembler returns an Assembler for a stream of the endpoint, in the caller's format. It stores
// at most maxBytes. It returns false for an endpoint that CanStream rejects.
func NewAssembler(ep llm.Endpoint, maxBytes int) (*Assembler, bool) {
	b := &builder{left: maxBytes}
	a := &Assembler{builder: b}
	switch ep {
	case llm.ChatComplete:
		a.surface = newChoices(b, "chat.completion")
	case llm.Complete:
		a.surface = newChoices(b, "text_completion")
	case llm.Messages:
		a.surface = &message{builder: b}
	case llm.CreateModelResponse:
		a.surface = &response{builder: b}
	default:
		return nil, false
	}
	return a, true
}

// Feed adds the next bytes of the stream, in parts of any size.
func (a *Assembler) Feed(p []byte) {
	if a.failed || a.builder.left < 0 {
		return
	}
	if err := a.reader.Feed(p, a.event); err != nil {
		a.failed = true // an event beyond all limits
	}
}

// Result ends the stream and returns the response.
func (a *Assembler) Result() Assembled {
	if err := a.reader.Close(a.event); err != nil {
		a.failed = true
	}
	if a.failed || a.builder.left < 0 {
		return Assembled{Cut: a.builder.left < 0, Failed: a.failed}
	}
	body, complete := a.surface.body()
	return Assembled{Body: body, Cut: !complete}
}

// Assemble builds the JSON response of a complete stream.
func Assemble(ep llm.Endpoint, stream []byte, maxBytes int) Assembled {
	a, ok := NewAssembler(ep, maxBytes)
	if !ok {
		return Assembled{Cut: true}
	}
	a.Feed(stream)
	return a.Result()
}

func (a *Assembler) event(name, data []byte) error {
	switch {
	case a.failed || a.builder.left < 0:
	case dialect.Done(data):
		a.surface.end()
	case !jsonedit.Valid(data) || isError(name, data):
		a.failed = true
	default:
		a.surface.event(data)
	}
	return nil
}

// isError reports whether an event is an error in one of the forms of the surfaces.
func isError(name, data []byte) bool {
	raw, _ := jsonedit.Find(data, "error")
	return !jsonedit.IsNull(raw) || string(name) == "error" || jsonedit.Text(data, "type") == "error"
}

// document writes the members of an object node as a JSON document.
func document(n *node, omit func(string) bool, more func(w *jsonwriter.Writer)) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	n.writeMembers(&w, omit)
	more(&w)
	w.Close('}')
	return w.B
}
