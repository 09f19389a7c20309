package fields

import (
	"crypto/sha256"
	"encoding/hex"

	"sluice/internal/kernel/jsonedit"
)

// maxUserBytes is the maximum length of a user name at all providers with OpenAI's shape. Coding
// agents send longer names, because Anthropic accepts 256.
const maxUserBytes = 64

// User is the raw name of a caller's user for such providers. A longer name becomes its SHA-256 in 64
// hexadecimal digits, so the same user has the same name.
func User(raw []byte) []byte {
	name, ok := jsonedit.Unquote(raw)
	if !ok || len(name) <= maxUserBytes {
		return raw
	}
	hash := sha256.Sum256([]byte(name))
	return jsonedit.Quote(hex.EncodeToString(hash[:]))
}
