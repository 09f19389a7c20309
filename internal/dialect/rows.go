package dialect

import (
	"bytes"

	"sluice/internal/fault"
)

// Rows turns a file of lines into the caller's as it comes, line by line, so that its
// length is of no matter. It belongs to one goroutine.
type Rows struct {
	// Write appends what a line is to the caller, with the line's end. Lines that are blank
	// are left out. An error ends the file.
	Write func(dst, line []byte) ([]byte, error)
	part  []byte // of a line
}

var _ Restream = (*Rows)(nil)

// Append appends what the lines are that p ends. A line over LineMax is
// fault.UpstreamInvalid.
func (r *Rows) Append(dst, p []byte) ([]byte, error) {
	for {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		if len(r.part)+len(line) > LineMax {
			return dst, fault.Newf(fault.UpstreamInvalid, "the provider's file has a line of more than %d bytes", LineMax)
		}
		if !whole {
			r.part = append(r.part, line...)
			return dst, nil
		}
		if len(r.part) > 0 {
			r.part = append(r.part, line...)
			line = r.part
		}
		var err error
		if dst, err = r.line(dst, line); err != nil {
			return dst, err
		}
		r.part, p = r.part[:0], rest
	}
}

// Close appends what the last line is, which may lack its end.
func (r *Rows) Close(dst []byte) ([]byte, error) { return r.line(dst, r.part) }

func (r *Rows) line(dst, line []byte) ([]byte, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return dst, nil
	}
	return r.Write(dst, line)
}
