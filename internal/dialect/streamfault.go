package dialect

import (
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
}

// faultTextMax bounds the text of an upstream's error.
const faultTextMax = 1 << 10

// findFault looks for an error in an event: {"error":{…}} or {"error":"…"} on chat and
// most others, "type":"error" on messages and responses, and the error of a response
// that failed.
func findFault(e event) (streamFault, bool) {
	if raw, ok := splice.Find(e.data, "error"); ok && !hollow(raw) {
		return readFault(raw), true
	}
	if raw, ok := splice.Find(e.data, "response", "error"); ok && !hollow(raw) {
		return readFault(raw), true
	}
	if string(kind(e)) == "error" {
		return readFault(e.data), true
	}
	return streamFault{}, false
}

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
		case `"code"`, `"status"`:
			if !hollow(val) {
				f.code = plain(val)
			}
		}
	}
	if f.message == "" {
		f.message = clip(string(raw), faultTextMax)
	}
	return f
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
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n <= 599 {
		return n, true
	}
	for _, s := range [...]struct {
		word   string
		status int
	}{
		{"overloaded", 529}, {"rate_limit", 429}, {"insufficient_quota", 429}, {"quota", 429},
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
// {"error":{…}}, {"type":"error",…} and their like.
func EventFault(data []byte) (llm.Event, bool) {
	if !says(data, errorKey) {
		return llm.Event{}, false
	}
	f, ok := findFault(event{data: data})
	if !ok {
		return llm.Event{}, false
	}
	return llm.Event{Kind: llm.EventFault, Text: f.message, Name: cmp.Or(f.typ, f.code), Status: f.status()}, true
}
