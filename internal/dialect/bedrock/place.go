package bedrock

import (
	"net/url"
	"strings"

	"sluice/internal/kernel/fault"
)

// escape returns a string escaped as one path segment. It escapes the colons of ARNs, too.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// unescape reverses up to three escapes. The gateway returns escaped ids, and some clients escape
// them again in a path.
func unescape(s string) string {
	for range 3 {
		if strings.HasPrefix(s, "arn:") || strings.HasPrefix(s, "s3://") {
			break
		}
		plain, err := url.PathUnescape(s)
		if err != nil {
			break
		}
		s = plain
	}
	return s
}

// s3Object is the location of an object in S3: s3://bucket/key.
type s3Object struct{ bucket, key string }

// parseS3Object reads the id of a file. An id that is not an S3 location is
// fault.InvalidParameter.
func parseS3Object(id, param string) (s3Object, error) {
	rest, ok := strings.CutPrefix(unescape(id), "s3://")
	bucket, key, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" || key == "" {
		return s3Object{}, fault.New(fault.InvalidParameter, param+" must be the id of a file in S3: s3://bucket/key, URL-encoded").WithParam(param)
	}
	return s3Object{bucket, key}, nil
}

func (p s3Object) String() string { return "s3://" + p.bucket + "/" + p.key }

// id returns the id of the object for callers.
func (p s3Object) id() string { return escape(p.String()) }

// path returns the path of the object below the S3 host. The slashes of its key are not escaped,
// because S3 signs the path in that form.
func (p s3Object) path() string {
	segments := strings.Split(p.key, "/")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return "/" + escape(p.bucket) + "/" + strings.Join(segments, "/")
}

// folder returns the location up to and including the last slash.
func (p s3Object) folder() string {
	p.key = p.key[:strings.LastIndexByte(p.key, '/')+1]
	return p.String()
}
