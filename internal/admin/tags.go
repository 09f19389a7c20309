package admin

import (
	"encoding/json"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// Limits of the tags of a record.
const (
	maxTags    = 50
	maxTagText = 255 // characters of a name or value
)

func checkTags(tags map[string]string) error {
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

// tagEntries returns index entries that find records by tag. They are hashed because an index
// value is short.
func tagEntries(tags map[string]string) []resource.IndexEntry {
	entries := make([]resource.IndexEntry, 0, len(tags))
	for name, v := range tags {
		entries = append(entries, resource.IndexEntry{Name: entryTag, Value: digest(name + "\x00" + v)})
	}
	return entries
}

// tagFilter selects records that have all the tags of a JSON object.
func tagFilter() resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: "tags", Doc: `JSON object, for example {"team":"search"}; all tags must match`},
		Apply: func(_ *resource.Call, v string, q *resource.Query) error {
			var tags map[string]string
			if json.Unmarshal([]byte(v), &tags) != nil || len(tags) > maxTags {
				return fault.New(fault.InvalidParameter, "must be a JSON object of strings").WithParam("tags")
			}
			q.Index = append(q.Index, tagEntries(tags)...)
			return nil
		},
	}
}
