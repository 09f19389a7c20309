package sealed

import (
	"bytes"
	"mime"
	"net/textproto"
	"strings"
)

// maskedParts returns a multipart form, or the beginning of one, with credential fields masked
// like in FormValue. Files are unchanged.
func maskedParts(contentType string, b []byte) []byte {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return b
	}
	var out []byte
	copied, line := 0, []byte("--"+params["boundary"])
	for index := bytes.Index(b, line); index >= 0; {
		start := index + len(line)
		end := bytes.Index(b[start:], line)
		if index = start + end; end < 0 {
			index = -1
			end = len(b) - start
		}
		head, value, _ := bytes.Cut(b[start:start+end], []byte("\r\n\r\n"))
		name, isField := fieldName(head)
		if value = bytes.TrimSuffix(value, []byte("\r\n")); !isField || len(value) == 0 {
			continue
		}
		if shown := FormValue(name, value); !bytes.Equal(shown, value) {
			from := start + len(head) + len("\r\n\r\n")
			out = append(append(out, b[copied:from]...), shown...)
			copied = from + len(value)
		}
	}
	if out == nil {
		return b
	}
	return append(out, b[copied:]...)
}

// fieldName returns the name in the header lines of a part that is not a file.
func fieldName(head []byte) (string, bool) {
	for line := range strings.SplitSeq(string(head), "\r\n") {
		key, value, _ := strings.Cut(line, ":")
		if textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(key)) != "Content-Disposition" {
			continue
		}
		_, params, err := mime.ParseMediaType(strings.TrimSpace(value))
		_, isFile := params["filename"]
		return params["name"], err == nil && !isFile
	}
	return "", false
}
