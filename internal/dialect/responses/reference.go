package responses

import "sluice/internal/splice"

// ItemReference is the type of an item that refers to a stored one by its id.
const ItemReference = "item_reference"

// HasReference reports whether a raw list of items contains a reference: by its type, or without
// a type as {"id":"msg_1"}.
func HasReference(items []byte) bool {
	for item := range splice.Elements(items) {
		kind, typed := splice.Find(item, "type")
		switch {
		case typed && !splice.IsNull(kind):
			if splice.IsName(kind, ItemReference) {
				return true
			}
		case splice.Text(item, "id") != "":
			if _, message := splice.Find(item, "content"); !message {
				return true
			}
		}
	}
	return false
}
