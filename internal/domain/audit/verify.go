package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Report is what a verified export holds.
type Report struct {
	Header      Header
	Rows        int64
	Checkpoints int64
	// Last is the newest checkpoint in the file that vouches for its rows; nil when
	// there is none.
	Last *Checkpoint
	// Unsigned is how many rows follow the last checkpoint. That they are whole
	// and in order is certain; that nobody changed them before the export is not yet.
	Unsigned int64
}

// Options are what a verification may be held against besides the key.
type Options struct {
	// Known is a checkpoint that was published elsewhere, for example in the program's
	// log: the export must agree with it. nil for none. Its own signature is checked.
	Known *Checkpoint
}

// Verify reads an export to its end, in constant memory, and returns what it holds,
// or the first *Fault. Other errors are those of reading.
func Verify(input io.Reader, key PublicKey, o Options) (Report, error) {
	v := &verifier{lines: newLines(input), key: key, known: o.Known}
	if o.Known != nil && !o.Known.Holds(key) {
		return Report{}, v.fault(WrongKey, 0, "the published checkpoint was not signed with the given key, or was edited")
	}
	err := v.run()
	return v.report, err
}

// verifier is one reading of one export.
type verifier struct {
	lines  *lines
	key    PublicKey
	known  *Checkpoint
	report Report

	seq  int64 // of the row read last; before the first row, First-1
	hash string
	last *Checkpoint // read last
}

func (v *verifier) fault(flaw FaultKind, seq int64, format string, args ...any) error {
	return &Fault{FaultKind: flaw, Line: max(v.lines.number, 1), Seq: seq, Text: fmt.Sprintf(format, args...)}
}

func (v *verifier) run() error {
	if err := v.header(); err != nil {
		return err
	}
	for {
		line, err := v.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return v.end()
		case errors.Is(err, errCut):
			return v.fault(Truncated, 0, "%v", err)
		case errors.Is(err, errLong):
			return v.fault(Malformed, 0, "%v", err)
		case err != nil:
			return err
		}
		if err := v.line(line); err != nil {
			return err
		}
	}
}

func (v *verifier) line(line []byte) error {
	switch kindOf(line) {
	case rowLine:
		return v.row(line)
	case checkpointLine:
		return v.checkpoint(line)
	}
	return v.fault(Malformed, 0, "the line is not a row or a checkpoint")
}

func (v *verifier) header() error {
	line, err := v.lines.next()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, errCut):
		return v.fault(Truncated, 0, "the header is missing or incomplete")
	case errors.Is(err, errLong):
		return v.fault(Malformed, 0, "%v", err)
	case err != nil:
		return err
	}
	h := &v.report.Header
	switch {
	case kindOf(line) != headerLine || !decodeLine(line, headerLine, h):
		return v.fault(Malformed, 0, "the first line is not the header of an export")
	case h.Format != Format:
		return v.fault(Malformed, 0, "unknown format %q; this program reads %s", h.Format, Format)
	case h.PublicKey != v.key.Base64():
		return v.fault(WrongKey, 0, "the export was signed with a different key than the given one (%s)", v.key.ID())
	case !v.key.verifies(h.Canonical(), h.Signature):
		return v.fault(Edited, 0, "the header does not match its signature")
	}
	if v.known != nil && v.known.OrgID != h.OrgID {
		return v.fault(Foreign, 0, "the published checkpoint belongs to the organisation %q, the export to %q", v.known.OrgID, h.OrgID)
	}
	v.seq, v.hash = h.First-1, ""
	if h.First == 1 {
		v.hash = Genesis
	}
	return nil
}

func (v *verifier) row(line []byte) error {
	var r Row
	h := &v.report.Header
	switch {
	case !decodeLine(line, rowLine, &r):
		return v.fault(Malformed, 0, "the line does not have the format of an exported row")
	case r.OrgID != h.OrgID:
		return v.fault(Foreign, r.Seq, "the row belongs to the organisation %q", r.OrgID)
	case r.Seq <= v.seq:
		return v.fault(Reordered, r.Seq, "the row is repeated, or follows row %d out of order", v.seq)
	case r.Seq > h.Last:
		return v.fault(Foreign, r.Seq, "the row is after row %d, where the export ends", h.Last)
	case r.Seq > v.seq+1:
		return v.missing(v.seq + 1)
	case !r.VerifyHash():
		return v.fault(Edited, r.Seq, "the row does not match its hash")
	case v.hash == "":
		return v.fault(Deleted, r.Seq, "cannot verify the rows before this one: the checkpoint of row %d is missing", v.seq)
	case r.Prev != v.hash:
		return v.fault(Edited, r.Seq, "the row does not continue row %d: its previous hash differs", v.seq)
	}
	v.seq, v.hash = r.Seq, r.Hash
	v.report.Rows++
	return v.expect()
}

// expect compares with the checkpoint that was published elsewhere.
func (v *verifier) expect() error {
	if k := v.known; k != nil && k.Seq == v.seq && k.Hash != v.hash {
		return v.fault(Edited, v.seq, "the published checkpoint %d signs a different history up to here", k.Number)
	}
	return nil
}

// missing distinguishes a deleted row from one that was moved further down.
func (v *verifier) missing(seq int64) error {
	f := v.fault(Deleted, seq, "the row is missing")
	for {
		line, err := v.lines.next()
		if err != nil {
			return f
		}
		var r Row
		if kindOf(line) == rowLine && json.Unmarshal(line, &r) == nil && r.Seq == seq {
			return v.fault(Reordered, seq, "the row follows later rows")
		}
	}
}

func (v *verifier) checkpoint(line []byte) error {
	var c Checkpoint
	h := &v.report.Header
	switch {
	case !decodeLine(line, checkpointLine, &c):
		return v.fault(Malformed, 0, "the line does not have the format of an exported checkpoint")
	case c.OrgID != h.OrgID:
		return v.fault(Foreign, 0, "the checkpoint belongs to the organisation %q", c.OrgID)
	case !c.Holds(v.key):
		return v.fault(Edited, 0, "checkpoint %d does not match its signature", c.Number)
	case v.last != nil && c.Number <= v.last.Number, c.Seq < v.seq, c.Number > h.Checkpoint:
		return v.fault(Reordered, 0, "checkpoint %d is out of order", c.Number)
	case v.last != nil && c.Number > v.last.Number+1:
		return v.fault(Deleted, 0, "checkpoint %d is missing", v.last.Number+1)
	case v.last == nil && h.First == 1 && c.Number > 1:
		return v.fault(Deleted, 0, "checkpoint 1 is missing")
	case c.Seq > v.seq:
		return v.missing(v.seq + 1)
	case v.hash != "" && c.Hash != v.hash:
		return v.fault(Edited, c.Seq, "checkpoint %d signs a different history up to here: a row was edited and the hashes were recomputed", c.Number)
	}
	v.hash, v.last = c.Hash, &c
	v.report.Checkpoints++
	return v.expect()
}

// end holds what was read against what the header and the last checkpoint say of it.
func (v *verifier) end() error {
	h := &v.report.Header
	switch {
	case v.seq < h.Last:
		return v.fault(Truncated, 0, "the file ends after row %d, but the export has rows up to %d", v.seq, h.Last)
	case v.report.Rows > 0 && v.hash != h.LastHash:
		return v.fault(Edited, v.seq, "the last row does not match the end of the export")
	case h.Checkpoint > 0 && v.last == nil, v.last != nil && v.last.Number < h.Checkpoint:
		return v.fault(Truncated, 0, "the file ends too early; the export has checkpoints up to %d", h.Checkpoint)
	case v.last != nil && h.isComplete() && h.First > v.last.First:
		return v.fault(Deleted, v.last.First, "the last checkpoint states that rows from this one on are retained, but the export begins with row %d", h.First)
	}
	if k := v.known; k != nil && h.To == "" && k.Seq > v.seq {
		return v.fault(Truncated, 0, "the published checkpoint %d covers row %d, but the last row of the export is %d", k.Number, k.Seq, v.seq)
	}
	v.report.Last = v.last
	v.report.Unsigned = v.report.Rows
	if v.last != nil {
		v.report.Unsigned = v.seq - max(v.last.Seq, h.First-1)
	}
	return nil
}
