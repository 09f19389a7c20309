package bedrock

import (
	"net/url"
	"strings"

	"sluice/internal/fault"
)

// escape is a text as one segment of a path, the colons of ARNs escaped too.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// unescape undoes escape as often as it was done: ids are given out escaped, and some
// clients escape what they put into a path.
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

// s3Object is where an object lies in S3: s3://bucket/key.
type s3Object struct{ bucket, key string }

// parseS3Object reads the id of a file. Ids that name no object of S3 are
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

// id is what callers know the object as.
func (p s3Object) id() string { return escape(p.String()) }

// path is that of the object below the host of S3: the slashes of its key stay, because
// that is how S3 signs it.
func (p s3Object) path() string {
	segments := strings.Split(p.key, "/")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return "/" + escape(p.bucket) + "/" + strings.Join(segments, "/")
}

// folder is the place with everything behind the last slash cut off.
func (p s3Object) folder() string {
	p.key = p.key[:strings.LastIndexByte(p.key, '/')+1]
	return p.String()
}
