package responses

import "sluice/internal/kernel/jsonedit"

// ItemReference is the type of an item that refers to a stored one by its id.
const ItemReference = "item_reference"

// HasReference reports whether a raw list of items contains a reference: by its type, or without
// a type as {"id":"msg_1"}.
func HasReference(items []byte) bool {
	for item := range jsonedit.Elements(items) {
		kind, typed := jsonedit.Find(item, "type")
		switch {
		case typed && !jsonedit.IsNull(kind):
			if jsonedit.IsName(kind, ItemReference) {
				return true
			}
		case jsonedit.Text(item, "id") != "":
			if _, message := jsonedit.Find(item, "content"); !message {
				return true
			}
		}
	}
	return false
}
