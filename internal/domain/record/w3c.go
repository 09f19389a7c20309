package record

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Ids of traces and spans are free texts here; where W3C or OpenTelemetry want numbers
// of 16 and 8 bytes, the functions below say which. Equal texts give equal numbers on
// every node, so that the parts of a tree find each other.
// Source: contract/content-and-observability.md section 7; https://www.w3.org/TR/trace-context/.

// W3CTrace is the number of a trace: of 32 hex digits these, of a UUID its 16 bytes, of
// any other text the beginning of its SHA-256.
func W3CTrace(id string) (n [16]byte) {
	if digits := plainHex(id); len(digits) == 32 && fill(n[:], digits) {
		return n
	}
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// W3CSpan is the number of a span: of 16 hex digits these, of a UUID its last 8 bytes,
// which are random, of any other text the beginning of its SHA-256.
func W3CSpan(id string) (n [8]byte) {
	digits := plainHex(id)
	if len(digits) == 32 && digits != id {
		digits = digits[16:]
	}
	if len(digits) == 16 && fill(n[:], digits) {
		return n
	}
	sum := sha256.Sum256([]byte(id))
	return [8]byte(sum[:8])
}

// plainHex is an id without the dashes of a UUID.
func plainHex(id string) string {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		return strings.ReplaceAll(id, "-", "")
	}
	return id
}

// fill decodes hex digits; an id of zeros is not valid.
func fill(n []byte, digits string) bool {
	if _, err := hex.Decode(n, []byte(digits)); err != nil {
		clear(n)
		return false
	}
	for _, b := range n {
		if b != 0 {
			return true
		}
	}
	return false
}

// W3CTrace is the number of the attempt's trace.
func (a *Attempt) W3CTrace() [16]byte { return W3CTrace(a.TraceID) }

// W3CSpan is the number of the attempt's own span. The id that the caller chose is that
// of the first attempt; others have that of their record.
func (a *Attempt) W3CSpan() [8]byte { return W3CSpanOf(a.ID, a.SpanID, a.Number) }

// W3CSpanOf is the number of the own span of an attempt of which no more is known yet than
// its ID, SpanID and Number.
func W3CSpanOf(id, spanID string, number int32) [8]byte {
	if spanID != "" && number == 0 {
		return W3CSpan(spanID)
	}
	return W3CSpan(id)
}

// W3CParent is the number of the span that the caller named as parent; false for none.
func (a *Attempt) W3CParent() (n [8]byte, ok bool) {
	if a.ParentSpan == "" {
		return n, false
	}
	return W3CSpan(a.ParentSpan), true
}

// W3CRequest is the number of the span that the attempts of a request have above them
// when there are several.
func (a *Attempt) W3CRequest() [8]byte { return W3CSpan("request " + a.RequestID) }
