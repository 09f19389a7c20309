package masking

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unsafe"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// MinCredentialBytes is the minimum length of a credential to mask in errors. A shorter one is a
// placeholder such as "none", or an ordinary word.
const MinCredentialBytes = 7

// maxPlainBytes is the maximum number of bytes of an encoded body that are decoded to mask it.
const maxPlainBytes = 8 << 20

// Credentials are the forms in which the errors of a provider may quote the credential of one
// attempt. Longer ones come first, because they may contain others.
type Credentials []string

// CollectCredentials returns the credentials of an attempt: the secret fields of its target and
// the credentials that signing put into the sent header. A nil spec has no fields.
func CollectCredentials(spec *provider.Spec, values provider.Values, signed wire.Header) Credentials {
	var keys []string
	if spec != nil {
		for i := range spec.Fields {
			if f := &spec.Fields[i]; f.Secret {
				keys = append(keys, values[f.Name])
			}
		}
	}
	for _, line := range signed {
		keys = append(keys, headerCredential(line))
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return len(key) < MinCredentialBytes })
	for _, key := range keys {
		keys = append(keys, strings.ReplaceAll(key, "/", `\/`), url.QueryEscape(key), url.PathEscape(key), inJSON(key))
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	return keys
}

// headerCredential returns the credential in a sent header, without its scheme, or "" when it has
// none.
func headerCredential(line wire.Field) string {
	switch {
	case line.Name == "x-amz-date", line.Name == "x-amz-content-sha256":
		return ""
	case !wire.CredentialHeader(line.Name) && !wire.IsCredentialName(line.Name):
		return ""
	}
	if _, key, ok := strings.Cut(line.Value, " "); ok {
		return strings.TrimSpace(key)
	}
	return line.Value
}

// inJSON returns a text as the content of a JSON string, without quotation marks.
func inJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string: cannot fail
		return text
	}
	return string(b[1 : len(b)-1])
}

// Mask returns part of a provider's error with the credentials masked, because providers quote
// what they refuse: "Incorrect API key provided: ***". It does not mask a form that the provider
// has already shortened. It returns b itself when there is nothing to mask, and never changes b.
// Source: spec, secrets are not logged; a caller must not learn a stored credential.
func (c Credentials) Mask(b []byte) []byte {
	if len(b) < MinCredentialBytes {
		return b
	}
	for _, key := range c {
		if text := []byte(key); bytes.Contains(b, text) {
			b = bytes.ReplaceAll(b, text, []byte(sealed.Mask))
		}
	}
	return b
}

// minStartBytes is the minimum length of a partial credential to mask at the end of a truncated
// body.
const minStartBytes = 4

// maskEnd returns a body with a partial credential at its end masked.
func (c Credentials) maskEnd(b []byte) []byte {
	for _, key := range c {
		for n := min(len(key), len(b)); n >= minStartBytes; n-- {
			if string(b[len(b)-n:]) == key[:n] {
				return append(bytes.Clone(b[:len(b)-n]), sealed.Mask...)
			}
		}
	}
	return b
}

// MaskRecord masks the credentials of a failed attempt in its recorded error and responses,
// including a partial credential at the end of a truncated body.
func (c Credentials) MaskRecord(r *record.Attempt) {
	r.Error = string(c.Mask([]byte(r.Error)))
	for _, b := range [...]*record.Body{&r.Response, &r.ClientResponse} {
		plain := b.Plain(maxPlainBytes)
		masked := c.Mask(plain)
		if b.Truncated {
			masked = c.maskEnd(masked)
		}
		if len(masked) != len(plain) || !sameStart(masked, plain) {
			b.Bytes, b.Encoding = masked, ""
		}
	}
}

// sameStart reports whether two slices start at the same memory address: nothing was masked.
func sameStart(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }
