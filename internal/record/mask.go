package record

import (
	"bytes"

	"sluice/internal/sealed"
)

// maxDecoded is how much of an encoded body is decoded to look for credentials.
const maxDecoded = 8 << 20

// MaskCredentials replaces the credentials in all bodies of the attempt by ***, as
// sealed.Body does. Whoever makes an attempt calls it before anything is written: the
// journal, the log, exports, spans and followers of the log then have the masked bodies.
// The bytes that the bodies had are left alone, since they may still be sent. Most is what
// is kept of a body: an encoded body with credentials in it is kept decoded, up to that.
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
