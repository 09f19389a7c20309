package audit

import "fmt"

// FaultKind is the kind of the first fault in an export.
type FaultKind string

// The flaws.
const (
	Malformed FaultKind = "malformed" // not a line that an export has
	Edited    FaultKind = "edited"    // a row, checkpoint or header is not what was hashed or signed
	Deleted   FaultKind = "deleted"   // a row or checkpoint between others is missing
	Reordered FaultKind = "reordered" // a row or checkpoint stands at another place, or twice
	Truncated FaultKind = "truncated" // the end is missing
	Foreign   FaultKind = "foreign"   // a row or checkpoint of another organisation
	WrongKey  FaultKind = "wrong key" // signed with another key than the one given
)

// Fault is the first thing that is wrong with an export. It is an error.
type Fault struct {
	FaultKind FaultKind
	Line      int   // of the file, from 1
	Seq       int64 // of the row that it is about; 0 when it is about none
	Text      string
}

// Error returns the place and the kind of the flaw, for example "line 7, row 5: edited: …".
func (f *Fault) Error() string {
	location := fmt.Sprintf("line %d", f.Line)
	if f.Seq > 0 {
		location += fmt.Sprintf(", row %d", f.Seq)
	}
	return fmt.Sprintf("%s: %s: %s", location, f.FaultKind, f.Text)
}
