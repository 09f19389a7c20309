package nethttp

import (
	"net/http"
	"net/textproto"
	"strconv"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// responder writes a response to a ResponseWriter.
type responder struct {
	w        http.ResponseWriter
	patience server.ClientTimeouts
	sent     int       // bytes of the body
	armed    time.Time // when the current write deadline was set; zero without one
	bare     bool      // the method is HEAD: no body follows from which net/http derives the length
	timed    bool      // see timed
}

var _ wire.Responder = (*responder)(nil)

// countedBytes is the length in bytes below which net/http sets Content-Length automatically.
// Setting it here would give the header of a usual response more than eight entries. Then its
// map, which net/http copies, costs several times as much.
const countedBytes = 2048

// Head sends the status and the header. One backing array contains all values.
func (o *responder) Head(status int, h wire.Header, length int64) error {
	m := o.w.Header()
	values := make([]string, len(h)+1)
	m["Content-Type"] = nil // prevents content sniffing if the upstream did not set a type
	for i, f := range h {
		values[i] = f.Value
		name := canonical(f.Name)
		if m[name] == nil {
			m[name] = values[i : i+1 : i+1]
		} else {
			m[name] = append(m[name], f.Value)
		}
	}
	counted := length > 0 && length < countedBytes && !o.bare
	if length >= 0 && !counted && status != http.StatusNoContent && status != http.StatusNotModified {
		values[len(h)] = strconv.FormatInt(length, 10)
		m["Content-Length"] = values[len(h):]
	}
	o.w.WriteHeader(status)
	return nil
}

// Write appends to the body.
func (o *responder) Write(p []byte) (int, error) {
	o.sent += len(p)
	o.arm()
	defer o.rest()
	return o.w.Write(p)
}

// Flush sends the buffered output.
func (o *responder) Flush() error {
	o.arm()
	defer o.rest()
	return http.NewResponseController(o.w).Flush()
}

// canonical returns the form of a header name that net/http uses.
func canonical(lower string) string {
	if c, ok := raised[lower]; ok {
		return c
	}
	return textproto.CanonicalMIMEHeaderKey(lower)
}

// lowered and raised convert the names of the most common headers to lower case and to the
// canonical form.
var lowered, raised = names(
	"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cache-Control", "Date",
	"Server", "User-Agent", "Vary", "Traceparent", "Baggage", "X-Request-Id", "Openai-Processing-Ms", "Openai-Organization", "Openai-Version",
	"X-Api-Key", "X-Gateway-Api-Key", "X-Gateway-Cache-Status", "X-Gateway-Config", "X-Gateway-Custom-Host", "X-Gateway-Gateway-Exception",
	"X-Gateway-Last-Used-Option-Index", "X-Gateway-Metadata", "X-Gateway-Provider", "X-Gateway-Request-Id", "X-Gateway-Retry-Attempt-Count",
	"X-Gateway-Trace-Id", "X-Gateway-Virtual-Key", "X-Stainless-Arch", "X-Stainless-Lang", "X-Stainless-Os", "X-Stainless-Package-Version",
	"X-Stainless-Retry-Count", "X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout",
)

func names(list ...string) (lowered, raised map[string]string) {
	lowered, raised = make(map[string]string, len(list)), make(map[string]string, len(list))
	for _, c := range list {
		b := []byte(c)
		for i := range b {
			if b[i] >= 'A' && b[i] <= 'Z' {
				b[i] += 'a' - 'A'
			}
		}
		lowered[c], raised[string(b)] = string(b), c
	}
	return lowered, raised
}
