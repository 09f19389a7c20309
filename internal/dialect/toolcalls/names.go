package toolcalls

import (
	"slices"

	"sluice/internal/kernel/llm"
)

// maxNameBytes is the maximum length of a tool name at all providers except Anthropic. Anthropic's
// clients send names of up to 128 characters: the name of a server followed by that of its tool.
const maxNameBytes = 64

// Names maps the shortened tool names of one call to the original ones. The nil *Names is
// empty.
type Names struct{ long map[string]string } // by shortened name

// ShortNames returns the call with tool names of at most 64 characters. Longer names end in a suffix
// that is the same for the same name. It does not change c.
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

// parts returns a list with shortened names in calls and results.
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

// RewriteResponse restores the original names in the calls of a complete response.
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

// Event restores the original name in a call of a stream.
func (n *Names) Event(ev *llm.Event) {
	if n != nil && ev.Kind == llm.EventBlock && ev.Part == llm.CallPart {
		n.restore(&ev.Name)
	}
}
