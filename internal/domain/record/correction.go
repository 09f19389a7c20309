package record

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/kernel/varint"
)

// Correction changes the recorded cost of an attempt, because its price was wrong. It is one
// entry of the journal. The row of the attempt and the meters of its budgets apply it, each
// exactly once. A Correction without an ID corrects nothing: it is a mark, and a consumer that
// has read it has read everything that was appended before.
type Correction struct {
	ID        string    `json:"id,omitempty"` // of the attempt
	Started   time.Time `json:"started"`      // the attempt
	Operation string    `json:"operation"`    // UUID of the re-rating, or of the mark
	RatedAt   time.Time `json:"at"`           // when the attempt was re-rated
	By        string    `json:"by,omitempty"` // id of the user or API key that requested it
	Before    Rated     `json:"before"`
	After     Rated     `json:"after"`
	Closing   []byte    `json:"-"` // the stored ledger entry with the differences (ledger.Entry)
}

// Rated is the cost of an attempt and its calculation.
type Rated struct {
	Cost     int64  `json:"cost"`               // nano-dollars
	Unpriced string `json:"unpriced,omitempty"` // as in Spend
	Version  string `json:"version,omitempty"`  // as in Spend
	Terms    string `json:"terms,omitempty"`    // as in Spend
}

// Charged is what cost budgets were charged for an attempt so far.
type Charged struct {
	ClosedAt time.Time // when its entry was closed; zero if the charge is not known
	Nano     int64     // nano-dollars, on each
	Budgets  string    // the counters, in the format of ledger.ReadCostCounters
}

// Billed is an attempt with what was charged for it.
type Billed struct {
	Attempt
	Charged Charged
}

// BilledPage is a page of the log: attempts that are in the ledger and may have cost
// something. The rows have no body bytes.
type BilledPage struct {
	Rows []Billed
	Next Cursor // empty on the last page
}

// The stored form of a Correction: the version byte, the length of the ledger entry as a
// varint, the entry, and the rest as JSON.
const correctionVersion = 'C'

// IsCorrection reports whether a journal entry is a Correction, judging by its first byte.
func IsCorrection(b []byte) bool { return len(b) > 0 && b[0] == correctionVersion }

// Encode returns the stored form. Times have nanosecond precision.
func (c *Correction) Encode() ([]byte, error) {
	rest, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode correction of %s: %w", c.ID, err)
	}
	b := varint.Append([]byte{correctionVersion}, uint64(len(c.Closing)))
	return append(append(b, c.Closing...), rest...), nil
}

// Decode reads the stored form into c and overwrites it. Closing is a slice of src.
func (c *Correction) Decode(src []byte) error {
	line, rest, err := splitCorrection(src)
	if err != nil {
		return err
	}
	*c = Correction{}
	if err := json.Unmarshal(rest, c); err != nil {
		return fmt.Errorf("correction: %w: %w", errMalformed, err)
	}
	c.Closing = line
	return nil
}

// splitCorrection returns the ledger entry, nil for none, and the bytes after it.
func splitCorrection(src []byte) (line, rest []byte, err error) {
	d := newDecoder(src)
	if v := d.Byte(); d.Err == nil && v != correctionVersion {
		return nil, nil, fmt.Errorf("version %d: %w", v, errMalformed)
	}
	line = d.Bytes(d.Uvarint())
	return line, d.Rest, d.Err
}
