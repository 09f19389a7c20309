package fields

import (
	"strconv"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// ElementPath is the path of a list element in the caller's body: "tools[2]".
func ElementPath(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Invalid is the error for the value at a path of the caller's body: fault.InvalidParameter
// with that path as Param. Message continues after the path, for example "must be a string".
func Invalid(path, message string) error {
	return fault.New(fault.InvalidParameter, path+" "+message).WithParam(path)
}

// String reads a string and rejects any other value at that path.
func String(raw []byte, path string) (string, error) {
	s, ok := jsonedit.Unquote(raw)
	if !ok {
		return "", IsString.Refuse(path)
	}
	return s, nil
}

// ParseBool reads true or false; nil for null.
func ParseBool(raw []byte) *bool {
	if jsonedit.IsNull(raw) {
		return nil
	}
	enabled := string(raw) == "true"
	return &enabled
}

// ReadCache reads a cache mark, {"type":"ephemeral","ttl":"1h"}; nil for anything else.
// Source: contract/provider-transforms.md 2.2.
func ReadCache(raw []byte) *llm.Cache {
	if !jsonscan.IsObject(raw) {
		return nil
	}
	return &llm.Cache{TTL: jsonedit.Text(raw, "ttl")}
}

// PlainContent reads the content of a message that is a string or null.
func PlainContent(raw []byte) (parts []llm.Part, ok bool) {
	if jsonedit.IsNull(raw) {
		return nil, true
	}
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		return nil, false
	}
	return []llm.Part{{Kind: llm.TextPart, Index: -1, Text: text}}, true
}

// ReadContent reads the content of a message, a string or a list of parts. It calls read for each
// part with its path. It returns no parts for null.
func ReadContent(raw []byte, path string, read func(raw []byte, path string) (llm.Part, error)) ([]llm.Part, error) {
	if parts, ok := PlainContent(raw); ok {
		return parts, nil
	}
	if raw[0] != '[' {
		return nil, Invalid(path, "must be a string or a list of parts")
	}
	var parts []llm.Part
	for val := range jsonedit.Elements(raw) {
		p, err := read(val, ElementPath(path, len(parts)))
		if err != nil {
			return nil, err
		}
		p.Index = len(parts)
		parts = append(parts, p)
	}
	return parts, nil
}

// NestedPath is a path in the caller's body. In chat completions the object's content is nested
// under a further name: tools[0].function, response_format.json_schema.
func NestedPath(c *llm.Call, path, name string) string {
	if c.Surface == llm.ChatComplete {
		return path + "." + name
	}
	return path
}
