package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// tools writes toolConfig: the functions and what is said of their choice. Converse
// cannot be told not to call tools, so then they are left out; but a conversation that
// has calls in it must have them.
func (w *callWriter) tools() error {
	called := w.called()
	choice := &w.c.Choice
	if choice.Mode == "none" {
		if len(called) == 0 {
			return nil
		}
		w.t.Lose(choice.From)
	}
	list := dialect.JSON{}
	list.Open('[')
	for i := range w.c.Tools {
		w.tool(&list, &w.c.Tools[i])
	}
	if len(list.B) == 1 && len(w.native) == 0 {
		for _, name := range called {
			spec(&list, &llm.Tool{Name: name})
		}
	}
	empty := len(list.B) == 1
	list.Close(']')
	if empty {
		return w.unchosen()
	}
	w.Key("toolConfig").Open('{')
	w.Raw("tools", list.B)
	w.choice()
	w.Close('}')
	return nil
}

// unchosen says that a choice among no functions is left out.
func (w *callWriter) unchosen() error {
	switch w.c.Choice.Mode {
	case "", "auto", "none":
	default:
		w.t.Lose(w.c.Choice.From)
	}
	return nil
}

// called lists the tools that were called so far.
func (w *callWriter) called() []string {
	var names []string
	seen := map[string]bool{}
	for i := range w.c.Messages {
		for k := range w.c.Messages[i].Parts {
			if c := w.c.Messages[i].Parts[k].Call; c != nil && !seen[c.Name] {
				seen[c.Name] = true
				names = append(names, c.Name)
			}
		}
	}
	return names
}

func (w *callWriter) tool(list *dialect.JSON, t *llm.Tool) {
	at := dialect.Index("tools", t.Index)
	if t.Type != llm.Function {
		if w.family != claude || t.Type == "custom" || t.Type == "mcp" {
			w.t.Lose(at)
			return
		}
		w.native = append(w.native, t)
		return
	}
	spec(list, t)
	switch {
	case t.Cache == nil:
	case w.family == amazon: // refused there
		w.t.Lose(at + ".cache_control")
	default:
		list.Open('{')
		list.Key("cachePoint").Open('{')
		list.Str("type", "default")
		list.Opt("ttl", t.Cache.TTL)
		list.Close('}')
		list.Close('}')
	}
}

// spec writes a function.
func spec(list *dialect.JSON, t *llm.Tool) {
	list.Open('{')
	list.Key("toolSpec").Open('{')
	list.Str("name", t.Name)
	list.Opt("description", t.Description)
	list.Key("inputSchema").Open('{')
	list.Raw("json", typed(t.Schema))
	list.Close('}')
	if t.Strict != nil {
		list.Bool("strict", *t.Strict)
	}
	list.Close('}')
	list.Close('}')
}

// typed is a schema of arguments with the type that Bedrock wants of it.
func typed(schema []byte) []byte {
	const head = `{"type":"object"`
	if _, ok := splice.Find(schema, "type"); ok {
		return schema
	}
	out := []byte(head)
	for name, val := range splice.Members(schema) {
		out = append(append(append(append(out, ','), name...), ':'), val...)
	}
	return append(out, '}')
}

// choice writes toolChoice.
func (w *callWriter) choice() {
	switch c := &w.c.Choice; c.Mode {
	case "", "none":
	case "auto":
		w.chosen("auto", "")
	case "required":
		w.chosen("any", "")
	case "tool":
		w.chosen("tool", c.Name)
	default:
		w.t.Lose(c.From)
	}
}

func (w *callWriter) chosen(kind, name string) {
	w.Key("toolChoice").Open('{')
	w.Key(kind).Open('{')
	w.Opt("name", name)
	w.Close('}')
	w.Close('}')
}

// writeNative writes a tool of Anthropic's in Anthropic's form. Callers of chat write
// {"type":"web_search","web_search":{"name":"web_search_20250305","max_uses":2}} for
// {"type":"web_search_20250305","name":"web_search","max_uses":2}.
// Source: contract/provider-transforms.md 2.3.
func writeNative(o *dialect.JSON, t *llm.Tool) {
	inner, ok := splice.Find(t.Raw, t.Type)
	if t.Shape == claude || !ok {
		o.Value(t.Raw)
		return
	}
	o.Open('{')
	o.Str("type", splice.Text(inner, "name"))
	o.Str("name", t.Type)
	for name, val := range splice.Members(inner) {
		if string(name) != `"name"` {
			o.Raw(bare(name), val)
		}
	}
	o.Close('}')
}
