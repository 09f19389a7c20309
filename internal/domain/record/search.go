package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// MaxSearch bounds a text to search for, in characters.
const MaxSearch = 200

// Found is what a search came to.
type Found struct {
	Rows       []Attempt // without the bytes of their bodies
	Next       Cursor    // where to go on; empty when everything was looked through
	Incomplete bool      // it ended because it took enough time or memory, not because the page is full
	Unread     int       // rows whose bodies could not be read now, or not here
}

// SearchTerm is a text to look for in bodies.
type SearchTerm struct{ forms [][]byte }

// NewNeedle makes a Needle of a text. Case makes no difference. In JSON the text is found
// however it is escaped there, as long as all of it is escaped in one way.
func NewNeedle(text string) SearchTerm {
	text = strings.ToLower(text)
	forms := []string{text}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) == nil { // a string: cannot fail
		plain := strings.TrimSuffix(b.String(), "\n")
		plain = plain[1 : len(plain)-1]
		for _, more := range escapes {
			escaped := more.Replace(plain)
			forms = append(forms, escaped, asciiOnly(escaped))
		}
	}
	var n SearchTerm
	for i, f := range forms {
		if !slices.Contains(forms[:i], f) {
			n.forms = append(n.forms, []byte(f))
		}
	}
	return n
}

// escapes are what encoders of JSON write in other ways though they need not: most of them
// nothing, then those of Go, Gson and PHP.
var escapes = [...]*strings.Replacer{
	strings.NewReplacer(),
	strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`),
	strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "=", `\u003d`, "'", `\u0027`),
	strings.NewReplacer("/", `\/`),
}

// asciiOnly writes what is no ASCII as many encoders of JSON do: "\u00e9".
func asciiOnly(text string) string {
	var b []byte
	for _, r := range text {
		switch {
		case r < 0x80:
			b = append(b, byte(r))
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
	}
	return string(b)
}

// maxSearchBytes is how much of one body is searched, in bytes after decompression.
const maxSearchBytes = 16 << 20

// Search reports whether one of the bodies of an attempt holds the text, and how many bytes
// were looked at.
func (n SearchTerm) Search(a *Attempt) (found bool, searchedBytes int) {
	for _, b := range a.Bodies() {
		if len(b.Bytes) == 0 {
			continue
		}
		plain := lower(b.Plain(maxSearchBytes))
		searchedBytes += len(plain)
		for _, form := range n.forms {
			if bytes.Contains(plain, form) {
				return true, searchedBytes
			}
		}
	}
	return false, searchedBytes
}

// lower is a text in small letters, those among them that JSON has as "\u00c9".
func lower(plain []byte) []byte {
	out := bytes.ToLower(plain)
	for i := bytes.Index(out, []byte(`\u`)); i >= 0 && i+6 <= len(out); {
		if n, err := strconv.ParseUint(string(out[i+2:i+6]), 16, 16); err == nil {
			if r := unicode.ToLower(rune(n)); r >= 0x80 && r < 0x10000 {
				copy(out[i+2:], fmt.Sprintf("%04x", r))
			}
		}
		next := bytes.Index(out[i+2:], []byte(`\u`))
		if next < 0 {
			break
		}
		i += 2 + next
	}
	return out
}
