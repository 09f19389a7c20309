package multipartedit

import (
	"mime"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// Limits are the limits of a multipart form. A zero field means the default.
type Limits struct {
	Total int64 // bytes of the whole body, 512 MiB
	Parts int   // 128
	Head  int   // bytes of a part's header lines, 16 KiB; at most 64 KiB
	Value int64 // bytes of a part that is not a file, 1 MiB
}

// MaxValueBytes is the maximum size of a field value in Part.Value: 64 KiB.
const MaxValueBytes = 64 << 10

func (l Limits) orDefault() Limits {
	def := Limits{Total: 512 << 20, Parts: 128, Head: 16 << 10, Value: 1 << 20}
	if l.Total > 0 {
		def.Total = l.Total
	}
	if l.Parts > 0 {
		def.Parts = l.Parts
	}
	if l.Head > 0 {
		def.Head = min(l.Head, window)
	}
	if l.Value > 0 {
		def.Value = l.Value
	}
	return def
}

// Part is one part of a form. Offsets count from the first byte of the body.
type Part struct {
	Name        string
	FileName    string
	HasFileName bool   // the part is a file, even one with an empty name
	ContentType string // as sent; empty when missing
	Value       []byte // value of a part that is not a file; nil when it exceeds MaxValueBytes
	Off, Len    int64  // the content
	PartOff     int64  // offset of the dashes of the boundary line before the part
	PartLen     int64  // from there to the end of the content
}

// Form is the index of a multipart/form-data body in a spool. It is valid until the spool is
// closed. It is immutable and may be read concurrently.
type Form struct {
	Parts    []Part
	spool    *wire.Spool
	boundary string
	first    int64 // offset of the dashes of the first boundary
}

// Part returns the first part with that name, or nil.
func (f *Form) Part(name string) *Part {
	for k := range f.Parts {
		if f.Parts[k].Name == name {
			return &f.Parts[k]
		}
	}
	return nil
}

// Value returns the value of the first field with that name. It reports false when the field is
// missing, is a file, or exceeds MaxValueBytes.
func (f *Form) Value(name string) (string, bool) {
	p := f.Part(name)
	if p == nil || p.HasFileName || p.Value == nil {
		return "", false
	}
	return string(p.Value), true
}

// Payload returns the unchanged body.
func (f *Form) Payload() wire.Payload { return f.spool.Payload() }

// Content returns the content of a part. It is valid until the spool is closed.
func (f *Form) Content(p *Part) wire.Payload { return f.spool.Slice(p.Off, p.Len) }

// boundaryOf returns the boundary of a content type.
func boundaryOf(contentType string) (string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return "", fault.New(fault.UnsupportedMedia, "the content type must be multipart/form-data with a boundary").WithParam("content-type")
	}
	// Readers that implement RFC 2231 use boundary*=, others boundary=. Some drop the backslash
	// of escapes. One body could contain a form for each reader.
	if strings.Contains(contentType, "\\") || slices.ContainsFunc(paramNames(contentType), starred) {
		return "", fault.New(fault.InvalidRequest, "the content type must contain the form boundary without escapes and encodings").WithParam("content-type")
	}
	b := params["boundary"]
	if b == "" || len(b) > 70 || strings.HasSuffix(b, " ") || !printable(b) {
		return "", fault.New(fault.InvalidRequest, "the boundary of the form must be 1 to 70 printable characters").WithParam("content-type")
	}
	return b, nil
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// describe fills the part from its header lines. It refuses ambiguous heads: a line without a
// colon, folded lines, a second content-disposition.
func (p *Part) describe(head []byte) error {
	found := false
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, val, ok := strings.Cut(line, ":")
		if val = strings.Trim(val, " \t"); !ok || !wire.ValidName(name) || !wire.ValidValue(val) {
			return malformed("invalid header line of a part")
		}
		switch strings.ToLower(name) {
		case "content-disposition":
			if found {
				return malformed("duplicate content-disposition of a part")
			}
			found = true
			if err := p.disposition(val); err != nil {
				return err
			}
		case "content-type":
			p.ContentType = val
		case "content-transfer-encoding":
			if v := strings.ToLower(val); v != "binary" && v != "8bit" && v != "7bit" {
				return malformed("a part's content-transfer-encoding must be binary, 8bit or 7bit")
			}
		}
	}
	if !found {
		return malformed("a part must have a content-disposition")
	}
	return nil
}

func (p *Part) disposition(val string) error {
	kind, params, err := mime.ParseMediaType(val)
	if err != nil || kind != "form-data" {
		return malformed("invalid content-disposition of a part").WithCause(err)
	}
	name, ok := params["name"]
	if !ok || name == "" {
		return malformed("a part must have a name")
	}
	if strings.Contains(name, "\\") || strings.Contains(name, "=?") {
		return malformed("the name of a part must not contain a backslash or =?, because readers decode these differently")
	}
	p.Name = name
	p.FileName, p.HasFileName = params["filename"]
	return p.refuseStars(paramNames(val))
}

func malformed(reason string) *fault.Error {
	return fault.New(fault.InvalidRequest, "the multipart form is not valid: "+reason)
}
