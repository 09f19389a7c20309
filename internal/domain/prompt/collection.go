package prompt

import (
	"github.com/google/uuid"
)

// CollectionKind is the stored kind of collections.
const CollectionKind = "collection"

// MaxCollectionDepth is how deep collections may lie in collections.
const MaxCollectionDepth = 10

// Collection is a folder of prompts and partials.
// Source: contract/content-and-observability.md 1.7.
type Collection struct {
	Name      string `json:"name"`
	ParentID  string `json:"parent_collection_id,omitempty"`
	IsDefault bool   `json:"is_default,omitempty"` // the one of its workspace that cannot be deleted
}

// Validate checks the body: fault.InvalidParameter.
func (c *Collection) Validate() error { return checkName(c.Name) }

// DefaultCollectionID is the id of the default collection of a workspace, for ever the
// same: whoever makes it first, there is one.
func DefaultCollectionID(workspaceID string) string {
	return derived(workspaceID, "default collection")
}

// derived names something that belongs to a record; "" when id is no UUID.
func derived(id, what string) string {
	space, err := uuid.Parse(id)
	if err != nil {
		return ""
	}
	return uuid.NewSHA1(space, []byte(what)).String()
}
