package mail

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	text "text/template"
)

// Email is a message as its receiver gets it.
type Email struct {
	Subject string // one line
	Text    string
	HTML    string
}

// Brand is the sender as every email names it. Empty fields are omitted.
type Brand struct {
	Company string // "Acme"; without it the letters are those of "AI gateway"
	Logo    string // URL of a picture
	Support string // address for questions
	Docs    string // URL
}

//go:embed letters
var templateFiles embed.FS

// frame is around every HTML letter that does not bring its own <html>.
const frame = "frame"

// maxTemplate is the largest template of an operator, in bytes.
const maxTemplate = 256 << 10

// TemplateSet writes letters from templates. Safe for concurrent use.
type TemplateSet struct {
	brand Brand
	plain map[string]*text.Template
	html  map[string]*template.Template
}

// NewTemplateSet reads the templates: those built in and, in their place, those in the
// folder own, which may be empty. A template is "user-invite.txt", whose first line is
// "Subject: …", or "user-invite.html"; each that is missing falls back by itself, and
// "frame.html" is the frame of all HTML letters. A template that cannot be read is an
// error that names the file; so is a file that looks like a template and is none.
func NewTemplateSet(customDir string, brand Brand) (*TemplateSet, error) {
	if brand.Company == "" {
		brand.Company = "AI gateway"
	}
	sources, err := readTemplates()
	if err != nil {
		return nil, err
	}
	if customDir != "" {
		if err := readCustom(customDir, sources); err != nil {
			return nil, fmt.Errorf("mail templates (EMAIL_TEMPLATES_PATH): %w", err)
		}
	}
	l := &TemplateSet{brand: brand, plain: make(map[string]*text.Template), html: make(map[string]*template.Template)}
	for _, name := range Templates() {
		if err := l.parse(name, sources); err != nil {
			return nil, fmt.Errorf("mail templates: %w", err)
		}
	}
	return l, nil
}

// readTemplates are the built-in templates by file name.
func readTemplates() (map[string]string, error) {
	sources := make(map[string]string)
	files, err := fs.ReadDir(templateFiles, "letters")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		b, err := templateFiles.ReadFile("letters/" + f.Name())
		if err != nil {
			return nil, err
		}
		sources[f.Name()] = string(b)
	}
	return sources, nil
}

// readCustom puts the operator's templates in the place of the built-in ones.
func readCustom(dir string, sources map[string]string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		if f.IsDir() || ext != ".txt" && ext != ".html" {
			continue
		}
		if _, known := sources[f.Name()]; !known {
			return fmt.Errorf("%s is not a template; use %s, each as .txt and .html, and frame.html", f.Name(), strings.Join(Templates(), ", "))
		}
		info, err := f.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxTemplate {
			return fmt.Errorf("%s exceeds %d bytes", f.Name(), maxTemplate)
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		sources[f.Name()] = string(b)
	}
	return nil
}

const subjectLine = "Subject: "

// parse makes the two templates of a letter, and tries them.
func (l *TemplateSet) parse(name string, sources map[string]string) error {
	if !strings.HasPrefix(sources[name+".txt"], subjectLine) {
		return fmt.Errorf("%s.txt: the first line must begin with %q and the subject", name, subjectLine)
	}
	plain, err := text.New(name + ".txt").Option("missingkey=zero").Parse(sources[name+".txt"])
	if err != nil {
		return err
	}
	html, err := template.New(frame + ".html").Option("missingkey=zero").Parse(sources[frame+".html"])
	if err != nil {
		return err
	}
	if html, err = html.New(name + ".html").Parse(sources[name+".html"]); err != nil {
		return err
	}
	l.plain[name], l.html[name] = plain, html
	_, err = l.Write(name, nil)
	return err
}

// ErrTemplate means that there is no such template.
var ErrTemplate = errors.New("mail: unknown template")

// Write makes a letter of a template and its variables. Variables that are not given
// are empty; in HTML they are escaped.
func (l *TemplateSet) Write(name string, vars map[string]string) (Email, error) {
	plain, ok := l.plain[name]
	if !ok {
		return Email{}, fmt.Errorf("%w: %q", ErrTemplate, name)
	}
	all := map[string]string{}
	maps.Copy(all, vars)
	all["companyName"], all["logoUrl"], all["supportEmail"], all["docsUrl"] = l.brand.Company, l.brand.Logo, l.brand.Support, l.brand.Docs
	var out, html bytes.Buffer
	if err := plain.Execute(&out, all); err != nil {
		return Email{}, err
	}
	if err := l.html[name].Execute(&html, all); err != nil {
		return Email{}, err
	}
	subject, body, _ := strings.Cut(out.String(), "\n")
	return Email{
		Subject: oneLine(strings.TrimPrefix(subject, subjectLine)), Text: strings.TrimLeft(body, "\n"), HTML: html.String(),
	}, nil
}

// oneLine keeps what a variable brings from adding header fields.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}

// Templates are the names of all letters, in order.
func Templates() []string { return slices.Sorted(maps.Keys(variables)) }
