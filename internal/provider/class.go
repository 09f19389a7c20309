package provider

import (
	"strings"

	"github.com/tidwall/gjson"
)

// class is the permitted form of a field's value. Every field in a host has one of the host
// classes. A value outside its class is refused before anything is built from it, so a value
// cannot redirect a call, with its key, to another host. Source: contract/dataplane.md 10.1, PR
// 1597.
type class string

const (
	classLabel   class = "label"   // one DNS label: "contoso-eu"
	classDomain  class = "domain"  // labels with dots, underscores too: "xy12345.us-east-2.aws"
	classURL     class = "url"     // http or https URL without user, query and fragment
	classSegment class = "segment" // letters, digits and ._~- : a path segment or a version
	classObject  class = "object"  // a JSON object
	classAny     class = ""        // any value valid in a header; escaped in paths and queries
)

// host reports whether values of the class may be part of a host.
func (c class) host() bool { return c == classLabel || c == classDomain }

// classes describes for the caller what each class accepts.
var classes = map[class]string{
	classLabel:   "letters, digits and inner dashes, at most 63",
	classDomain:  "letters, digits, dashes and underscores, with parts separated by dots",
	classURL:     "an http or https URL without user, query and fragment",
	classSegment: "letters, digits, dots, dashes, underscores and tildes, at most 128",
	classObject:  "a JSON object",
	classAny:     "text without control characters",
}

func (c class) ok(v string) bool {
	switch c {
	case classLabel:
		return label(v, false)
	case classDomain:
		return domain(v)
	case classURL:
		_, ok := parseBase(v)
		return ok
	case classSegment:
		return segment(v)
	case classObject:
		return len(v) <= maxValue && clean(v) && strings.HasPrefix(strings.TrimSpace(v), "{") && gjson.Valid(v)
	default: // classAny
		return len(v) <= maxValue && clean(v)
	}
}

// maxValue is the maximum length of a credential field in bytes. It is enough for a PEM key and
// a service account document.
const maxValue = 64 << 10

// clean reports whether v has no control characters except tabs and line breaks, which PEM keys
// have. Values sent as headers are checked again, there without line breaks.
func clean(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}

func label(v string, underscore bool) bool {
	if v == "" || len(v) > 63 || v[0] == '-' || v[len(v)-1] == '-' {
		return false
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; !alnum(c) && c != '-' && (c != '_' || !underscore) {
			return false
		}
	}
	return true
}

func domain(v string) bool {
	if len(v) > 200 {
		return false
	}
	for part := range strings.SplitSeq(v, ".") {
		if !label(part, true) {
			return false
		}
	}
	return true
}

func segment(v string) bool {
	if v == "" || len(v) > 128 || v == "." || v == ".." {
		return false
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; !alnum(c) && strings.IndexByte("._~-", c) < 0 {
			return false
		}
	}
	return true
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
