package syntax

import (
	"errors"
	"strings"

	"sluice/internal/kernel/wire"
)

// ErrCoding is returned by Framing for a transfer coding other than chunked alone.
var ErrCoding = errors.New("Transfer-Encoding must be chunked")

var (
	errLengths   = errors.New("Content-Length must be sent once")
	errLength    = errors.New("Content-Length is not valid")
	errAmbiguous = errors.New("Content-Length and Transfer-Encoding must not be sent together")
)

// Framing determines where the body after a head ends: at the announced length (-1 without
// one), or with the last chunk. It refuses everything that two readers could interpret
// differently. Source: RFC 9112 section 6.3.
func Framing(h wire.Header) (length int64, chunked bool, err error) {
	length = -1
	for i := range h {
		switch h[i].Name {
		case "content-length":
			if length >= 0 {
				return -1, false, errLengths
			}
			if length = parseLength(h[i].Value); length < 0 {
				return -1, false, errLength
			}
		case "transfer-encoding":
			if chunked || !equalFold(h[i].Value, "chunked") {
				return -1, false, ErrCoding
			}
			chunked = true
		}
	}
	if chunked && length >= 0 {
		return -1, false, errAmbiguous
	}
	return length, chunked, nil
}

// maxLengthDigits limits announced lengths to values that cannot overflow.
const maxLengthDigits = 18

// parseLength parses a decimal number. It returns -1 for any other input.
func parseLength(s string) int64 {
	if s == "" || len(s) > maxLengthDigits {
		return -1
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n
}

// HasToken reports whether a comma-separated list contains a lower-case token, in any case.
func HasToken(list, lower string) bool {
	if !strings.Contains(list, ",") {
		return equalFold(strings.Trim(list, " \t"), lower)
	}
	for item := range strings.SplitSeq(list, ",") {
		if equalFold(strings.Trim(item, " \t"), lower) {
			return true
		}
	}
	return false
}

// equalFold compares ASCII without case. Unlike strings.EqualFold it does not fold letters of
// other scripts, such as the Kelvin sign.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
