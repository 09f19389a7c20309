package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The results stand between these lines of a page, so that what a person wrote
// around them stays when they are measured anew.
const (
	begin = "<!-- results: begin -->\n"
	end   = "<!-- results: end -->\n"
)

// WriteMarkdown writes the whole result.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	nginx := r.Nginx
	if nginx == "" {
		nginx = "not installed"
	}
	fmt.Fprintf(&b, "- Machine: %d cores (%s), %d MB of memory, %s\n", r.Machine.Cores, r.Machine.CPU, r.Machine.MemoryMB, r.Machine.Kernel)
	fmt.Fprintf(&b, "- Compared: Sluice %s, %s; generator and upstream built with %s\n", r.Sluice, nginx, r.Machine.Go)
	fmt.Fprintf(&b, "- Measured: %s in %s with `%s`\n", r.Date.Format("2 January 2006"), r.Took, r.Command)
	r.markdownAims(&b)
	for _, s := range r.Scenarios {
		fmt.Fprintf(&b, "\n### %s\n\n", s.Title)
		s.markdown(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r *Result) markdownAims(b *bytes.Buffer) {
	if len(r.Aims) == 0 {
		return
	}
	b.WriteString("\n### Aims\n\n| scenario | aim | measured | |\n|---|---|---:|---|\n")
	for _, v := range r.Aims {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", v.Scenario, v.Aim, short(float64(v.Measured)), strings.ToLower(v.text()))
	}
}

func (s *Scenario) markdown(b *bytes.Buffer) {
	if s.Skipped != "" {
		fmt.Fprintf(b, "`%s` was skipped: %s.\n", s.Name, s.Skipped)
		return
	}
	for i, row := range s.cells() {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
		}
	}
	fmt.Fprintf(b, "\n`%s`", s.Name)
	if len(s.Problems) == 0 {
		b.WriteString(": every request was answered once and is on record.\n")
		return
	}
	b.WriteString(": " + strings.Join(s.Problems, "; ") + ".\n")
}

// Replace writes the result between the two marks of the page at path.
func (r *Result) Replace(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok1 := bytes.Cut(page, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		return errors.New(path + " has no place for results: it needs the lines " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(begin)
	if err := r.WriteMarkdown(&out); err != nil {
		return err
	}
	out.WriteString(end)
	out.Write(after)
	return os.WriteFile(path, out.Bytes(), 0o644)
}
