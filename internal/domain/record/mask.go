package record

import (
	"bytes"

	"sluice/internal/kernel/sealed"
)

// maxDecoded is how much of an encoded body is decoded to find credentials.
const maxDecoded = 8 << 20

// MaskCredentials replaces the credentials in all bodies of the attempt with ***, as
// sealed.Body does. The creator of an attempt calls it before anything is written, so that the
// journal, the log, exports, spans and followers of the log get masked bodies. It does not
// change the original bytes, since they may still be sent. maxBytes is the maximum stored size
// of a body: an encoded body with credentials is stored decoded, up to that size.
// Source: spec, secrets are not logged.
func (a *Attempt) MaskCredentials(maxBytes int) {
	for _, b := range a.Bodies() {
		if len(b.Bytes) > 0 {
			b.maskCredentials(maxBytes)
		}
	}
}

func (b *Body) maskCredentials(maxBytes int) {
	if b.Encoding == "" {
		b.Bytes = sealed.Body(b.Type, b.Bytes)
		return
	}
	plain := b.Plain(maxDecoded)
	masked := sealed.Body(b.Type, plain)
	if bytes.Equal(masked, plain) && len(plain) < maxDecoded {
		return
	}
	b.Bytes, b.Encoding = masked, ""
	if b.Truncated = b.Truncated || len(plain) == maxDecoded || len(masked) > maxBytes; len(masked) > maxBytes {
		b.Bytes = masked[:maxBytes]
	}
}
