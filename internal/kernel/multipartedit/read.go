package multipartedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// Read reads a multipart/form-data body once, writes it to the spool and indexes its
// parts. Memory does not grow with the body: apart from what the spool holds in memory,
// only field values up to MaxValueBytes are stored.
//
// A body that violates RFC 7578, or that two readers could parse as two different forms,
// is fault.InvalidRequest. So is a duplicate field whose name affects access or cost (see
// jsonedit.RoutingKeyIndex); Param is that name. A body over lim.Total is fault.TooLarge. Another
// content type is fault.UnsupportedMedia. Errors of r and of the spool are wrapped. The
// caller closes the spool, also after an error.
func Read(r io.Reader, contentType string, spool *wire.Spool, lim Limits) (*Form, error) {
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

// window is how many bytes of a body one read adds to the window at most. Limits.Head
// cannot exceed it, so the header lines of a part always fit.
const window = 64 << 10

var windows = sync.Pool{New: func() any { b := make([]byte, 0, 2*window); return &b }}

// formReader finds the parts of a form in a window that slides over the body.
type formReader struct {
	form  *Form
	lim   Limits
	delim []byte // the line break and the boundary
	r     io.Reader
	win   []byte
	off   int64 // offset of the window's first byte in the body
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

// fill reads until the window holds at least n bytes. It holds fewer only at the end of
// the body.
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

// skip removes the first n bytes from the window.
func (fr *formReader) skip(n int) {
	fr.off += int64(n)
	fr.win = fr.win[:copy(fr.win, fr.win[n:])]
}

// opening reads the first boundary. Only a line break may precede it.
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

// maxLineBytes limits the rest of a boundary line, which may hold only dashes and white
// space.
const maxLineBytes = 256

// boundaryLine reads the rest of a boundary line and reports whether the boundary was the
// last one.
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

// closing checks that only line breaks follow the last boundary.
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

// part reads the header lines and the content of a part, and the boundary after it.
func (fr *formReader) part() error {
	p := Part{PartOff: fr.lastBoundary()}
	head, err := fr.head()
	if err != nil {
		return err
	}
	if err := p.describe(head); err != nil {
		return err
	}
	// A reader that searches for the boundary everywhere would also find it in these lines.
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

// lastBoundary returns the offset of the dashes of the boundary that was just read.
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

// content reads the content of a part and skips the boundary after it. Readers differ in
// what they accept as a boundary. Some accept it at the start of the content, as
// mime/multipart does; some after a line break of one byte. content rejects a form in
// which only some readers would find a boundary.
func (fr *formReader) content(p *Part) error {
	for from := 0; ; {
		n := bytes.Index(fr.win[from:], fr.delim[2:])
		if n < 0 {
			// A boundary may begin in the last bytes. They stay in the window, with the line
			// break before it.
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

// pass moves the first n bytes of the window to the content and reads more bytes.
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

// addContent counts the bytes of content and stores those of a field in p.Value. A value
// over MaxValueBytes is not stored.
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
	var seen uint64 // one bit for each routing key
	for k := range f.Parts {
		g := jsonedit.RoutingKeyIndex([]byte(f.Parts[k].Name))
		if g < 0 {
			continue
		}
		if seen&(1<<g) != 0 {
			return fault.Newf(fault.InvalidRequest, "duplicate form field %s; send it once", jsonedit.RoutingKeyName(g)).WithParam(jsonedit.RoutingKeyName(g))
		}
		seen |= 1 << g
	}
	return nil
}
