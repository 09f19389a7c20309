package tokens

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// depthMax is the maximum depth at which content is parsed. Deeper content counts as text.
const depthMax = 12

// labels are the members of messages and parts that are not text of the conversation.
var labels = names("type role name id index status object finish_reason stop_reason call_id tool_call_id tool_use_id item_id " +
	"cache_control detail format media_type mime_type filename file_name signature annotations logprobs phase is_error caller")

// sealedNames are the members that only the provider can read.
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

// value counts content: a string, a list of parts, or an object with such.
func (r *reader) value(raw []byte, depth int) {
	if len(raw) == 0 {
		return
	}
	switch {
	case raw[0] == '"':
		s, _ := jsonedit.Unquote(raw)
		r.counter.text(s)
	case depth >= depthMax:
		r.counter.text(string(raw))
	case raw[0] == '[':
		for el := range jsonedit.Elements(raw) {
			r.value(el, depth+1)
		}
	case raw[0] == '{':
		r.part(raw, depth)
	}
}

// part counts an object that may be a medium or a call.
func (r *reader) part(raw []byte, depth int) {
	p := lastMembers(raw, "type", "name", "image_url", "input_audio", "file", "file_data", "source", "detail")
	if m := mediumIn(&p); m != nil {
		r.counter.medium(m)
		return
	}
	if called[text(p[0])] {
		r.counter.text(text(p[1]))
	}
	r.members(raw, depth)
}

// called are the types of parts whose name the model writes or reads.
var called = names("tool_use server_tool_use mcp_tool_use function_call custom_tool_call mcp_call")

// repeated are the members of model output, in responses and stream events, that another
// member of the same object may repeat: content_blocks contains all of the content, and some
// servers return reasoning under several names.
var repeated = map[string][]string{"content": {"content_blocks"}, "reasoning": {"reasoning_content"}, "reasoning_details": {"reasoning", "reasoning_content"}}

// repeats reports whether another member of an object repeats a member.
func repeats(object []byte, key string) bool {
	for _, other := range repeated[key] {
		if val := last(object, other); len(val) > 2 && (val[0] == '[' || val[0] == '"') {
			return true
		}
	}
	return false
}

func (r *reader) members(raw []byte, depth int) {
	for name, val := range jsonedit.Members(raw) {
		key, _ := jsonedit.Unquote(name)
		switch {
		case r.isResponse && repeats(raw, key):
		case key == "function" || key == "function_call" || key == "custom":
			r.counter.text(lastText(val, "name"))
			r.members(val, depth+1)
		case labels[key] || len(val) == 0:
		case sealedNames[key]:
			r.counter.sealed(len(val))
		case rawNames[key] && val[0] == '{':
			r.counter.text(string(val))
		default:
			r.value(val, depth+1)
		}
	}
}

// mediumIn reads a part that is a medium, in any format, from the members that part collected;
// nil if it is not a medium.
func mediumIn(p *[lastsMax][]byte) *medium {
	image, audio, file, data, source, detail := p[2], p[3], p[4], p[5], p[6], p[7]
	switch text(p[0]) {
	case "image_url":
		if url, bare := jsonedit.Unquote(image); bare {
			return named(imageMedium, url, "")
		}
		members := lastMembers(image, "url", "detail")
		return named(imageMedium, text(members[0]), text(members[1]))
	case "input_image":
		return named(imageMedium, text(image), text(detail))
	case "input_audio":
		return newMedium(audioMedium, "", lastText(audio, "data"), "")
	case "file":
		return named(document, lastText(file, "file_data"), "")
	case "input_file":
		return named(document, text(data), "")
	case "image":
		return sourced(imageMedium, source)
	case "document":
		return sourced(document, source)
	}
	return nil
}

// named returns the medium of a URL. Only data URLs contain it.
func named(k mediumKind, url, detail string) *medium {
	rest, ok := strings.CutPrefix(url, "data:")
	head, data, found := strings.Cut(rest, ",")
	if !ok || !found {
		return newMedium(k, "", "", detail)
	}
	mime, _, _ := strings.Cut(head, ";")
	return newMedium(k, mime, data, detail)
}

// sourced returns the medium of Anthropic's source; nil if that contains parts of its own.
func sourced(k mediumKind, source []byte) *medium {
	members := lastMembers(source, "type", "data", "media_type")
	switch kind := text(members[0]); {
	case source == nil || kind == "content":
		return nil
	case kind == "text":
		return &medium{kind: document, plain: true, text: text(members[1])}
	}
	return newMedium(k, text(members[2]), text(members[1]), "")
}
