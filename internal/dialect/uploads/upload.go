package uploads

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
)

// Upload is the form of an upload. The file remains in the spooled form: no memory here grows
// with the file.
type Upload struct {
	File    *multipartedit.Part
	Name    string   // of the file, without folders: "rows.jsonl"
	Purpose string   // "batch"; empty if the form has none
	Dropped []string // names of further fields

	form *multipartedit.Form
}

// Read parses the form of an upload. A body that is not a form is fault.InvalidRequest. A
// form without a file is fault.InvalidParameter with Param file. The Upload is valid as long as
// the request.
func Read(r *dialect.Request) (*Upload, error) {
	if r.Form == nil {
		return nil, fault.New(fault.InvalidRequest, "the body must be a multipart form")
	}
	u := &Upload{form: r.Form, File: r.Form.Part("file")}
	if u.File == nil {
		return nil, fault.New(fault.InvalidParameter, "file is required; send it in the form").WithParam("file")
	}
	if u.File.FileName != "" {
		u.Name = filepath.Base(u.File.FileName)
	}
	u.Purpose, _ = r.Form.Value("purpose")
	for i := range r.Form.Parts {
		if name := r.Form.Parts[i].Name; name != "file" && name != "purpose" {
			u.Dropped = append(u.Dropped, name)
		}
	}
	return u, nil
}

// Content is the file as a request body.
func (u *Upload) Content() wire.Payload { return u.form.Content(u.File) }

// MaxLineBytes is the maximum size of a line in a file that is read by lines: 32 MiB, enough
// for images in base64.
const MaxLineBytes = 32 << 20

// EachLine calls each with every line of a file that is not blank. Lines count from 1. The line
// is valid only during the call. An error of each ends it. A line over MaxLineBytes is
// fault.TooLarge.
func EachLine(file io.Reader, each func(n int, line []byte) error) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLineBytes)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := each(n, line); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fault.Newf(fault.TooLarge, "the file contains a line longer than %d bytes", MaxLineBytes).WithParam("file")
	}
	return lines.Err()
}

// Rewrite writes the output of each for every line of the file to w, with a line end. A line that
// is not a JSON object is fault.InvalidParameter at file. So is an error of each, with the line
// number before its text.
func (u *Upload) Rewrite(w io.Writer, each func(dst, line []byte) ([]byte, error)) error {
	var out []byte
	return EachLine(u.Content().Open(), func(n int, line []byte) (err error) {
		if !jsonedit.Valid(line) {
			return BadLine(n, errors.New("is not a JSON object"))
		}
		if out, err = each(out[:0], line); err != nil {
			return BadLine(n, err)
		}
		_, err = w.Write(append(out, '\n'))
		return err
	})
}

// BadLine is the error for a line of an uploaded file: "line 2 of the file has no body".
func BadLine(n int, err error) error {
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		text = "cannot be sent: " + f.Text()
	}
	return fault.New(fault.InvalidParameter, "line "+strconv.Itoa(n)+" of the file "+text).WithParam("file")
}
