package keys

import (
	"encoding/json"

	"sluice/internal/splice"
)

// ReadBody reads the stored body of a key. Its scopes, which are most of a body, are
// read by themselves: the decoder would go over them three times. The body stays the
// caller's, and nothing of it is kept.
func (k *Key) ReadBody(body []byte) error {
	rest, scopes := WithoutScopes(nil, body)
	if err := json.Unmarshal(rest, k); err != nil || len(scopes) == 0 {
		return err
	}
	return k.Scopes.UnmarshalJSON(scopes)
}

// WithoutScopes takes the list of scopes out of the stored body of a key: null stands in
// its place. It writes into scratch, which it may replace by a larger one, or returns the
// body itself when it has no scopes; list is a piece of the body.
func WithoutScopes(scratch, body []byte) (rest, list []byte) {
	list, there := splice.Find(body, "scopes")
	if !there {
		return body, nil
	}
	at := cap(body) - cap(list)
	return append(append(append(scratch[:0], body[:at]...), "null"...), body[at+len(list):]...), list
}
