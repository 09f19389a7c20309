package dataplane

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/record"
	"sluice/internal/sealed"
	"sluice/internal/wire"
)

// minQuotedKey is the minimum length, in bytes, of a credential to mask in errors. A shorter one
// is a placeholder such as "none", or an ordinary word.
const minQuotedKey = 7

// withoutKey returns part of a provider's error with the attempt's credential masked, because
// providers quote what they refuse: "Incorrect API key provided: ***". It does not mask a form
// that the provider has already shortened. It returns b when there is nothing to mask, and never
// changes b.
// Source: spec, secrets are not logged; a caller must not learn a stored credential.
func (a *attempt) withoutKey(b []byte) []byte {
	if len(b) < minQuotedKey {
		return b
	}
	for _, key := range a.sentKeys() {
		if text := []byte(key); bytes.Contains(b, text) {
			b = bytes.ReplaceAll(b, text, []byte(sealed.Mask))
		}
	}
	return b
}

// sentKeys returns the attempt's credentials in the forms that errors may quote: the secret
// fields of its target and the credentials from signing. Longer ones come first, because they may
// contain others.
func (a *attempt) sentKeys() []string {
	var keys []string
	if a.spec != nil {
		for i := range a.spec.Fields {
			if f := &a.spec.Fields[i]; f.Secret {
				keys = append(keys, a.values[f.Name])
			}
		}
	}
	if a.x.scratch != nil {
		for _, line := range a.x.scratch.signed {
			keys = append(keys, headerKey(line))
		}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return len(key) < minQuotedKey })
	for _, key := range keys {
		keys = append(keys, strings.ReplaceAll(key, "/", `\/`), url.QueryEscape(key), url.PathEscape(key), inJSON(key))
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	return keys
}

// headerKey returns the credential in a sent header, without its scheme, or "" when it has none.
func headerKey(line wire.Field) string {
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

// hideKey masks the attempt's credential in the body of a relayed error, in the part of it that
// is read. An encoded body that quotes the credential is relayed decoded. Event streams are
// masked while they are relayed.
func (a *attempt) hideKey() {
	if a.status < 400 || a.resp.Length == 0 || eventStream(a.response.header) {
		return
	}
	body := &peekedBody{Body: a.resp.Body}
	body.fill(errorBodyMax)
	a.resp.Body = body
	encoding := a.response.header.Get("content-encoding")
	plain := record.Body{Bytes: body.head, Encoding: encoding}.Plain(maxUsageBodyBytes)
	shown := a.withoutKey(plain)
	if sameBytes(shown, plain) {
		return
	}
	if body.head = shown; encoding != "" {
		a.response.header = a.response.header.Clone(0)
		a.response.header.Del("content-encoding")
		if body.err == nil { // the rest is encoded
			body.err = io.EOF
		}
	}
	if a.resp.Length = -1; body.err == io.EOF {
		a.resp.Length = int64(len(shown))
	}
}

// hideKeyOnRecord masks the credential of a failed attempt in its recorded error and responses,
// including a partial credential at the end of a truncated body.
func (a *attempt) hideKeyOnRecord(r *record.Attempt) {
	r.Error = string(a.withoutKey([]byte(r.Error)))
	for _, b := range [...]*record.Body{&r.Response, &r.ClientResponse} {
		plain := b.Plain(maxUsageBodyBytes)
		shown := a.withoutKey(plain)
		if b.Truncated {
			shown = a.withoutKeyStart(shown)
		}
		if len(shown) != len(plain) || !sameBytes(shown, plain) {
			b.Bytes, b.Encoding = shown, ""
		}
	}
}

// minKeyStart is the minimum length, in bytes, of a partial credential to mask at the end of a
// truncated body.
const minKeyStart = 4

// withoutKeyStart returns a body with a partial credential at its end masked.
func (a *attempt) withoutKeyStart(b []byte) []byte {
	for _, key := range a.sentKeys() {
		for n := min(len(key), len(b)); n >= minKeyStart; n-- {
			if string(b[len(b)-n:]) == key[:n] {
				return append(bytes.Clone(b[:len(b)-n]), sealed.Mask...)
			}
		}
	}
	return b
}
