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

// minQuotedKey is the shortest credential that is looked for in errors, in bytes: what is
// shorter is a placeholder such as "none", or a word.
const minQuotedKey = 7

// withoutKey is a piece of an error of the provider with the credential of the attempt
// masked, because providers quote what they refuse: "Incorrect API key provided: ***". A
// shortened form that the provider chose stays. It is b itself when there is nothing to
// mask; else b is not changed.
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

// sentKeys are the credentials of the attempt, as errors may quote them: the secret fields of
// its target and what signing made of them. Longer ones are first, as they may contain others.
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

// headerKey is the credential in a header line that was sent, without its scheme; "" for none.
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

// inJSON is a text as the inside of a JSON string.
func inJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a text: cannot fail
		return text
	}
	return string(b[1 : len(b)-1])
}

// hideKey masks the credential of the attempt in the body of an error that is relayed as it
// comes, as far as errors are read. An encoded body that quotes it is relayed decoded. What
// comes as events is masked as it is relayed.
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
		if body.err == nil { // the rest is in the encoding
			body.err = io.EOF
		}
	}
	if a.resp.Length = -1; body.err == io.EOF {
		a.resp.Length = int64(len(shown))
	}
}

// hideKeyOnRecord masks the credential of an attempt that failed in what is put on record of
// the answer, and what of it is before the end of a body that is cut off.
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

// minKeyStart is how much of a credential is masked at the least where a body is cut off.
const minKeyStart = 4

// withoutKeyStart is a body with the beginning of the credential masked that is its end.
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
