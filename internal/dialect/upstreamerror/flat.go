package upstreamerror

import (
	"bytes"
	"strings"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/jsonedit"
)

var (
	messageKey = []byte(`"message"`)
	ChoicesKey = []byte(`"choices"`)
)

// IsFlat reports whether the data of an event is an error without a wrapper:
//
//	{"object":"error","message":"…","code":400}
//	{"code":500,"message":"…","type":"server_error"}
//	{"detail":"…"}
//
// In events that are part of a response, "message" is an object. Choices are never an error.
func IsFlat(data []byte) bool {
	if jsonscan.ValueAfter(data, ChoicesKey) != nil {
		return false
	}
	if jsonscan.ValueAfter(data, messageKey) == nil && !bytes.Contains(data, []byte(`"detail"`)) && !bytes.Contains(data, []byte(`"errors"`)) {
		return false
	}
	known, other := false, 0
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"message"`, `"detail"`:
			known = known || val[0] == '"' && !jsonscan.IsEmpty(val)
		case `"errors"`:
			known = known || val[0] == '[' && !jsonscan.IsEmpty(val)
		case `"object"`:
			other += notError(val)
		case `"code"`, `"type"`, `"status"`, `"status_code"`, `"statusCode"`, `"error_code"`, `"param"`, `"success"`, `"result"`, `"messages"`,
			`"name"`, `"id"`, `"request_id"`, `"requestId"`, `"raw_status_code"`, `"usage"`, `"model"`, `"created"`, `"timestamp"`, `"path"`:
		default:
			other++
		}
	}
	return known && other == 0
}

// notError is 1 for an object type other than "error".
func notError(val []byte) int {
	if jsonedit.IsName(val, EventName) || jsonscan.IsEmpty(val) {
		return 0
	}
	return 1
}

// otherMessages are the shapes of errors whose text is not in "message", in the order in which
// they are tried.
var otherMessages = [...]string{"aws", "detail_str", "detail_list", "error_str", "cloudflare", "fireworks", "stability_v2", "openai", "reka"}

// otherMessage is the text of an error in a shape that its members identify; empty for all
// others.
func otherMessage(raw []byte) string {
	if len(raw) > maxErrorBodyBytes {
		return ""
	}
	m := decoded(strings.TrimSpace(string(raw))) // numbers remain as they are written
	if m == nil {
		return ""
	}
	for _, name := range otherMessages {
		if d := shapes[name](m); d.message != "" {
			return d.message
		}
	}
	return text(m["error_msg"])
}
