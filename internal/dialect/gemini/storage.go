package gemini

import (
	"net/url"
	"strings"

	"sluice/internal/kernel/fault"
)

// object is a file in Google Cloud Storage: "gs://bucket/dir/rows.jsonl".
type object struct{ bucket, name string }

// readObject reads an object's URI. The URI may be escaped as a whole, as in file ids:
// "gs%3A%2F%2Fbucket%2Frows.jsonl".
func readObject(id string) (object, bool) {
	if strings.HasPrefix(id, "gs%3A") || strings.HasPrefix(id, "gs%3a") {
		id, _ = url.PathUnescape(id) // what cannot be unescaped is not a URI
	}
	rest, ok := strings.CutPrefix(id, "gs://")
	bucket, name, cut := strings.Cut(rest, "/")
	return object{bucket, name}, ok && cut && bucket != "" && name != ""
}

// uri returns the URI of the object: "gs://bucket/dir/rows.jsonl".
func (o object) uri() string { return "gs://" + o.bucket + "/" + o.name }

// id returns the object's id for callers.
// Source: contract/provider-transforms.md section 12.
func (o object) id() string { return url.QueryEscape(o.uri()) }

// path returns the object's path in the XML API: "/bucket/dir/rows.jsonl", escaped.
// Source: https://cloud.google.com/storage/docs/request-endpoints, read 2026-11.
func (o object) path() string {
	parts := strings.Split(o.bucket+"/"+o.name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "/" + strings.Join(parts, "/")
}

// folder returns the URI of the object's folder, without a slash at the end.
func (o object) folder() string {
	uri := o.uri()
	return uri[:strings.LastIndexByte(uri, '/')]
}

// fileID returns the URI for a file id. It also accepts a URI.
func fileID(id, path string) (object, error) {
	o, ok := readObject(id)
	if !ok {
		return o, fault.Newf(fault.InvalidParameter, "%s must be the id of a file in Google Cloud Storage, gs://bucket/name, as returned by the upload", path).WithParam(path)
	}
	return o, nil
}
