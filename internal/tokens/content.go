package tokens

import (
	"strings"

	"sluice/internal/splice"
)

// depthMax is how deep content is looked into; what lies deeper counts as the text that
// it is.
const depthMax = 12

// labels are the members of messages and parts that are no words of the conversation.
var labels = names("type role name id index status object finish_reason stop_reason call_id tool_call_id tool_use_id item_id " +
	"cache_control detail format media_type mime_type filename file_name signature annotations logprobs phase is_error caller")

// sealedNames are the members that hold what only the provider can read.
var sealedNames = names("encrypted_content data")

// rawNames are the members whose JSON is read as text.
var rawNames = names("input schema parameters")

func names(list string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(list) {
		m[n] = true
	}
	return m
}

// value puts content on the scale: a text, a list of parts, or an object with such.
func (r *reader) value(raw []byte, depth int) {
	if len(raw) == 0 {
		return
	}
	switch {
	case raw[0] == '"':
		s, _ := splice.Unquote(raw)
		r.scale.text(s)
	case depth >= depthMax:
		r.scale.text(string(raw))
	case raw[0] == '[':
		for el := range splice.Elements(raw) {
			r.value(el, depth+1)
		}
	case raw[0] == '{':
		r.part(raw, depth)
	}
}

// part puts an object on the scale that may be a medium or a call.
func (r *reader) part(raw []byte, depth int) {
	if m := mediumIn(raw); m != nil {
		r.scale.medium(m)
		return
	}
	if called[splice.Text(raw, "type")] {
		r.scale.text(splice.Text(raw, "name"))
	}
	r.members(raw, depth)
}

// called are the types of parts whose name the model writes or reads.
var called = names("tool_use server_tool_use mcp_tool_use function_call custom_tool_call mcp_call")

func (r *reader) members(raw []byte, depth int) {
	for name, val := range splice.Members(raw) {
		key, _ := splice.Unquote(name)
		switch {
		case key == "function" || key == "function_call" || key == "custom":
			r.scale.text(splice.Text(val, "name"))
			r.members(val, depth+1)
		case labels[key] || len(val) == 0:
		case sealedNames[key]:
			r.scale.sealed(len(val))
		case rawNames[key] && val[0] == '{':
			r.scale.text(string(val))
		default:
			r.value(val, depth+1)
		}
	}
}

// mediumIn reads a part that is a medium, in the words of any surface; nil when it is
// none.
func mediumIn(raw []byte) *medium {
	switch splice.Text(raw, "type") {
	case "image_url":
		at, _ := splice.Find(raw, "image_url")
		return named(picture, urlOf(at), splice.Text(at, "detail"))
	case "input_image":
		return named(picture, splice.Text(raw, "image_url"), splice.Text(raw, "detail"))
	case "input_audio":
		at, _ := splice.Find(raw, "input_audio")
		return newMedium(sound, "", splice.Text(at, "data"), "")
	case "file":
		at, _ := splice.Find(raw, "file")
		return named(document, splice.Text(at, "file_data"), "")
	case "input_file":
		return named(document, splice.Text(raw, "file_data"), "")
	case "image":
		return sourced(picture, raw)
	case "document":
		return sourced(document, raw)
	}
	return nil
}

// urlOf is the URL of an image, alone or in an object.
func urlOf(raw []byte) string {
	if s, ok := splice.Unquote(raw); ok {
		return s
	}
	return splice.Text(raw, "url")
}

// named makes a medium of a URL, of which only data URLs hold it.
func named(k mediumKind, url, detail string) *medium {
	rest, ok := strings.CutPrefix(url, "data:")
	head, data, found := strings.Cut(rest, ",")
	if !ok || !found {
		return newMedium(k, "", "", detail)
	}
	mime, _, _ := strings.Cut(head, ";")
	return newMedium(k, mime, data, detail)
}

// sourced makes a medium of Anthropic's source; nil when that holds parts of its own.
func sourced(k mediumKind, raw []byte) *medium {
	at, ok := splice.Find(raw, "source")
	switch kind := splice.Text(at, "type"); {
	case !ok || kind == "content":
		return nil
	case kind == "text":
		return &medium{kind: document, plain: true, text: splice.Text(at, "data")}
	}
	return newMedium(k, splice.Text(at, "media_type"), splice.Text(at, "data"), "")
}
