package guardedstream

import (
	"slices"
	"strings"
)

// isName reports whether a value is the name of a tool.
func (d document) isName(name string, value span) bool {
	return name == "name" && d.isString(value) && isIdentifier(d.string(value))
}

// isSignature reports whether a value is the signature of reasoning, or a part of it.
func (d document) isSignature(name string, value span) bool {
	text := d.string(value)
	return name == "signature" && text != "" && isBase64(text)
}

// isCount reports whether a value contains numbers and identifiers only, as the usage does.
func (d document) isCount(name string, value span) bool {
	for key, member := range d.members(value) {
		if !d.isCount(key, member) {
			return false
		}
	}
	return !d.isList(value) && (!d.isString(value) || d.isIdentity(name, value))
}

// isIdentity reports whether a member is an id, a type or a model, or binary data. Only values that
// look like one are; others are text.
func (d document) isIdentity(name string, value span) bool {
	if !d.isString(value) {
		return false
	}
	text := string(d[value.start+1 : value.end-1])
	if media, data, ok := strings.Cut(text, ";base64,"); ok {
		return isIdentifier(media) && isBinary(data)
	}
	if slices.Contains(binaryNames, name) {
		return isBinary(text)
	}
	_, known := slices.BinarySearch(identityNames, name)
	return known && isIdentifier(text)
}

// identityNames are the members whose values are ids, types and models, in order.
var identityNames = []string{
	"call_id", "code", "container_id", "event_id", "file_id", "finish_reason", "id", "item_id", "model", "native_finish_reason", "obfuscation", "object",
	"param", "phase", "previous_response_id", "provider", "reason", "request_id", "response_id", "role", "server_label", "service_tier", "status", "stop_reason",
	"system_fingerprint", "tool_use_id", "truncation", "type", "vector_store_id",
}

// binaryNames are the members with data in base64.
var binaryNames = []string{"data", "audio", "encrypted_content", "encrypted_index", "signature", "b64_json", "partial_image_b64", "result", "thought_signature"}

// isBinary reports whether a text consists of the signs of base64. Short ones may be words.
func isBinary(text string) bool {
	return len(text) >= minBinary && isBase64(text)
}

const minBinary = 32 // bytes

// isBase64 reports whether a text is base64. The gateway puts the vendor and a colon before it.
func isBase64(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_:") == ""
}
