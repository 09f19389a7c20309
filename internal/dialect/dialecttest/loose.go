package dialecttest

import (
	"slices"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Loose is a difference that Diff shall not see, because a shape cannot tell the two
// apart. It changes a copy of the call into the form that stands for both.
type Loose func(c *llm.Call)

func relaxed(c *llm.Call, loose []Loose) *llm.Call {
	c = clone(c)
	c.Bytes = 0 // a call of our own making has no body
	for _, l := range loose {
		l(c)
	}
	return c
}

// eachPart calls do for the parts of every message and tool result.
func eachPart(c *llm.Call, do func(list []llm.Part)) {
	for i := range c.Messages {
		do(c.Messages[i].Parts)
		for k := range c.Messages[i].Parts {
			if r := c.Messages[i].Parts[k].Result; r != nil {
				do(r.Parts)
			}
		}
	}
}

func clearPositions(list []llm.Part) {
	for i := range list {
		list[i].Index = 0
		clearFrom(list[i].Extra)
	}
}

// Positions leaves out where things stood in the caller's body: Index, From, and the
// order of parameters.
func Positions(c *llm.Call) {
	sortParams(c.Params)
	clearFrom(c.Params)
	c.Choice.From = ""
	if c.Format != nil {
		c.Format.From = ""
	}
	for i := range c.Tools {
		c.Tools[i].Index = 0
		clearFrom(c.Tools[i].Extra)
	}
	for i := range c.Messages {
		c.Messages[i].Index = 0
		clearFrom(c.Messages[i].Extra)
	}
	eachPart(c, clearPositions)
}

func sortParams(list []llm.Param) {
	slices.SortFunc(list, func(a, b llm.Param) int { return strings.Compare(a.Name, b.Name) })
}

func clearFrom(list []llm.Param) {
	for i := range list {
		list[i].From = ""
	}
}

// Surface leaves out which surface the call came in by.
func Surface(c *llm.Call) { c.Surface = "" }

// Model leaves out its name, which the target sets.
func Model(c *llm.Call) { c.Model = "" }

// Stream leaves out whether the answer shall be streamed, for shapes that say that in
// the address.
func Stream(c *llm.Call) { c.Stream = false }

// Sources leaves out the caller's own bytes of tools that the caller runs, and of tool
// choices that the hub has a word for.
func Sources(c *llm.Call) {
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Type == llm.Function {
			t.Raw, t.Shape = nil, ""
		}
	}
	if c.Choice.Mode != "opaque" {
		c.Choice.Raw = nil
	}
}

// Developers takes developers for the system.
func Developers(c *llm.Call) {
	for i := range c.Messages {
		if c.Messages[i].Role == llm.RoleDeveloper {
			c.Messages[i].Role = llm.RoleSystem
		}
	}
}

// SystemFirst puts what the system says before everything else, as one message.
func SystemFirst(c *llm.Call) {
	Developers(c)
	system := llm.Message{Role: llm.RoleSystem}
	var rest []llm.Message
	for _, m := range c.Messages {
		if m.Role != llm.RoleSystem {
			rest = append(rest, m)
			continue
		}
		system.Parts = append(system.Parts, m.Parts...)
		system.Extra = append(system.Extra, m.Extra...)
		system.Index = m.Index
	}
	if len(system.Parts) > 0 {
		rest = slices.Insert(rest, 0, system)
	}
	c.Messages = rest
}

// Turns takes messages of one role that follow each other for one message.
func Turns(c *llm.Call) {
	var out []llm.Message
	for _, m := range c.Messages {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(out[n-1].Parts, m.Parts...)
			out[n-1].Extra = append(out[n-1].Extra, m.Extra...)
			continue
		}
		out = append(out, m)
	}
	c.Messages = out
}

// Texts takes texts without marks and citations that follow each other for one text,
// joined by sep.
func Texts(sep string) Loose {
	join := func(list []llm.Part) []llm.Part {
		var out []llm.Part
		for _, p := range list {
			n := len(out)
			if n > 0 && plainText(&p) && plainText(&out[n-1]) {
				out[n-1].Text += sep + p.Text
				continue
			}
			out = append(out, p)
		}
		return out
	}
	return func(c *llm.Call) {
		for i := range c.Messages {
			m := &c.Messages[i]
			m.Parts = join(m.Parts)
			for k := range m.Parts {
				if r := m.Parts[k].Result; r != nil {
					r.Parts = join(r.Parts)
				}
			}
		}
	}
}

func plainText(p *llm.Part) bool {
	return p.Kind == llm.TextPart && p.Cache == nil && p.Citations == nil && len(p.Extra) == 0
}

// Arguments takes a tool call without arguments for one with an empty object.
func Arguments(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if call := list[i].Call; call != nil && call.Arguments == "" && !call.Custom {
				call.Arguments = "{}"
			}
		}
	})
}

// ResultNames leaves out the names of the tools in their results.
func ResultNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Result != nil {
				list[i].Result.Name = ""
			}
		}
	})
}

// URLTypes leaves out the types of media that are named by URL or id: only their
// source knows them.
func URLTypes(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if m := list[i].Media; m != nil && m.Data == "" {
				m.MIME = ""
			}
		}
	})
}

// FileNames leaves out the names of documents.
func FileNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Media != nil {
				list[i].Media.Name = ""
			}
		}
	})
}

// DocumentNames gives documents without a name the one that stands for it.
func DocumentNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Kind == llm.FilePart {
				list[i].Media.Name = dialect.FileName(list[i].Media)
			}
		}
	})
}

// FormatNames leaves out the name of the answer's form.
func FormatNames(c *llm.Call) {
	if c.Format != nil {
		c.Format.Name = ""
	}
}

// ToolShapes leaves out in whose form a tool stands that the provider runs.
func ToolShapes(c *llm.Call) {
	for i := range c.Tools {
		c.Tools[i].Shape = ""
	}
}

// Neutrals leaves out parameters that say what holds anyway, which may get lost
// unsaid.
func Neutrals(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return len(llm.NewTally(&llm.Call{Params: []llm.Param{p}}).Dropped()) == 0
	})
}
