package responsestore

import (
	"strconv"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/jsonedit"
)

// asItems returns an input as a list of items. A string becomes one message.
func asItems(input []byte) []byte {
	if len(input) == 0 || input[0] != '"' {
		return input
	}
	var w jsonwriter.Writer
	w.Open('[')
	w.Open('{')
	w.Str("type", "message")
	w.Str("role", "user")
	w.Raw("content", input)
	w.Close('}')
	w.Close(']')
	return w.B
}

// contextItemTypes are the types of items that a conversation continues from. Other items, such
// as generated images, are only for the caller.
var contextItemTypes = map[string]bool{
	"": true, "message": true, "reasoning": true, "function_call": true, "function_call_output": true, "custom_tool_call": true, "custom_tool_call_output": true,
}

// appendContextItems appends the items of a list that a conversation continues from, with commas
// and without brackets. With plain, it omits ids, which are unknown to another store, and
// reasoning, which only its own provider can use.
func appendContextItems(dst, list []byte, plain bool) []byte {
	for item := range jsonedit.Elements(list) {
		kind := jsonedit.Text(item, "type")
		switch {
		case !contextItemTypes[kind], plain && kind == "reasoning":
			continue
		case plain:
			item = without(item, "id", "status", "thought_signature")
		}
		dst = appendItem(dst, item)
	}
	return dst
}

func appendItem(dst, item []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	return append(dst, item...)
}

// without returns an object without the named members.
func without(raw []byte, names ...string) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(raw, d) != nil {
		return raw
	}
	edits := make([]jsonedit.Edit, len(names))
	for i, n := range names {
		edits[i] = jsonedit.Drop(n)
	}
	return d.Apply(edits)
}

// listed returns a list of items in the form that the API lists them: each has a type and an id,
// and the content of a message is a list of parts. unique is part of the generated ids.
func listed(list []byte, unique string) []byte {
	unique = strings.TrimPrefix(unique, responses.ID(""))
	out := []byte{'['}
	n := 0
	for item := range jsonedit.Elements(list) {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, shown(item, unique+"i"+strconv.Itoa(n))...)
		n++
	}
	return append(out, ']')
}

// idPrefixes are the prefixes of item ids, by item type.
var idPrefixes = map[string]string{
	"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "function_call_output": "fco_", "custom_tool_call": "ctc_", "custom_tool_call_output": "ctco_",
}

func shown(item []byte, unique string) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(item, d) != nil {
		return item
	}
	kind, ok := d.String("type")
	if !ok {
		kind = "message"
	}
	edits := []jsonedit.Edit{jsonedit.SetDefault("type", jsonedit.Quote(kind)), jsonedit.SetDefault("id", jsonedit.Quote(idPrefixes[kind]+unique))}
	if kind == "message" {
		edits = append(edits, jsonedit.SetDefault("status", []byte(`"completed"`)))
		if content, _ := d.Raw("content"); len(content) > 0 && content[0] == '"' {
			edits = append(edits, jsonedit.Set("content", inParts(content, jsonedit.Text(item, "role"))))
		}
	}
	return d.Apply(edits)
}

// inParts returns a string content as a list of one part.
func inParts(text []byte, role string) []byte {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	var w jsonwriter.Writer
	w.Open('[')
	w.Open('{')
	w.Str("type", kind)
	w.Raw("text", text)
	w.Close('}')
	w.Close(']')
	return w.B
}
