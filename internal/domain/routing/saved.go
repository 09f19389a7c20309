package routing

import "sluice/internal/kernel/sealed"

// SavedKind is the kind of the stored record of a config.
const SavedKind = "config"

// Saved is the stored body of a config. The document may contain provider credentials, so it
// is sealed as a whole. It was validated when it was written. Source:
// contract/content-and-observability.yaml, Config.
type Saved struct {
	Name      string `json:"name"`
	Sealed    []byte `json:"sealed"` // the document, under SavedContext
	IsDefault bool   `json:"is_default,omitempty"`
	OwnerID   string `json:"owner_id,omitempty"`   // creator: id of a user or key
	UpdatedBy string `json:"updated_by,omitempty"` // last editor

	// Number is the number of the document among all that the config had, from 1, and Since is
	// the version of the record that introduced it. Both are 0 in records whose document is
	// older than these fields.
	Number int   `json:"number,omitempty"`
	Since  int64 `json:"since,omitempty"`
}

// SavedContext returns the context that the document of a record is sealed with:
// "config/0191…".
func SavedContext(recordID string) string { return SavedKind + "/" + recordID }

// Seal stores doc, sealed, as the document of a record.
func (s *Saved) Seal(box *sealed.Sealer, recordID string, doc []byte) (err error) {
	s.Sealed, err = box.Seal(doc, SavedContext(recordID))
	return err
}

// Open returns the decrypted document of a record, which the caller owns. The error is that of
// sealed.Sealer.
func (s *Saved) Open(box *sealed.Sealer, recordID string) ([]byte, error) {
	return box.Open(s.Sealed, SavedContext(recordID))
}
