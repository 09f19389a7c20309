package dialect

import (
	"crypto/sha256"
	"encoding/hex"

	"sluice/internal/splice"
)

// maxUserBytes is how long the name of a caller's user may be at all providers in the manner of
// OpenAI. Coding agents send longer ones, for Anthropic takes 256.
const maxUserBytes = 64

// User is the raw name of a caller's user for such providers: a longer one is its SHA-256 in 64
// hexadecimal digits, the same for the same user.
func User(raw []byte) []byte {
	name, ok := splice.Unquote(raw)
	if !ok || len(name) <= maxUserBytes {
		return raw
	}
	hash := sha256.Sum256([]byte(name))
	return splice.Quote(hex.EncodeToString(hash[:]))
}
