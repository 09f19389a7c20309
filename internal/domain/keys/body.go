package keys

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/jsonedit"
)

// ReadBody reads the stored body of a key into k, which must be empty. It accepts what the JSON
// decoder accepts, but reads a body in its written form in one pass. The caller owns body, and
// k retains no part of it.
func (k *Key) ReadBody(body []byte) error {
	b := bodyReader{Reader: jsonedit.NewReader(body), key: k}
	if b.read() {
		return nil
	}
	*k = Key{}
	return json.Unmarshal(body, k)
}

// ReadUsed is ReadBody without the values that no request needs: it skips the sealed values and
// the scopes, and returns the JSON list of the scopes. The caller may pass a list from an
// earlier call as known. When the body contains the same list, which is most of a body, one
// comparison skips it. The result is part of body, or a re-encoded list when another program
// wrote the body.
func (k *Key) ReadUsed(body, known []byte) (scopes []byte, err error) {
	b := bodyReader{Reader: jsonedit.NewReader(body), key: k, used: true, known: known}
	if !b.read() {
		*k = Key{}
		if err = json.Unmarshal(body, k); err != nil {
			return nil, err
		}
		if b.scopes, err = json.Marshal(k.Scopes); err != nil {
			return nil, err
		}
		k.Scopes = nil
	}
	if k.Secret.Sealed = nil; k.Previous != nil {
		k.Previous.Sealed = nil
	}
	return b.scopes, nil
}

// bodyReader reads a stored body. It reads the common members itself and leaves the others to
// the JSON decoder.
type bodyReader struct {
	jsonedit.Reader
	key    *Key
	used   bool   // true for ReadUsed
	known  []byte // list of scopes that the body may contain
	scopes []byte // list of scopes of the body, for ReadUsed
	rest   []byte // members for the decoder, each after a comma
}

// Common strings of keys, shared to save memory.
var (
	usualTypes = []string{string(access.OrganisationService), string(access.WorkspaceService), string(access.WorkspaceUser)}
	usualModes = []string{"ui", "api", "auto"}
)

// read reads the body and reports success. After false the decoder must read the body or return
// the error.
func (b *bodyReader) read() bool {
	for name := range b.Members() {
		if !b.member(name) {
			return false
		}
	}
	if !b.IsComplete() {
		return false
	}
	if len(b.rest) == 0 {
		return true
	}
	b.rest[0] = '{'
	return json.Unmarshal(append(b.rest, '}'), b.key) == nil
}

func (b *bodyReader) member(name []byte) bool {
	k := b.key
	switch string(name) {
	case "name":
		return b.text(&k.Name, nil)
	case "type":
		return b.text((*string)(&k.Type), usualTypes)
	case "scopes":
		return b.list()
	case "user_id":
		return b.text(&k.UserID, nil)
	case "secret":
		return b.secret()
	case "creation_mode":
		return b.text(&k.CreationMode, usualModes)
	}
	return b.deferMember(name)
}

// text reads a string. It returns a shared string for one of the usual values.
func (b *bodyReader) text(to *string, usual []string) bool {
	raw := b.Raw()
	if len(raw) < 2 || !utf8.Valid(raw) { // the decoder repairs invalid UTF-8
		return false
	}
	if i := slices.IndexFunc(usual, func(s string) bool { return s == string(raw[1:len(raw)-1]) }); i >= 0 && raw[0] == '"' {
		*to = usual[i]
		return true
	}
	text, ok := jsonedit.Unquote(raw)
	*to = text
	return ok
}

// list reads the scopes.
func (b *bodyReader) list() bool {
	if !b.used {
		return b.key.Scopes.UnmarshalJSON(b.Raw()) == nil
	}
	if from := b.Mark(); b.Same(b.known) {
		b.scopes = b.Since(from)
	} else {
		b.scopes = b.Raw()
	}
	return true
}

// secret reads the current value of the key.
func (b *bodyReader) secret() bool {
	s := &b.key.Secret
	if b.Kind() != '{' {
		return false
	}
	for name := range b.Members() {
		ok := false
		switch string(name) {
		case "hash":
			raw := b.Raw()
			ok = len(raw) > 2 && s.Hash.UnmarshalText(raw[1:len(raw)-1]) == nil
		case "masked":
			ok = b.text(&s.Masked, nil)
		case "sealed":
			var text string
			if ok = b.used; !ok && b.text(&text, nil) {
				var err error
				s.Sealed, err = base64.StdEncoding.DecodeString(text)
				ok = err == nil
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// deferMember leaves a member to the decoder. The decoder ignores case ("Name" means name), so
// a member name that this package would not write ends the reading.
func (b *bodyReader) deferMember(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	raw := b.Raw()
	if string(name) == "defaults" && string(raw) == "{}" { // the value of most keys
		return true
	}
	b.rest = append(append(b.rest, `,"`...), name...)
	b.rest = append(append(b.rest, `":`...), raw...)
	return true
}
