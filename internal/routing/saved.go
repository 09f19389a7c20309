package routing

import "encoding/json"

// SavedKind is the kind of the stored record of a config.
const SavedKind = "config"

// Saved is the stored body of a config. Config is the document as the
// administrator wrote it; its validity was checked when it was written.
// Source: contract/content-and-observability.yaml, Config.
type Saved struct {
	Name      string          `json:"name"`
	Config    json.RawMessage `json:"config"`
	IsDefault bool            `json:"is_default,omitempty"`
}
