package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// The names of the encodings. What is hashed or signed begins with one of them, so
// that bytes of one sort are never taken for another, and a later encoding has
// another name.
const (
	rowForm        = "sluice-audit-row-v1"
	checkpointForm = "sluice-audit-checkpoint-v1"
	headerForm     = "sluice-audit-header-v1"
)

// Genesis is the hash before the first row of every trail: 64 zeros.
var Genesis = strings.Repeat("0", 2*sha256.Size)

// canon is the canonical encoding: each value as text after its length in bytes, as
// four bytes in network order. Numbers are decimal. No two lists of values have the
// same bytes.
type canon []byte

func (c *canon) text(values ...string) {
	for _, v := range values {
		*c = binary.BigEndian.AppendUint32(*c, uint32(len(v)))
		*c = append(*c, v...)
	}
}

func (c *canon) number(values ...int64) {
	for _, v := range values {
		c.text(strconv.FormatInt(v, 10))
	}
}

// link is the hash of a row: SHA-256 over the previous hash and the row's bytes.
func link(prev [sha256.Size]byte, row []byte) string {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(row)
	return hex.EncodeToString(h.Sum(nil))
}

// parseHash reads 64 lower-case hexadecimal digits.
func parseHash(s string) (sum [sha256.Size]byte, ok bool) {
	if len(s) != 2*len(sum) || strings.ToLower(s) != s {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(s))
	return sum, err == nil
}

// stampForm is how times are written: UTC with milliseconds.
const stampForm = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(stampForm)
}
