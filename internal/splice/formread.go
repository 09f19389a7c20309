package splice

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"sluice/internal/fault"
	"sluice/internal/wire"
)

// ReadForm reads a multipart/form-data body into the spool, once, and indexes its
// parts on the way. Memory does not grow with the body: beyond the spool's own limit
// only field values up to MaxValueBytes are kept.
//
// A body that breaks RFC 7578, or that two readers could take for two different
// forms, is fault.InvalidRequest; so is a second field of a name that decides about
// access or cost, with Param. A body over the total is fault.TooLarge. Another content
// type is fault.UnsupportedMedia. Errors of r and of the spool are wrapped. Whatever
// happens, the spool stays the caller's to close.
func ReadForm(r io.Reader, contentType string, spool *wire.Spool, lim FormLimits) (*Form, error) {
	boundary, err := boundaryOf(contentType)
	if err != nil {
		return nil, err
	}
	win := windows.Get().(*[]byte)
	defer windows.Put(win)
	fr := &formReader{
		form: &Form{spool: spool, boundary: boundary}, lim: lim.orDefault(),
		delim: []byte("\r\n--" + boundary), win: (*win)[:0], r: r,
	}
	if err := fr.run(); err != nil {
		return nil, err
	}
	return fr.form, fr.form.rejectDuplicateFields()
}

// window is how much of a body is looked at together. It must hold the largest head.
const window = 64 << 10

var windows = sync.Pool{New: func() any { b := make([]byte, 0, 2*window); return &b }}

// formReader finds the parts in a window that slides over the body.
type formReader struct {
	form  *Form
	lim   FormLimits
	delim []byte // the line break and the boundary
	r     io.Reader
	win   []byte
	off   int64 // of the window's first byte in the body
	eof   bool
}

func (fr *formReader) run() error {
	if err := fr.opening(); err != nil {
		return err
	}
	for {
		last, err := fr.boundaryLine()
		if err != nil {
			return err
		}
		if last {
			return fr.closing()
		}
		if len(fr.form.Parts) == fr.lim.Parts {
			return malformed(fmt.Sprintf("it has more than %d parts", fr.lim.Parts))
		}
		if err := fr.part(); err != nil {
			return err
		}
	}
}

// fill brings at least n bytes into the window, fewer only at the end of the body.
func (fr *formReader) fill(n int) error {
	for len(fr.win) < n && !fr.eof {
		if err := fr.read(); err != nil {
			return err
		}
	}
	return nil
}

func (fr *formReader) read() error {
	free := fr.win[len(fr.win):cap(fr.win)]
	if len(free) > window {
		free = free[:window]
	}
	n, err := fr.r.Read(free)
	fr.win = fr.win[:len(fr.win)+n]
	if fr.off+int64(len(fr.win)) > fr.lim.Total {
		return fault.Newf(fault.TooLarge, "the form exceeds %d bytes; send a smaller form", fr.lim.Total)
	}
	if _, werr := fr.form.spool.Write(free[:n]); werr != nil {
		return fmt.Errorf("spool form: %w", werr)
	}
	if errors.Is(err, io.EOF) {
		fr.eof = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("read form: %w", err)
	}
	return nil
}

// skip lets go of the window's first n bytes.
func (fr *formReader) skip(n int) {
	fr.off += int64(n)
	fr.win = fr.win[:copy(fr.win, fr.win[n:])]
}

// opening reads the first boundary, in front of which nothing but a line break stands.
func (fr *formReader) opening() error {
	if err := fr.fill(len(fr.delim)); err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(fr.win, fr.delim):
		fr.form.first = 2
		fr.skip(len(fr.delim))
	case bytes.HasPrefix(fr.win, fr.delim[2:]):
		fr.skip(len(fr.delim) - 2)
	default:
		return malformed("it must begin with its boundary")
	}
	return nil
}

// maxLineBytes bounds the white space behind a boundary.
const maxLineBytes = 256

// boundaryLine reads what stands behind a boundary and reports whether it was the last.
func (fr *formReader) boundaryLine() (last bool, err error) {
	if err := fr.fill(maxLineBytes); err != nil {
		return false, err
	}
	n := 0
	if bytes.HasPrefix(fr.win, []byte("--")) {
		last, n = true, 2
	}
	for n < min(len(fr.win), maxLineBytes) && (fr.win[n] == ' ' || fr.win[n] == '\t') {
		n++
	}
	switch {
	case bytes.HasPrefix(fr.win[n:], []byte("\r\n")):
		fr.skip(n + 2)
		return last, nil
	case last && fr.eof && n == len(fr.win):
		fr.skip(n)
		return true, nil
	case fr.eof && n == len(fr.win):
		return false, cutShort()
	}
	return false, malformed("unexpected data after a boundary")
}

// closing makes sure that nothing but line breaks follows the last boundary.
func (fr *formReader) closing() error {
	for {
		if len(bytes.Trim(fr.win, "\r\n")) > 0 {
			return malformed("unexpected data after the last boundary")
		}
		if fr.skip(len(fr.win)); fr.eof {
			return nil
		}
		if err := fr.fill(1); err != nil {
			return err
		}
	}
}

// part reads header lines and content up to and with the next boundary.
func (fr *formReader) part() error {
	p := Part{PartOff: fr.lastBoundary()}
	head, err := fr.head()
	if err != nil {
		return err
	}
	if err := p.describe(head); err != nil {
		return err
	}
	// A reader that looks for the boundary everywhere would find it among these lines, too.
	if bytes.HasPrefix(head, fr.delim[2:]) || bytes.Contains(head, fr.delim) {
		return malformed("a header line of a part begins with the boundary")
	}
	fr.skip(len(head) + 4)
	p.Off = fr.off
	if err := fr.content(&p); err != nil {
		return err
	}
	p.PartLen = p.Off + p.Len - p.PartOff
	fr.form.Parts = append(fr.form.Parts, p)
	return nil
}

// lastBoundary is where the dashes of the boundary that was just read begin.
func (fr *formReader) lastBoundary() int64 {
	if n := len(fr.form.Parts); n > 0 {
		prev := &fr.form.Parts[n-1]
		return prev.Off + prev.Len + 2
	}
	return fr.form.first
}

// head returns the header lines of a part, without the blank line that ends them.
func (fr *formReader) head() ([]byte, error) {
	for seen := 0; ; {
		if n := bytes.Index(fr.win[seen:], []byte("\r\n\r\n")); n >= 0 && seen+n <= fr.lim.Head {
			return fr.win[:seen+n], nil
		}
		if len(fr.win) > fr.lim.Head {
			return nil, malformed(fmt.Sprintf("the header lines of a part exceed %d bytes", fr.lim.Head))
		}
		if fr.eof {
			return nil, cutShort()
		}
		seen = max(0, len(fr.win)-3)
		if err := fr.fill(len(fr.win) + 1); err != nil {
			return nil, err
		}
	}
}

// content reads up to the next boundary and lets go of it. Readers differ in what they
// take for one: some take it where the content begins, as mime/multipart does, some behind
// a line break of one byte. Where only some would find a boundary, the form is refused.
func (fr *formReader) content(p *Part) error {
	for from := 0; ; {
		n := bytes.Index(fr.win[from:], fr.delim[2:])
		if n < 0 {
			// A boundary may have begun in the rest; what stands in front of one stays.
			n = max(0, len(fr.win)-len(fr.delim)+1)
			if err := fr.pass(p, n); err != nil {
				return err
			}
			from = max(0, from-n)
			continue
		}
		from += n
		switch before := fr.win[:from]; {
		case bytes.HasSuffix(before, fr.delim[:2]):
			err := fr.addContent(p, before[:from-2])
			fr.skip(from - 2 + len(fr.delim))
			return err
		case from == 0, before[from-1] == '\r', before[from-1] == '\n':
			return malformed("the content of a part contains a line that begins with the boundary, without a complete line break before it")
		}
		from += len(fr.delim) - 2
	}
}

// pass keeps the first n bytes of the window as content and brings in further ones.
func (fr *formReader) pass(p *Part, n int) error {
	if err := fr.addContent(p, fr.win[:n]); err != nil {
		return err
	}
	if fr.eof {
		return cutShort()
	}
	fr.skip(n)
	return fr.fill(len(fr.win) + 1)
}

// addContent counts content and remembers that of a field.
func (fr *formReader) addContent(p *Part, b []byte) error {
	p.Len += int64(len(b))
	switch {
	case p.HasFileName:
	case p.Len > fr.lim.Value:
		return fault.Newf(fault.InvalidRequest, "the form field %q exceeds %d bytes", p.Name, fr.lim.Value).WithParam(p.Name)
	case p.Len > MaxValueBytes:
		p.Value = nil
	default:
		p.Value = append(p.Value, b...)
		if p.Value == nil {
			p.Value = []byte{}
		}
	}
	return nil
}

func cutShort() error { return malformed("unexpected end before the last boundary") }

func (f *Form) rejectDuplicateFields() error {
	var seen uint64 // one bit for each of guarded
	for k := range f.Parts {
		g := routingKeyIndex([]byte(f.Parts[k].Name))
		if g < 0 {
			continue
		}
		if seen&(1<<g) != 0 {
			return fault.Newf(fault.InvalidRequest, "duplicate form field %s; send it once", routingKeys[g]).WithParam(routingKeys[g])
		}
		seen |= 1 << g
	}
	return nil
}
