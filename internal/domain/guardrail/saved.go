package guardrail

import (
	"strconv"

	"github.com/google/uuid"
)

// Saved is a stored guardrail in the form that requests use: its checks are opened. It is shared
// and never changes.
type Saved struct {
	ID, Slug  string
	VersionID string // of the version in force
	Checks    []Check
	Actions   Actions
}

// VersionID returns the id of a version of a record. It never changes.
func VersionID(recordID string, version int64) string {
	space, err := uuid.Parse(recordID)
	if err != nil {
		return ""
	}
	return uuid.NewSHA1(space, strconv.AppendInt(nil, version, 10)).String()
}
