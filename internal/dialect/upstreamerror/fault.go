package upstreamerror

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Fault is an error inside a stream event.
type Fault struct {
	Message string
	Type    string
	Code    string
	keyword string // the status as a name: "UNAVAILABLE"
	number  int    // HTTP status in the error; 0 for none

	Extra []llm.Param // additional members sent with an error about a conversation that is too long
}

// MaxTextBytes is the maximum size of an upstream's error text.
const MaxTextBytes = 1 << 10

// Find finds an error in an event: {"error":{…}} or {"error":"…"} on chat and most
// other endpoints, "type":"error" on messages and responses, the error of a failed
// response, and errors without a wrapper. An event named "error" is always an error.
func Find(name, data []byte) (Fault, bool) {
	if raw, ok := jsonedit.Find(data, "error"); ok && !noError(raw) {
		return readFault(raw), true
	}
	if raw, ok := jsonedit.Find(data, "response", "error"); ok && !noError(raw) {
		return readFault(raw), true
	}
	switch typ := string(EventType(name, data)); {
	case typ == "error", string(name) == EventName:
		return readFault(data), true
	case typ == ResponseFailed:
		return Fault{Message: "the provider cannot create the response", Code: "server_error"}, true
	case IsFlat(data):
		return readFault(data), true
	}
	return Fault{}, false
}

// EventName is the name of events that report an error. ResponseFailed is the type of the
// last event of a failed response.
const (
	EventName      = "error"
	ResponseFailed = "response.failed"
)

// noError reports whether the value of an "error" member means that there is no error.
func noError(raw []byte) bool { return jsonscan.IsEmpty(raw) || string(raw) == "false" }

func readFault(raw []byte) Fault {
	if text, ok := jsonedit.Unquote(raw); ok {
		return Fault{Message: Clip(text, MaxTextBytes)}
	}
	var f Fault
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"message"`:
			f.Message = Clip(plain(val), MaxTextBytes)
		case `"type"`:
			f.Type = plain(val)
		case `"code"`, `"status"`, `"status_code"`, `"statusCode"`, `"error_code"`:
			f.coded(string(name), val)
		}
	}
	if f.Message == "" {
		f.Message = Clip(cmp.Or(otherMessage(raw), string(raw)), MaxTextBytes)
	}
	return f
}

// coded reads a code or a status. A status name becomes the type if there is no other type.
// An HTTP status is read from any of these members, but only "code" sets the error's code.
func (f *Fault) coded(name string, val []byte) {
	text := CodeText(val)
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
	case err == nil && n >= 400 && n <= 599:
		f.number = n
	case err != nil && name != `"code"`:
		f.keyword = text
	}
	if name == `"code"` {
		f.Code = text
	}
}

// Kind is the type of the error. Responses have "error" there, which is the type of the event.
func (f *Fault) Kind() string {
	if f.Type == EventName {
		return f.keyword
	}
	return cmp.Or(f.Type, f.keyword)
}

// Named is the code if it is a name.
func (f *Fault) Named() string {
	if isNumber([]byte(f.Code)) {
		return ""
	}
	return f.Code
}

// CodeText is the code of an error as a string. A number is formatted unchanged; anything except a
// string or a number becomes "".
func CodeText(raw []byte) string {
	if text, ok := jsonedit.Unquote(raw); ok {
		return text
	}
	if isNumber(raw) {
		return string(raw)
	}
	return ""
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// plain is a raw value as text.
func plain(raw []byte) string {
	if s, ok := jsonedit.Unquote(raw); ok {
		return s
	}
	return string(raw)
}

// Clip truncates a string to at most n bytes of valid UTF-8.
func Clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// Status is the HTTP Status that the error would have as a response.
func (f Fault) Status() int {
	if n, found := f.statusFromText(); found {
		return n
	}
	return 500
}

// statusFromText derives that status from the fields of the error, if they reveal it.
func (f Fault) statusFromText() (status int, ok bool) {
	if f.number != 0 {
		return f.number, true
	}
	for _, s := range [...]struct {
		keyword string
		status  int
	}{
		{"overloaded", 529}, {"rate_limit", 429}, {"RESOURCE_EXHAUSTED", 429}, {"UNAVAILABLE", 503}, {"insufficient_quota", 429}, {"quota", 429},
		{"authentication", 401}, {"invalid_api_key", 401}, {"permission", 403}, {"not_found", 404},
		{"too_large", 413}, {"timeout", 408}, {"unavailable", 503}, {"invalid_request", 400},
		{"content_filter", 400}, {"context_length", 400},
	} {
		if strings.Contains(f.Type, s.keyword) || strings.Contains(f.Code, s.keyword) || strings.Contains(f.keyword, s.keyword) {
			return s.status, true
		}
	}
	return 0, false
}

// DetectError is the HTTP status of an error in a successful response, if the error reveals
// one: {"error":{"message":"Rate limited","code":429}}.
func DetectError(body []byte) (status int, ok bool) {
	raw, found := jsonedit.Find(body, "error")
	if !found || jsonscan.IsEmpty(raw) {
		return 0, false
	}
	return readFault(raw).statusFromText()
}

// ReadEvent reads the error in the data of an event, for stream decoders:
// {"error":{…}}, {"type":"error",…}, {"object":"error",…}, {"code":500,"message":"…"} and
// similar forms. Usage is that of the event, nil if it has none.
func ReadEvent(data []byte) (llm.Event, bool) {
	if !jsonscan.HasValue(data, ErrorKey) && !IsFlat(data) {
		return llm.Event{}, false
	}
	f, ok := Find(nil, data)
	if !ok {
		return llm.Event{}, false
	}
	return llm.Event{Kind: llm.EventFault, Text: f.Message, Name: cmp.Or(f.Kind(), f.Named()), ID: f.Code, Status: f.Status(), Usage: Usage(data), Raw: data}, true
}

// Usage is the usage in an event or a body that reports an error, in the format of any
// provider; nil if there is none. The usage may be in "result", the envelope of Cloudflare. The
// error may be in a list with one element, as Google sends it.
func Usage(data []byte) *llm.Usage {
	data = bytes.TrimLeft(data, " \t\r\n")
	if bytes.HasPrefix(data, []byte{'['}) {
		for first := range jsonedit.Elements(data) {
			data = first
			break
		}
	}
	if u, _ := usage.Read(llm.Proxy, data, "x_groq.usage"); u.Reported {
		return &u
	}
	inner, _ := jsonedit.Find(data, "result")
	if u, _ := usage.Read(llm.Proxy, inner, ""); jsonscan.IsObject(inner) && u.Reported {
		return &u
	}
	return nil
}

// EventType returns the type of a typed event, from its data or else its name.
func EventType(name, data []byte) []byte {
	if raw, ok := jsonedit.Find(data, "type"); ok && len(raw) > 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return name
}

// The keys that responses with errors have.
var (
	ErrorKey  = []byte(`"error"`)
	FinishKey = []byte(`"finish_reason"`)
)
