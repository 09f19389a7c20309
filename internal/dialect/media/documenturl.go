package media

import (
	"bytes"
	"cmp"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// DocumentURLs converts the files in the messages of a chat completion to Mistral's format:
// {"type":"document_url","document_url":"data:application/pdf;base64,…"}, or by id
// {"type":"file","file_id":"…"}, instead of {"type":"file","file":{…}}. It is nil if there are no
// files. A file without bytes, URL or id remains unchanged.
// Source: @mistralai/mistralai of npm, DocumentURLChunk and FileChunk, read 2026-11.
func DocumentURLs(messages []byte) []byte {
	if !bytes.Contains(messages, []byte(`"file"`)) {
		return nil
	}
	var w jsonwriter.Writer
	changed := false
	w.Open('[')
	for m := range jsonedit.Elements(messages) {
		changed = messageOfDocuments(&w, m) || changed
	}
	w.Close(']')
	if !changed {
		return nil
	}
	return w.B
}

// messageOfDocuments writes a message with its files as documents, and reports whether it has
// any.
func messageOfDocuments(w *jsonwriter.Writer, message []byte) (has bool) {
	if content, _ := jsonedit.Find(message, "content"); !bytes.HasPrefix(content, []byte{'['}) || !bytes.Contains(content, []byte(`"file"`)) {
		w.Value(message)
		return false
	}
	w.Open('{')
	for name, val := range jsonedit.Members(message) {
		w.RawKey(name)
		if !jsonedit.IsName(name, "content") || val[0] != '[' {
			w.Value(val)
			continue
		}
		w.Open('[')
		for part := range jsonedit.Elements(val) {
			if writeFileDocument(w, part) {
				has = true
			} else {
				w.Value(part)
			}
		}
		w.Close(']')
	}
	w.Close('}')
	return has
}

// writeFileDocument writes a part that is a file of chat completions, and reports whether it is one.
func writeFileDocument(w *jsonwriter.Writer, part []byte) bool {
	file, _ := jsonedit.Find(part, "file")
	if jsonedit.Text(part, "type") != "file" || len(file) == 0 || file[0] != '{' {
		return false
	}
	name := cmp.Or(jsonedit.Text(file, "filename"), jsonedit.Text(file, "file_name"))
	url := jsonedit.Text(file, "file_url")
	if data := jsonedit.Text(file, "file_data"); data != "" {
		url = data
		if !strings.HasPrefix(data, "data:") {
			url = "data:" + cmp.Or(jsonedit.Text(file, "mime_type"), MIMEOf(name), "application/pdf") + ";base64," + data
		}
	}
	id := jsonedit.Text(file, "file_id")
	switch {
	case url != "":
		w.Open('{')
		w.Str("type", "document_url")
		w.Str("document_url", url)
		w.Opt("document_name", name)
	case id != "":
		w.Open('{')
		w.Str("type", "file")
		w.Str("file_id", id)
	default:
		return false
	}
	w.Close('}')
	return true
}
