package dialecttest

import (
	"slices"
	"strings"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// Loose hides a difference from Diff that a shape cannot express. It changes a copy of the call
// into one form that represents both variants.
type Loose func(c *llm.Call)

func relaxed(c *llm.Call, loose []Loose) *llm.Call {
	c = clone(c)
	c.Bytes = 0 // a call that a test builds has no body
	for _, l := range loose {
		l(c)
	}
	return c
}

// eachPart calls do with the parts of every message and tool result.
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

// Positions ignores positions in the caller's body: Index, From, and the order of parameters.
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

// Surface ignores the surface through which the call arrived.
func Surface(c *llm.Call) { c.Surface = "" }

// Model ignores the model name, which the target sets.
func Model(c *llm.Call) { c.Model = "" }

// Stream ignores whether the response is streamed, for shapes that encode this in the URL.
func Stream(c *llm.Call) { c.Stream = false }

// Sources ignores the caller's raw bytes of function tools, and of tool choices for which the hub
// has a mode.
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

// Developers treats the developer role as the system role.
func Developers(c *llm.Call) {
	for i := range c.Messages {
		if c.Messages[i].Role == llm.RoleDeveloper {
			c.Messages[i].Role = llm.RoleSystem
		}
	}
}

// SystemFirst merges all system messages into one message at the start.
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

// Turns treats consecutive messages of one role as one message.
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

// Texts treats consecutive texts as one text, joined by sep. Texts with cache marks, citations or
// extra fields stay separate.
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

// Arguments treats a tool call without arguments as one with an empty object.
func Arguments(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if call := list[i].Call; call != nil && call.Arguments == "" && !call.Custom {
				call.Arguments = "{}"
			}
		}
	})
}

// ResultNames ignores the tool names in tool results.
func ResultNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Result != nil {
				list[i].Result.Name = ""
			}
		}
	})
}

// URLTypes ignores the types of media that are referenced by URL or id: only their source knows
// the type.
func URLTypes(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if m := list[i].Media; m != nil && m.Data == "" {
				m.MIME = ""
			}
		}
	})
}

// FileNames ignores the names of documents.
func FileNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Media != nil {
				list[i].Media.Name = ""
			}
		}
	})
}

// DocumentNames gives documents without a name the default name.
func DocumentNames(c *llm.Call) {
	eachPart(c, func(list []llm.Part) {
		for i := range list {
			if list[i].Kind == llm.FilePart {
				list[i].Media.Name = media.FileName(list[i].Media)
			}
		}
	})
}

// FormatNames ignores the name of the response format.
func FormatNames(c *llm.Call) {
	if c.Format != nil {
		c.Format.Name = ""
	}
}

// ToolShapes ignores the shape of tools.
func ToolShapes(c *llm.Call) {
	for i := range c.Tools {
		c.Tools[i].Shape = ""
	}
}

// Neutrals ignores parameters with the default value, which a translation may omit without
// reporting it.
func Neutrals(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return len(llm.NewTally(&llm.Call{Params: []llm.Param{p}}).Dropped()) == 0
	})
}
