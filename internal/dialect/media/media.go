// Package media reads and writes the images, documents and audio inside conversations: data URLs,
// base64, file names and MIME types. Inline fetches the URLs that a provider cannot fetch.
package media

import (
	"cmp"
	"encoding/base64"
	"path"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// DataURL parses a data URL: "data:image/png;base64,iVBO…". Ok is false for any other URL. A
// data URL that is not base64, or whose base64 is invalid, is fault.InvalidParameter without
// a Param.
func DataURL(url string) (mime, data string, ok bool, err error) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false, nil
	}
	head, data, found := strings.Cut(rest, ",")
	mime, encoding, _ := strings.Cut(head, ";")
	if !found || encoding != "base64" && !strings.HasSuffix(encoding, ";base64") {
		return "", "", true, fault.New(fault.InvalidParameter, "the data URL must have the form data:<type>;base64,<data>")
	}
	return mime, data, true, CheckBase64(data)
}

// CheckBase64 rejects data that is not base64 in the standard alphabet, padded or not, with
// fault.InvalidParameter. It does not allocate the decoded data.
func CheckBase64(data string) error {
	body := strings.TrimRight(data, "=")
	if len(data)-len(body) > 2 || len(body)%4 == 1 || strings.IndexFunc(body, notBase64) >= 0 {
		return fault.New(fault.InvalidParameter, "the data must be base64")
	}
	return nil
}

// CheckURL rejects the URL of a medium that no host could fetch, with fault.InvalidParameter
// without a Param. Accepted are http, https, and the object stores that the cloud's own models
// read, gs and s3. Whether the host may be called is checked when it is called.
func CheckURL(url string) error {
	scheme, rest, ok := strings.Cut(url, "://")
	switch strings.ToLower(scheme) {
	case "http", "https", "gs", "s3":
		if ok && rest != "" {
			return nil
		}
	}
	return fault.New(fault.InvalidParameter, "the URL must begin with https://, http://, gs:// or s3://, or be a data URL")
}

func notBase64(r rune) bool {
	return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '/'
}

// Base64 encodes data in standard base64 with padding.
func Base64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// MIMEOf guesses the type of a file from the extension of its name or URL. It is "" if the
// extension is unknown. Source: contract/provider-transforms.md 1.5.
func MIMEOf(name string) string {
	name, _, _ = strings.Cut(name, "?")
	return mimeByExt[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]
}

// FileName is the name of a document, which OpenAI's shapes require with its data. If the caller
// gave none, it is a name that shows the type.
// Source: https://platform.openai.com/docs/guides/pdf-files, read 2026-11.
func FileName(m *llm.Media) string {
	if m.Name != "" || m.Data == "" {
		return m.Name
	}
	end := ""
	for ext, mime := range mimeByExt {
		if mime == m.MIME && (end == "" || ext < end) {
			end = ext
		}
	}
	return "document." + cmp.Or(end, "pdf")
}

var mimeByExt = map[string]string{
	"mp4": "video/mp4", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "bmp": "image/bmp", "tiff": "image/tiff",
	"webp": "image/webp", "pdf": "application/pdf", "csv": "text/csv", "doc": "application/msword",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "xls": "application/vnd.ms-excel",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "html": "text/html", "md": "text/markdown", "mp3": "audio/mp3",
	"wav": "audio/wav", "txt": "text/plain", "mov": "video/mov", "mpeg": "video/mpeg", "mpg": "video/mpg", "avi": "video/avi", "wmv": "video/wmv",
	"mpegps": "video/mpegps", "flv": "video/flv", "webm": "video/webm", "mkv": "video/mkv", "threegpp": "video/three_gpp",
}

// URL is the URL of a medium, or a data URL if the call contains the data. An unknown type
// becomes application/octet-stream, because a data URL without a type is plain text.
func URL(m *llm.Media) string {
	if m.Data == "" {
		return m.URL
	}
	return "data:" + cmp.Or(m.MIME, "application/octet-stream") + ";base64," + m.Data
}
