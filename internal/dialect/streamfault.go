package dialect

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// streamFault is an error that stands in an event.
type streamFault struct {
	message string
	typ     string
	code    string
	number  int // HTTP status that the error names; 0 for none
}

// faultTextMax bounds the text of an upstream's error.
const faultTextMax = 1 << 10

// findFault looks for an error in an event: {"error":{…}} or {"error":"…"} on chat and
// most others, "type":"error" on messages and responses, the error of a response that
// failed, and errors without a wrapper. An event named "error" is one whatever its data.
func findFault(e event) (streamFault, bool) {
	if raw, ok := splice.Find(e.data, "error"); ok && !noError(raw) {
		return readFault(raw), true
	}
	if raw, ok := splice.Find(e.data, "response", "error"); ok && !noError(raw) {
		return readFault(raw), true
	}
	switch typ := string(kind(e)); {
	case typ == "error", string(e.name) == errorName:
		return readFault(e.data), true
	case typ == responseFailed:
		return streamFault{message: "the provider could not make the response", code: "server_error"}, true
	case flatFault(e.data):
		return readFault(e.data), true
	}
	return streamFault{}, false
}

// errorName is the name of events that report an error, responseFailed the type of the last
// event of a response that failed.
const (
	errorName      = "error"
	responseFailed = "response.failed"
)

// noError reports whether the value of an "error" member says that there is none.
func noError(raw []byte) bool { return hollow(raw) || string(raw) == "false" }

func readFault(raw []byte) streamFault {
	if text, ok := splice.Unquote(raw); ok {
		return streamFault{message: clip(text, faultTextMax)}
	}
	var f streamFault
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"message"`:
			f.message = clip(plain(val), faultTextMax)
		case `"type"`:
			f.typ = plain(val)
		case `"code"`, `"status"`, `"status_code"`, `"statusCode"`, `"error_code"`:
			f.coded(val)
		}
	}
	if f.message == "" {
		f.message = clip(cmp.Or(otherMessage(raw), string(raw)), faultTextMax)
	}
	return f
}

// coded takes a code or a status. Where there are several, a name counts before a number as
// the code, and an HTTP status is remembered whatever the code is.
func (f *streamFault) coded(val []byte) {
	if hollow(val) {
		return
	}
	code := plain(val)
	n, err := strconv.Atoi(code)
	if err == nil && n >= 400 && n <= 599 {
		f.number = n
	}
	if f.code == "" || err != nil {
		f.code = code
	}
}

// plain is a raw value as text.
func plain(raw []byte) string {
	if s, ok := splice.Unquote(raw); ok {
		return s
	}
	return string(raw)
}

// clip shortens a text to at most n bytes of valid UTF-8.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// status is the HTTP status that the error would have had as an answer of its own.
func (f streamFault) status() int {
	if n, told := f.told(); told {
		return n
	}
	return 500
}

// told is that status where the words of the error tell it.
func (f streamFault) told() (status int, ok bool) {
	if f.number != 0 {
		return f.number, true
	}
	for _, s := range [...]struct {
		word   string
		status int
	}{
		{"overloaded", 529}, {"rate_limit", 429}, {"RESOURCE_EXHAUSTED", 429}, {"UNAVAILABLE", 503}, {"insufficient_quota", 429}, {"quota", 429},
		{"authentication", 401}, {"invalid_api_key", 401}, {"permission", 403}, {"not_found", 404},
		{"too_large", 413}, {"timeout", 408}, {"unavailable", 503}, {"invalid_request", 400},
		{"content_filter", 400}, {"context_length", 400},
	} {
		if strings.Contains(f.typ, s.word) || strings.Contains(f.code, s.word) {
			return s.status, true
		}
	}
	return 0, false
}

// ReplyError is the status that stands for the error in an answer of success, where there is
// one that tells: {"error":{"message":"Rate limited","code":429}}.
func ReplyError(body []byte) (status int, ok bool) {
	raw, found := splice.Find(body, "error")
	if !found || hollow(raw) {
		return 0, false
	}
	return readFault(raw).told()
}

// EventFault reads the error that the data of an event holds, for decoders of streams:
// {"error":{…}}, {"type":"error",…}, {"object":"error",…}, {"code":500,"message":"…"} and
// similar ones. Usage is that of the event, nil where it has none.
func EventFault(data []byte) (llm.Event, bool) {
	if !says(data, errorKey) && !flatFault(data) {
		return llm.Event{}, false
	}
	f, ok := findFault(event{data: data})
	if !ok {
		return llm.Event{}, false
	}
	return llm.Event{Kind: llm.EventFault, Text: f.message, Name: cmp.Or(f.typ, f.code), Status: f.status(), Usage: FaultUsage(data)}, true
}

// FaultUsage is the usage in an event or a body that reports an error, in the words of any
// provider; nil where there is none. It may be in "result", the envelope of Cloudflare, and the
// error in a list of one, as Google has it.
func FaultUsage(data []byte) *llm.Usage {
	data = bytes.TrimLeft(data, " \t\r\n")
	if bytes.HasPrefix(data, []byte{'['}) {
		for first := range splice.Elements(data) {
			data = first
			break
		}
	}
	if u, _ := Usage(llm.Proxy, data, "x_groq.usage"); u.Reported {
		return &u
	}
	inner, _ := splice.Find(data, "result")
	if u, _ := Usage(llm.Proxy, inner, ""); isObject(inner) && u.Reported {
		return &u
	}
	return nil
}
