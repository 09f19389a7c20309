package dialect

import (
	"slices"

	"sluice/internal/llm"
)

// maxNameBytes is how long the name of a tool may be at all providers but Anthropic, whose callers
// have names of up to 128 letters: those of a server and of its tool together.
const maxNameBytes = 64

// Names are the long names of the tools in one call and what they are sent as. The nil *Names
// has none.
type Names struct{ long map[string]string } // by what is sent

// ShortNames is the call with names of tools of at most 64 letters: longer ones end in letters
// that are the same for the same name. The call itself stays as it is.
func ShortNames(c *llm.Call) (*llm.Call, *Names) {
	if !slices.ContainsFunc(c.Tools, func(t llm.Tool) bool { return len(t.Name) > maxNameBytes }) {
		return c, nil
	}
	n := &Names{make(map[string]string)}
	short := *c
	short.Tools = slices.Clone(c.Tools)
	for i := range short.Tools {
		short.Tools[i].Name = n.short(short.Tools[i].Name)
	}
	short.Choice.Name = n.short(c.Choice.Name)
	short.Messages = slices.Clone(c.Messages)
	for i := range short.Messages {
		short.Messages[i].Parts = n.parts(short.Messages[i].Parts)
	}
	return &short, n
}

// parts is a list with the names of calls and results in short.
func (n *Names) parts(list []llm.Part) []llm.Part {
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		if p.Call != nil {
			call := *p.Call
			call.Name, p.Call = n.short(call.Name), &call
		}
		if p.Result != nil {
			result := *p.Result
			result.Name, p.Result = n.short(result.Name), &result
		}
	}
	return list
}

func (n *Names) short(name string) string {
	const mark = 8
	if len(name) <= maxNameBytes {
		return name
	}
	short := name[:maxNameBytes-mark-1] + "_" + ShortID(name, mark)
	n.long[short] = name
	return short
}

func (n *Names) restore(name *string) {
	if long, ok := n.long[*name]; ok {
		*name = long
	}
}

// RewriteResponse gives the calls of a whole answer their long names.
func (n *Names) RewriteResponse(r *llm.Response) {
	if n == nil {
		return
	}
	for i := range r.Choices {
		for k := range r.Choices[i].Parts {
			if call := r.Choices[i].Parts[k].Call; call != nil {
				n.restore(&call.Name)
			}
		}
	}
}

// Event gives a call of a stream its long name.
func (n *Names) Event(ev *llm.Event) {
	if n != nil && ev.Kind == llm.EventBlock && ev.Part == llm.CallPart {
		n.restore(&ev.Name)
	}
}
