package partner

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/jsonedit"
)

// redaction describes how a response replaces texts. Exactly one of Texts, Spans, Matches and Body is
// set.
type redaction struct {
	If      string        `json:"if"`      // a name: redact if it has a true value; empty redacts always
	When    *rule         `json:"when"`    // a response that has something to replace; nil means each
	Passes  *rule         `json:"passes"`  // a failed check passes after the replacement; nil means always
	Texts   string        `json:"texts"`   // path of the redacted texts: one for each that was sent
	Spans   *spans        `json:"spans"`   // offsets in the texts that were sent
	Matches []occurrences `json:"matches"` // texts of which each occurrence is replaced
	Body    string        `json:"body"`    // names that lead to a complete body: "result.guard_output"

	condition name
	texts     path
}

// spans describes a list of offsets.
type spans struct {
	Path   string `json:"path"`   // objects, or lists of start and end
	Text   string `json:"text"`   // member with the position of the text in the call; empty means the first
	Start  string `json:"start"`  // member with the first character
	End    string `json:"end"`    // member with the end
	Length string `json:"length"` // member with the length, instead of End
	Kind   string `json:"kind"`   // member with the kind: "pii/email"
	Mask   string `json:"mask"`   // "[MASKED_{kind}]"
	UTF16  bool   `json:"utf16"`  // offsets count UTF-16 units, not characters
	// Inclusive names a value: if it is true, End is the last character.
	Inclusive string `json:"inclusive"`
	path      path
	inclusive name
}

// occurrences describes a list of texts that were found.
type occurrences struct {
	Path string `json:"path"`
	Text string `json:"text"` // member with the text
	Kind string `json:"kind"` // member with its kind
	Mask string `json:"mask"` // "{{kind}}"
	path path
}

func (r *redaction) compile() (err error) {
	if r.condition, err = parseOptionalName(r.If); err != nil {
		return err
	}
	for _, inner := range []*rule{r.When, r.Passes} {
		if inner != nil {
			if err := inner.compile(); err != nil {
				return err
			}
		}
	}
	if r.forms() != 1 {
		return errors.New("one of texts, spans, matches and body is required")
	}
	for i := range r.Matches {
		if r.Matches[i].path, err = parsePath(r.Matches[i].Path); err != nil {
			return err
		}
	}
	if r.Spans != nil {
		if err := r.Spans.compile(); err != nil {
			return err
		}
	}
	r.texts, err = parsePath(r.Texts)
	return err
}

// forms returns the number of members that describe replacements.
func (r *redaction) forms() (n int) {
	for _, set := range []bool{r.Texts != "", r.Spans != nil, r.Matches != nil, r.Body != ""} {
		if set {
			n++
		}
	}
	return n
}

func (s *spans) compile() (err error) {
	if s.inclusive, err = parseOptionalName(s.Inclusive); err != nil {
		return err
	}
	s.path, err = parsePath(s.Path)
	return err
}

// apply adds the replacements of a response. A check that failed passes if they remove what it found.
func (r *redaction) apply(j *judgement, raw []byte, root any, v *values) {
	if r.Body != "" && v.chunk.body == nil {
		j.fails = true // a part of the body cannot be replaced
		return
	}
	var err error
	if r.Body != "" {
		j.body, err = changedBody(raw, r.Body)
	} else {
		j.edits, err = r.edits(root, v)
	}
	if err != nil {
		if !j.fails {
			j.err = checkError("%s", err)
		}
		return
	}
	if passes := r.Passes == nil || r.Passes.holds(root, v); passes && (j.body != nil || len(j.edits) > 0) {
		j.fails = false
	}
}

// changedBody returns the object at a chain of member names, as the service wrote it.
func changedBody(raw []byte, names string) ([]byte, error) {
	body, ok := jsonedit.Find(raw, strings.Split(names, ".")...)
	if !ok || len(body) == 0 || body[0] != '{' {
		return nil, errors.New("the service returned no changed body")
	}
	return body, nil
}

// edits returns the replacements in the texts of the input.
func (r *redaction) edits(root any, v *values) ([]check.Edit, error) {
	switch {
	case r.Texts != "":
		return r.fromTexts(root, v)
	case r.Spans != nil:
		return r.Spans.edits(root, v)
	}
	var edits []check.Edit
	for i := range r.Matches {
		edits = r.Matches[i].append(edits, root, v)
	}
	return edits, nil
}

// fromTexts compares the redacted texts with those that were sent. A null leaves its text unchanged.
func (r *redaction) fromTexts(root any, v *values) ([]check.Edit, error) {
	found := r.texts.find(root, v)
	if len(found) != len(v.chunk.fragments) {
		return nil, fmt.Errorf("the service returned %d redacted texts for %d", len(found), len(v.chunk.fragments))
	}
	var edits []check.Edit
	for i, item := range found {
		if item == nil {
			continue
		}
		text, ok := item.(string)
		if !ok {
			return nil, errors.New("the service returned a redacted text that is not a string")
		}
		f := &v.chunk.fragments[i]
		for _, e := range difference(f.s, text) {
			e.Text, e.Kind = f.text, "REDACTED"
			e.Start, e.End = e.Start+f.start, e.End+f.start
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// edits returns a replacement for each offset.
func (s *spans) edits(root any, v *values) ([]check.Edit, error) {
	var edits []check.Edit
	for _, item := range s.path.find(root, v) {
		m, _ := item.(map[string]any)
		at, ok := s.text(m)
		start, end, isSpan := s.offsets(item, v)
		if !ok || !isSpan || at >= len(v.chunk.fragments) {
			return nil, errors.New("the service returned an offset that is not complete")
		}
		f := &v.chunk.fragments[at]
		from, fromOK := byteOffset(f.s, start, s.UTF16)
		to, toOK := byteOffset(f.s, end, s.UTF16)
		if !fromOK || !toOK || from >= to {
			return nil, errors.New("the service returned an offset outside of the text")
		}
		kind := kindName(plainText(m[s.Kind]))
		edits = append(edits, check.Edit{Text: f.text, Start: f.start + from, End: f.start + to, With: strings.ReplaceAll(s.Mask, "{kind}", kind), Kind: kind})
	}
	return edits, nil
}

// offsets returns the start and the end of a span.
func (s *spans) offsets(item any, v *values) (start, end float64, ok bool) {
	m, _ := item.(map[string]any)
	first, second := m[s.Start], m[s.End]
	if s.Length != "" {
		second = m[s.Length]
	}
	if pair, isPair := item.([]any); isPair && len(pair) == 2 {
		first, second = pair[0], pair[1]
	}
	start, isStart := first.(float64)
	end, isEnd := second.(float64)
	if s.Length != "" {
		end += start
	}
	if v.isTrue(s.inclusive) {
		end++
	}
	return start, end, isStart && isEnd
}

// text returns the position of the text of an offset.
func (s *spans) text(m map[string]any) (int, bool) {
	if s.Text == "" {
		return 0, true
	}
	n, ok := m[s.Text].(float64)
	return int(n), ok && n >= 0 && n < 1<<30
}

// append appends a replacement for each occurrence of the texts that were found.
func (o *occurrences) append(edits []check.Edit, root any, v *values) []check.Edit {
	for _, item := range o.path.find(root, v) {
		m, _ := item.(map[string]any)
		text := plainText(m[o.Text])
		if text == "" {
			continue
		}
		kind := kindName(plainText(m[o.Kind]))
		for i := range v.chunk.fragments {
			f := &v.chunk.fragments[i]
			for from := 0; ; {
				at := strings.Index(f.s[from:], text)
				if at < 0 {
					break
				}
				start := f.start + from + at
				edits = append(edits, check.Edit{Text: f.text, Start: start, End: start + len(text), With: strings.ReplaceAll(o.Mask, "{kind}", kind), Kind: kind})
				from += at + len(text)
			}
		}
	}
	return edits
}

// kindName returns the kind of a finding in the form of placeholders: "pii/email address" becomes
// "EMAIL_ADDRESS".
func kindName(s string) string {
	if at := strings.LastIndexByte(s, '/'); at >= 0 {
		s = s[at+1:]
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, s), "_")
	if name == "" || len(name) > 64 {
		return "REDACTED"
	}
	return name
}

// byteOffset converts an offset in characters or UTF-16 units to one in bytes.
func byteOffset(s string, at float64, units bool) (int, bool) {
	if at < 0 || at != float64(int64(at)) {
		return 0, false
	}
	left := int64(at)
	for i, r := range s {
		if left == 0 {
			return i, true
		}
		if left--; units && utf16.RuneLen(r) == 2 {
			left--
		}
		if left < 0 {
			return 0, false
		}
	}
	return len(s), left == 0
}
