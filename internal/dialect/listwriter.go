package dialect

// OpenList begins a list in OpenAI's shape: {"object":"list","data":[. The elements follow;
// the list and the object around it are the caller's to close, or ClosePage's.
func (w *JSON) OpenList() {
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
}

// ClosePage ends the elements of a list that was begun with OpenList and says which part of
// the whole they are: ],"first_id":"batch_1","last_id":"batch_9","has_more":false. An empty
// id, that of a page without elements, is null. The object stays open for more members.
func (w *JSON) ClosePage(first, last string, more bool) {
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
