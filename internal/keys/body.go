package keys

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"sluice/internal/access"
	"sluice/internal/splice"
)

// ReadBody reads the stored body of a key into k, which is empty before. It reads what
// the decoder of JSON reads, but in one pass where the body stands as it was written.
// The body stays the caller's, and nothing of it is kept.
func (k *Key) ReadBody(body []byte) error {
	b := bodyReader{Reader: splice.NewReader(body), key: k}
	if b.read() {
		return nil
	}
	*k = Key{}
	return json.Unmarshal(body, k)
}

// ReadUsed is ReadBody without what no request needs: the sealed values stay out, and so
// do the scopes, whose JSON list is returned. A list that was returned before may be given
// as known: where the body has the same one, which is most of a body, it is passed over
// for the price of a comparison. What is returned is a piece of the body, or the list of
// another writer's body written anew.
func (k *Key) ReadUsed(body, known []byte) (scopes []byte, err error) {
	b := bodyReader{Reader: splice.NewReader(body), key: k, used: true, known: known}
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

// bodyReader reads a stored body. What most keys have it reads itself, the rest it leaves
// to the decoder.
type bodyReader struct {
	splice.Reader
	key    *Key
	used   bool   // reads as ReadUsed
	known  []byte // a list of scopes that may be the one to come
	scopes []byte // the list of the body, if it is read as ReadUsed
	rest   []byte // the members for the decoder, each behind a comma
}

// Texts of which many keys have the same: they share one.
var (
	usualTypes = []string{string(access.OrganisationService), string(access.WorkspaceService), string(access.WorkspaceUser)}
	usualModes = []string{"ui", "api", "auto"}
)

// read reads the body, and reports whether it could: if not the decoder has to, or to say
// what is wrong.
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

// text reads a text; one of the usual ones without making it anew.
func (b *bodyReader) text(to *string, usual []string) bool {
	raw := b.Raw()
	if len(raw) < 2 || !utf8.Valid(raw) { // the decoder mends what is not
		return false
	}
	if i := slices.IndexFunc(usual, func(s string) bool { return s == string(raw[1:len(raw)-1]) }); i >= 0 && raw[0] == '"' {
		*to = usual[i]
		return true
	}
	text, ok := splice.Unquote(raw)
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

// secret reads the present value of the key.
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

// deferMember leaves a member to the decoder. To that one "Name" means name too, so a name that
// is not written as ours are ends the reading.
func (b *bodyReader) deferMember(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	raw := b.Raw()
	if string(name) == "defaults" && string(raw) == "{}" { // as most keys have it
		return true
	}
	b.rest = append(append(b.rest, `,"`...), name...)
	b.rest = append(append(b.rest, `":`...), raw...)
	return true
}
