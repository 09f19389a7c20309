package accesslog

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxValue is the maximum length of one value, in bytes; longer ones are truncated.
const maxValue = 4096

// Line is one access line: what a request was and how it ended. Empty strings, zero numbers and
// unknown costs are left out, except Status and Duration. It contains no body, no prompt and no
// secret. The caller owns it; Append does not retain it.
type Line struct {
	Time      time.Time     // end of the request
	RequestID string        // "0196f3c2-…"
	TraceID   string        // "4bf92f3577b34da6a3ce929d0e0e4736"
	Method    string        // "POST"
	Path      string        // as logs may show it: secrets in it are masked
	Endpoint  string        // "chatComplete"; empty for the administration
	Status    int           // 200
	Duration  time.Duration // written as duration_ms
	Attempts  int           // tries of targets
	Remote    string        // address of the client
	KeyID     string        // id of the API key, not its value
	UserID    string        // id of the user who is signed in to the administration
	Workspace string        // id of the workspace
	Provider  string        // "openai"
	Model     string        // "gpt-4o-mini"
	Tokens    int64         // input and output
	CostNano  int64         // nano-dollars; written as cost_dollars when CostKnown
	CostKnown bool
	Error     string // sent to the client: "the provider cannot be reached (dns)"
	Code      string // code of the error: "upstream_unreachable"
	Reason    string // why a connection failed: "dns", "refused", "tls", "timeout"
}

// encoder appends the members of one line in a format.
type encoder interface {
	begin(b []byte, when time.Time) []byte
	text(b []byte, key, value string) []byte
	number(b []byte, key string) []byte // followed by the digits
	end(b []byte) []byte
}

// encode appends the line to b.
func (l *Line) encode(b []byte, e encoder) []byte {
	b = e.begin(b, l.Time)
	b = appendText(b, e, "request_id", l.RequestID)
	b = appendText(b, e, "trace_id", l.TraceID)
	b = appendText(b, e, "method", l.Method)
	b = appendText(b, e, "path", l.Path)
	b = appendText(b, e, "endpoint", l.Endpoint)
	b = strconv.AppendInt(e.number(b, "status"), int64(l.Status), 10)
	b = strconv.AppendFloat(e.number(b, "duration_ms"), float64(l.Duration.Microseconds())/1000, 'f', -1, 64)
	b = appendInt(b, e, "attempts", int64(l.Attempts))
	b = appendText(b, e, "remote", l.Remote)
	b = appendText(b, e, "key_id", l.KeyID)
	b = appendText(b, e, "user_id", l.UserID)
	b = appendText(b, e, "workspace", l.Workspace)
	b = appendText(b, e, "provider", l.Provider)
	b = appendText(b, e, "model", l.Model)
	b = appendInt(b, e, "tokens", l.Tokens)
	if l.CostKnown {
		b = strconv.AppendFloat(e.number(b, "cost_dollars"), float64(l.CostNano)/1e9, 'f', -1, 64)
	}
	b = appendText(b, e, "error", l.Error)
	b = appendText(b, e, "code", l.Code)
	b = appendText(b, e, "reason", l.Reason)
	return e.end(b)
}

func appendText(b []byte, e encoder, key, value string) []byte {
	if value == "" {
		return b
	}
	if len(value) > maxValue {
		value = strings.ToValidUTF8(value[:maxValue], "") + "…"
	}
	return e.text(b, key, value)
}

func appendInt(b []byte, e encoder, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(e.number(b, key), n, 10)
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// jsonEncoder writes one JSON object a line, with the keys that log/slog uses.
type jsonEncoder struct{}

func (jsonEncoder) begin(b []byte, when time.Time) []byte {
	b = when.AppendFormat(append(b, `{"time":"`...), timeFormat)
	return append(b, `","level":"INFO","msg":"request"`...)
}

func (jsonEncoder) text(b []byte, key, value string) []byte {
	b = append(append(append(b, `,"`...), key...), `":`...)
	if isPlain(value, `"\`) {
		return append(append(append(b, '"'), value...), '"')
	}
	quoted, _ := json.Marshal(value) // a string always encodes
	return append(b, quoted...)
}

func (jsonEncoder) number(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

func (jsonEncoder) end(b []byte) []byte { return append(b, "}\n"...) }

// textEncoder writes key=value, like the text handler of log/slog.
type textEncoder struct{}

func (textEncoder) begin(b []byte, when time.Time) []byte {
	b = when.AppendFormat(append(b, "time="...), timeFormat)
	return append(b, " level=INFO msg=request"...)
}

func (textEncoder) text(b []byte, key, value string) []byte {
	b = append(append(append(b, ' '), key...), '=')
	if isPlain(value, `"= `) {
		return append(b, value...)
	}
	return strconv.AppendQuote(b, value)
}

func (textEncoder) number(b []byte, key string) []byte {
	return append(append(append(b, ' '), key...), '=')
}

func (textEncoder) end(b []byte) []byte { return append(b, '\n') }

// isPlain reports whether a value is printable ASCII without any of the special bytes.
func isPlain(value, special string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= utf8.RuneSelf || c == 0x7f || strings.IndexByte(special, c) >= 0 {
			return false
		}
	}
	return true
}
