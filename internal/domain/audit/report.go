package audit

import (
	"fmt"
	"strings"
)

// String describes what the verification proved.
func (r Report) String() string {
	var b strings.Builder
	h := &r.Header
	fmt.Fprintf(&b, "organisation %s, exported at %s\n", h.OrgID, h.ExportedAt)
	switch {
	case r.Rows == 0:
		b.WriteString("no rows\n")
	case h.isComplete():
		fmt.Fprintf(&b, "rows %d to %d: all %d are present, in order and unchanged since this export\n", h.First, h.Last, r.Rows)
	default:
		fmt.Fprintf(&b, "rows %d to %d, covering the time from %s to %s: all %d are present, in order and unchanged since this export\n", h.First, h.Last, orOpen(h.From), orOpen(h.To), r.Rows)
	}
	if h.isComplete() && h.First > 1 {
		fmt.Fprintf(&b, "rows 1 to %d have expired; a signed checkpoint covers them\n", h.First-1)
	}
	if c := r.Last; c != nil {
		fmt.Fprintf(&b, "signed up to row %d by checkpoint %d of %s (%d in the file)\n", c.Seq, c.Number, c.Timestamp, r.Checkpoints)
	}
	if r.Unsigned > 0 {
		fmt.Fprintf(&b, "not yet signed: the last %d rows, written after the last checkpoint\n", r.Unsigned)
	}
	return b.String()
}

func orOpen(when string) string {
	if when == "" {
		return "…"
	}
	return when
}
