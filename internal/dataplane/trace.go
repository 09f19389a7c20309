package dataplane

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// trace contains the ids that locate a request in its trace.
type trace struct{ id, span, parent, name string }

// idMax is the maximum length, in bytes, of ids from callers.
const idMax = 256

// readTrace reads the ids from the headers: x-gateway-* first, then W3C traceparent. A missing
// trace id defaults to the request id.
// Source: contract/dataplane.md 1.1.
func readTrace(c *controls, method, path, requestID string) trace {
	t := trace{id: usable(c.traceID), span: usable(c.spanID), parent: usable(c.parentSpan), name: usable(c.spanName)}
	if id, parent, ok := parseTraceparent(c.traceparent); ok {
		t.id = cmp.Or(t.id, id)
		t.parent = cmp.Or(t.parent, parent)
		t.name = cmp.Or(t.name, method+" "+path)
	}
	if t.id == "" {
		t.id = requestID
	}
	return t
}

// parseTraceparent parses "00-<32 hex>-<16 hex>-<2 hex>".
// Source: https://www.w3.org/TR/trace-context/, section 3.2.
func parseTraceparent(s string) (id, parent string, ok bool) {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || !isHex(s[:2]+s[3:35]+s[36:52]+s[53:]) {
		return "", "", false
	}
	id, parent = s[3:35], s[36:52]
	return id, parent, strings.Trim(id, "0") != "" && strings.Trim(parent, "0") != ""
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func usable(s string) string {
	if len(s) > idMax || !wire.ValidValue(s) {
		return ""
	}
	return s
}

// Metadata limits. Source: contract/dataplane.md 1.1 for the value; the number of
// pairs is ours.
const (
	metadataValueMax = 128
	metadataPairsMax = 64
)

// readMetadata merges the metadata of the layers, the request and its baggage header. The first
// value of a key wins. A value that is not a JSON object counts as empty. Values that are not
// strings are converted to text, and long values are truncated.
// Source: contract/content-and-observability.md 3.3.
func readMetadata(c *controls, layers ...map[string]string) map[string]string {
	var m map[string]string
	put := func(k, v string) {
		if m == nil {
			m = make(map[string]string, 4)
		}
		if _, there := m[k]; !there && len(m) < metadataPairsMax {
			m[k] = shortened(v)
		}
	}
	for _, l := range layers {
		for k, v := range l {
			put(k, v)
		}
	}
	if parsed := gjson.Parse(c.metadata); parsed.IsObject() && gjson.Valid(c.metadata) {
		parsed.ForEach(func(k, v gjson.Result) bool {
			put(k.String(), v.String())
			return true
		})
	}
	for pair := range strings.SplitSeq(c.baggage, ",") {
		k, v, ok := strings.Cut(pair, "=")
		v, _, _ = strings.Cut(v, ";")
		if plain, err := url.PathUnescape(strings.TrimSpace(v)); ok && err == nil {
			put(strings.TrimSpace(k), plain)
		}
	}
	return m
}

// shortened truncates a metadata value to metadataValueMax characters.
func shortened(v string) string {
	n := 0
	for i := range v {
		if n == metadataValueMax {
			return v[:i]
		}
		n++
	}
	return v
}
