package listing

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/kernel/fault"
)

// entryTag is the name of the index entries that find records by tag.
const entryTag = "tag"

// Limits of the tags of a record.
const (
	maxTags    = 50
	maxTagText = 255 // characters of a name or value
)

// CheckTags checks the number of tags and the lengths of their names and values.
func CheckTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d tags", maxTags).WithParam("tags")
	}
	for name, v := range tags {
		if name == "" || len(name) > maxTagText || len(v) > maxTagText {
			return fault.Newf(fault.InvalidParameter, "tag names and values must not exceed %d characters; names must not be empty", maxTagText).WithParam("tags")
		}
	}
	return nil
}

// TagEntries returns index entries that find records by tag. They are hashed because an index
// value is short.
func TagEntries(tags map[string]string) []resource.IndexEntry {
	entries := make([]resource.IndexEntry, 0, len(tags))
	for name, v := range tags {
		entries = append(entries, resource.IndexEntry{Name: entryTag, Value: jsonfield.Digest(name + "\x00" + v)})
	}
	return entries
}

// TagFilter selects records that have all the tags of a JSON object.
func TagFilter() resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: "tags", Doc: `JSON object, for example {"team":"search"}; all tags must match`},
		Apply: func(_ *resource.Call, v string, q *resource.Query) error {
			var tags map[string]string
			if json.Unmarshal([]byte(v), &tags) != nil || len(tags) > maxTags {
				return fault.New(fault.InvalidParameter, "must be a JSON object of strings").WithParam("tags")
			}
			q.Index = append(q.Index, TagEntries(tags)...)
			return nil
		},
	}
}
