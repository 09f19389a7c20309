package bodies

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/domain/record"
)

// Format is the way bodies are stored as objects.
// Source: contract/content-and-observability.md 3.4, LOG_STORE_FILE_PATH_FORMAT; Blocks
// is ours.
type Format string

// The formats. Blocks stores the bodies of many records in one object: one request per few
// thousand records instead of one each.
const (
	Blocks Format = "blocks" // bodies/<node>/0000000017.bodies
	V1     Format = "v1"     // 30/<org>/<log-id>.json
	V2     Format = "v2"     // 30/<org>/<workspace-slug>/<yyyy>/<mm>/<dd>/<hh>/<log-id>.json
)

// blockFolder is the prefix of the keys of block objects.
const blockFolder = "bodies/"

func nodeFolder(node string) string { return blockFolder + node + "/" }

func blockKey(node string, number uint32) string {
	return fmt.Sprintf("%s%010d%s", nodeFolder(node), number, extension)
}

// numberOf is the inverse of blockKey.
func numberOf(key string) (number uint32, ok bool) {
	stem, ok := strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], extension)
	n, err := strconv.ParseUint(stem, 10, 32)
	return uint32(n), ok && err == nil
}

// singleKey returns the key of an object for one record.
func (o *ObjectOptions) singleKey(a *record.Attempt) string {
	folder := "30/" + plain(a.OrgID) + "/"
	if o.Format == V2 {
		slug := ""
		if o.Slug != nil {
			slug = o.Slug(a.WorkspaceID)
		}
		if slug == "" {
			slug = a.WorkspaceID
		}
		folder += plain(slug) + a.Started.UTC().Format("/2006/01/02/15/")
	}
	return folder + plain(a.ID) + ".json"
}

// plain replaces the characters of a name that could split or change a segment of a key.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
