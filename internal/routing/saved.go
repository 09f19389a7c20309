package routing

import "sluice/internal/sealed"

// SavedKind is the kind of the stored record of a config.
const SavedKind = "config"

// Saved is the stored body of a config. The document may hold credentials of
// providers, so it is kept sealed as a whole; its validity was checked when it was
// written. Source: contract/content-and-observability.yaml, Config.
type Saved struct {
	Name      string `json:"name"`
	Sealed    []byte `json:"sealed"` // the document, under SavedContext
	IsDefault bool   `json:"is_default,omitempty"`
	OwnerID   string `json:"owner_id,omitempty"`   // who made it: id of a user or key
	UpdatedBy string `json:"updated_by,omitempty"` // who changed it last

	// Number is that of the document among all that the config had, from 1, and Since the
	// version of the record in which it was new. Both are 0 in records that were last given
	// a document before there were these fields.
	Number int   `json:"number,omitempty"`
	Since  int64 `json:"since,omitempty"`
}

// SavedContext is what the document of a record is sealed under: "config/0191…".
func SavedContext(recordID string) string { return SavedKind + "/" + recordID }

// Seal keeps doc as the document of a record.
func (s *Saved) Seal(box *sealed.Sealer, recordID string, doc []byte) (err error) {
	s.Sealed, err = box.Seal(doc, SavedContext(recordID))
	return err
}

// Open returns the document of a record in the clear, which the caller owns. The
// error is that of sealed.Box.
func (s *Saved) Open(box *sealed.Sealer, recordID string) ([]byte, error) {
	return box.Open(s.Sealed, SavedContext(recordID))
}
