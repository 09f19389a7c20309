package call

import (
	"net/url"
	"path"
	"strings"
)

// PathSegments returns the segments of an escaped path, unescaped, cleaned and in lower case,
// because some providers ignore case: "v1" and "files" for "/v1/Files/". It returns at least one
// segment, which is empty for an empty path.
func PathSegments(escaped string) []string {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		plain = escaped
	}
	return strings.Split(strings.ToLower(strings.Trim(path.Clean("/"+plain), "/")), "/")
}
