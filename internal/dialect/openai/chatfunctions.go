package openai

import (
	"strconv"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// functions reads the definitions that chat had before tools: a list of functions. A message
// has one call at a time, and the call has no id.
// Source: https://platform.openai.com/docs/api-reference/chat/create, functions, read 2026-11.
func (r *callReader) functions() error {
	if r.Kind() != '[' {
		return fields.Invalid("functions", "must be a list")
	}
	r.c.Functions = true
	for i := range r.Elements() {
		path := func() string { return fields.ElementPath("functions", i) }
		if r.Kind() != '{' {
			return fields.IsObject.Refuse(path())
		}
		t := llm.Tool{Index: i, Shape: shapeName, Type: llm.Function}
		if err := readFunction(&t, r.Raw(), path); err != nil {
			return err
		}
		r.c.Tools = append(r.c.Tools, t)
	}
	return nil
}

// functionChoice reads "auto", "none" or {"name":"f"}.
func functionChoice(raw []byte) (c llm.ToolChoice, err error) {
	c = llm.ToolChoice{From: "function_call"}
	switch mode, ok := jsonedit.Unquote(raw); {
	case ok && (mode == "auto" || mode == "none"):
		c.Mode = mode
	case !ok && jsonedit.Text(raw, "name") != "":
		c.Mode, c.Name = "tool", jsonedit.Text(raw, "name")
	default:
		return c, fields.Invalid(c.From, `must be "auto", "none" or an object with the name of a function`)
	}
	return c, nil
}

// functionCalled reads the call of a function in a message of the model. For other shapes it
// builds an id from the call's position. The result that names the function belongs to it.
func (r *callReader) functionCalled(m *llm.Message, raw []byte) error {
	p := llm.Part{Kind: llm.CallPart, Index: -1, Call: &llm.ToolCall{ID: "function_" + strconv.Itoa(m.Index)}}
	if err := readCalled(&p, raw, "arguments", func(field string) string { return messageFieldPath(m, "function_call."+field) }); err != nil {
		return err
	}
	if r.called == nil {
		r.called = map[string]string{}
	}
	r.called[p.Call.Name] = p.Call.ID
	m.Parts = append(m.Parts, p)
	return nil
}

// writeFunctionCall writes a call, or a fragment of one, in the format for callers of
// functions.
func writeFunctionCall(w *jsonwriter.Writer, name, arguments string) {
	w.Key("function_call").Open('{')
	w.Opt("name", name)
	w.Str("arguments", arguments)
	w.Close('}')
}
