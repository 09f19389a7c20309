package demo

import (
	"errors"
	"io"
	"net/http"
)

// form is a multipart body: complete fields, and files that are counted and stored as far as
// requested.
type form struct {
	fields map[string][]string
	files  []formFile
}

type formFile struct {
	Field, Name string
	Size        int64
	Head        []byte // the first bytes
}

// first returns the first value of a field, "" if there is none.
func (f *form) first(name string) string {
	if vs := f.fields[name]; len(vs) > 0 {
		return vs[0]
	}
	return ""
}

// file returns the first file of a field, nil if there is none.
func (f *form) file(field string) *formFile {
	for i := range f.files {
		if f.files[i].Field == field {
			return &f.files[i]
		}
	}
	return nil
}

// readForm reads a form as it arrives and stores the first headBytes bytes of files.
func readForm(r *http.Request, headBytes int64) (*form, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, badParam("", "Expected a multipart/form-data body: %v", err)
	}
	f := &form{fields: map[string][]string{}}
	for range maxParts {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		if p.FileName() != "" {
			err = f.addFile(p.FormName(), p.FileName(), p, headBytes)
		} else {
			err = f.addField(p.FormName(), p)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, badParam("", "The form has more than %d parts.", maxParts)
}

func (f *form) addFile(field, name string, r io.Reader, headBytes int64) error {
	head, err := io.ReadAll(io.LimitReader(r, headBytes))
	if err != nil {
		return err
	}
	rest, err := io.Copy(io.Discard, r)
	f.files = append(f.files, formFile{Field: field, Name: name, Size: int64(len(head)) + rest, Head: head})
	return err
}

func (f *form) addField(name string, r io.Reader) error {
	v, err := io.ReadAll(io.LimitReader(r, maxField+1))
	if err != nil {
		return err
	}
	if len(v) > maxField {
		return badParam(name, "The field is larger than %d bytes.", maxField)
	}
	f.fields[name] = append(f.fields[name], string(v))
	return nil
}
