package audit

// Checkpoint is a signed statement: at this time the trail of the organisation
// reached row Seq, whose hash is Hash, and all rows from First to Seq were kept. The
// hash vouches for every row before it. The JSON names are those of an export.
type Checkpoint struct {
	OrgID     string `json:"organisation_id"`
	Number    int64  `json:"number"` // 1 for the first of an organisation, without gaps
	Seq       int64  `json:"seq"`
	Hash      string `json:"hash"`
	Timestamp string `json:"timestamp"` // "2026-11-20T10:00:00.000Z"
	First     int64  `json:"first_seq"` // first row that is kept; greater than 1 after retention
	Count     int64  `json:"count"`     // rows that are kept: Seq - First + 1
	KeyID     string `json:"key_id"`    // PublicKey.ID
	Signature string `json:"signature"` // Ed25519 over Canonical, base64
}

// Canonical is what the signature is made over. The layout is described in
// docs/audit.md.
func (c *Checkpoint) Canonical() []byte {
	var b canon
	b.text(checkpointForm, c.OrgID)
	b.number(c.Number, c.Seq)
	b.text(c.Hash, c.Timestamp)
	b.number(c.First, c.Count)
	b.text(c.KeyID)
	return b
}

// SignedBy fills Count, KeyID and Signature.
func (c Checkpoint) SignedBy(s *Signer) Checkpoint {
	c.Count, c.KeyID = c.Seq-c.First+1, s.Public().ID()
	c.Signature = s.sign(c.Canonical())
	return c
}

// Holds reports whether the checkpoint was signed with the key and says nothing that
// contradicts itself.
func (c *Checkpoint) Holds(key PublicKey) bool {
	return c.Count == c.Seq-c.First+1 && c.Count >= 0 && c.KeyID == key.ID() && key.verifies(c.Canonical(), c.Signature)
}

// Header is the first line of an export. It is signed when the export is made, so
// that a file cannot be cut, at either end, without a trace.
type Header struct {
	Format     string `json:"format"` // Format
	OrgID      string `json:"organisation_id"`
	ExportedAt string `json:"exported_at"`
	From       string `json:"from"` // beginning of the time asked for; "" for the whole trail
	To         string `json:"to"`   // its end; "" for no end
	First      int64  `json:"first_seq"`
	Last       int64  `json:"last_seq"`   // First - 1 when there is no row
	LastHash   string `json:"last_hash"`  // of the row Last; "" when there is none
	Checkpoint int64  `json:"checkpoint"` // number of the last checkpoint in the file; 0 for none
	PublicKey  string `json:"public_key"` // PublicKey.Base64
	Signature  string `json:"signature"`
}

// Format is the value of Header.Format that this package writes and reads.
const Format = "sluice-audit-export-v1"

// Canonical is what the signature is made over. The layout is described in
// docs/audit.md.
func (h *Header) Canonical() []byte {
	var b canon
	b.text(headerForm, h.Format, h.OrgID, h.ExportedAt, h.From, h.To)
	b.number(h.First, h.Last)
	b.text(h.LastHash)
	b.number(h.Checkpoint)
	b.text(h.PublicKey)
	return b
}

// signedBy fills Format, PublicKey and Signature.
func (h Header) signedBy(s *Signer) Header {
	h.Format, h.PublicKey = Format, s.Public().Base64()
	h.Signature = s.sign(h.Canonical())
	return h
}

// isComplete reports whether the export is of all rows that are kept.
func (h *Header) isComplete() bool { return h.From == "" && h.To == "" }
