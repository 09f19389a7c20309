package jsonwriter

// OpenList begins a list in OpenAI's shape: {"object":"list","data":[. The elements follow. The
// caller, or ClosePage, closes the list; the caller closes the object around it.
func (w *Writer) OpenList() {
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
}

// ClosePage ends the elements of a list that OpenList began, and writes which page they are:
// ],"first_id":"batch_1","last_id":"batch_9","has_more":false. An empty id, for a page without
// elements, is null. The object remains open for more members.
func (w *Writer) ClosePage(first, last string, more bool) {
	w.Close(']')
	for _, end := range [...][2]string{{"first_id", first}, {"last_id", last}} {
		if end[1] == "" {
			w.Raw(end[0], []byte("null"))
		} else {
			w.Str(end[0], end[1])
		}
	}
	w.Bool("has_more", more)
}
