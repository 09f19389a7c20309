package syntax

import (
	"encoding/binary"

	"sluice/internal/kernel/wire"
)

// Token reports whether a byte is valid in a header name or a method.
// Source: RFC 9110 section 5.6.2.
func Token(c byte) bool { return tokens[c] }

// TokenName is wire.ValidName with one table look-up per byte, for the many names of every
// call.
func TokenName(n string) bool {
	for i := 0; i < len(n); i++ {
		if !tokens[n[i]] {
			return false
		}
	}
	return n != ""
}

// tokens marks the bytes of header names.
var tokens = func() (t [256]bool) {
	for c := range t {
		t[c] = wire.ValidName(string(rune(c))) && c < 0x80
	}
	return t
}()

func blank(c byte) bool { return c == ' ' || c == '\t' }

// printable reports whether a byte is valid in a header value. Source: RFC 9110 section 5.5.
func printable(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }

// CleanValue is wire.ValidValue for bytes, eight at a time.
func CleanValue(v []byte) bool {
	for len(v) >= 8 {
		if suspicious(binary.LittleEndian.Uint64(v)) && !eachPrintable(v[:8]) {
			return false
		}
		v = v[8:]
	}
	return eachPrintable(v)
}

func eachPrintable(v []byte) bool {
	for _, c := range v {
		if !printable(c) {
			return false
		}
	}
	return true
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// suspicious reports whether one of eight bytes is below a blank or a delete. The subtraction
// borrows from the top bit of such bytes, and never when no byte is suspicious.
func suspicious(w uint64) bool {
	del := w ^ 0x7f*ones
	return (w-' '*ones)&^w&highs != 0 || (del-ones)&^del&highs != 0
}

// HexValue returns the value of a hexadecimal digit of either case, 0 to 15, or -1 for any
// other byte.
func HexValue(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b && b <= 'f':
		return int(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}
