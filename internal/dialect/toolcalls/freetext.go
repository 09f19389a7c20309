package toolcalls

import (
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// FreeTextTools are the tools of one call that accept free text and were sent as functions with
// one argument. The nil *FreeTextTools has none. It belongs to one stream.
type FreeTextTools struct {
	names []string
	open  map[[2]int]*textArgument // by choice and block
}

// argument is the only argument of such a function.
const argument = "input"

// textSchema is the schema of its arguments.
var textSchema = []byte(`{"type":"object","properties":{"` + argument + `":{"type":"string"}},"required":["` + argument + `"],"additionalProperties":false}`)

// AsFunctions returns the call with functions instead of tools that accept free text, for providers
// that support only functions: {"input":"…"}. It does not change c.
func AsFunctions(c *llm.Call) (*llm.Call, *FreeTextTools) {
	if !hasText(c) {
		return c, nil
	}
	t, out := &FreeTextTools{}, *c
	out.Tools = slices.Clone(c.Tools)
	for i := range out.Tools {
		if f := &out.Tools[i]; f.Type == llm.Custom {
			t.names = append(t.names, f.Name)
			f.Type, f.Schema, f.Description = llm.Function, textSchema, describeText(f.Raw)
			f.Raw, f.Shape = nil, "" // the caller's tool is not a function
		}
	}
	if name := describeFreeText(c.Choice.Raw); c.Choice.Mode == "opaque" && name != "" {
		out.Choice.Mode, out.Choice.Name = "tool", name
	}
	out.Messages = slices.Clone(c.Messages)
	for i := range out.Messages {
		m := &out.Messages[i]
		m.Parts = slices.Clone(m.Parts)
		for k := range m.Parts {
			if call := m.Parts[k].Call; call != nil && call.Custom {
				m.Parts[k].Call = &llm.ToolCall{ID: call.ID, Name: call.Name, Arguments: `{"` + argument + `":` + string(jsonedit.Quote(call.Arguments)) + `}`}
			}
		}
	}
	return &out, t
}

// hasText reports whether a tool accepts free text or was called with free text before.
func hasText(c *llm.Call) bool {
	return slices.ContainsFunc(c.Tools, func(t llm.Tool) bool { return t.Type == llm.Custom }) || slices.ContainsFunc(c.Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Call != nil && p.Call.Custom })
	})
}

// describeText is the description of the function, from the tool in the form of chat completions.
// It includes the grammar of the text, which a function has no other field for.
func describeText(raw []byte) string {
	tool, _ := jsonedit.Find(raw, llm.Custom)
	description := jsonedit.Text(tool, "description")
	if syntax := jsonedit.Text(tool, "format", "grammar", "syntax"); syntax != "" {
		description += "\n\n" + argument + " follows this grammar (" + syntax + "):\n" + jsonedit.Text(tool, "format", "grammar", "definition")
	}
	return strings.TrimSpace(description)
}

// describeFreeText is the name of the tool in a choice: {"type":"custom","name":"x"}, in chat
// {"type":"custom","custom":{"name":"x"}}.
func describeFreeText(choice []byte) string {
	if jsonedit.Text(choice, "type") != llm.Custom {
		return ""
	}
	if name := jsonedit.Text(choice, llm.Custom, "name"); name != "" {
		return name
	}
	return jsonedit.Text(choice, "name")
}

// RewriteResponse restores the free text in the calls of a complete response.
func (t *FreeTextTools) RewriteResponse(r *llm.Response) {
	if t == nil {
		return
	}
	for i := range r.Choices {
		for k := range r.Choices[i].Parts {
			if call := r.Choices[i].Parts[k].Call; call != nil && slices.Contains(t.names, call.Name) {
				var a textArgument
				call.Arguments, call.Custom = a.add(call.Arguments)+a.end(), true
			}
		}
	}
}

// Event passes a stream event to put, with the arguments of a call as free text.
func (t *FreeTextTools) Event(ev *llm.Event, put func(*llm.Event)) {
	if t == nil || ev.Part != llm.CallPart {
		put(ev)
		return
	}
	key := [2]int{ev.Choice, ev.Block}
	switch ev.Kind {
	case llm.EventBlock:
		if slices.Contains(t.names, ev.Name) {
			if t.open == nil {
				t.open = make(map[[2]int]*textArgument)
			}
			t.open[key] = &textArgument{}
		}
	case llm.EventArguments:
		if a := t.open[key]; a != nil {
			if ev.Text = a.add(ev.Text); ev.Text == "" {
				return
			}
		}
	case llm.EventBlockEnd:
		if a := t.open[key]; a != nil {
			delete(t.open, key)
			if rest := a.end(); rest != "" {
				put(&llm.Event{Kind: llm.EventArguments, Choice: ev.Choice, Block: ev.Block, Part: ev.Part, Text: rest})
			}
		}
	default:
	}
	put(ev)
}
