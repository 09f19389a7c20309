package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sluice/internal/kernel/wire"
)

// message is a request or an answer as a transcript writes it.
type message struct {
	first  string // "POST /v1/chat/completions" or "200"
	header wire.Header
	body   string
}

// parseMessage reads the text of a section.
func parseMessage(text string) (message, error) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	m := message{first: lines[0], body: unquoteBody(strings.TrimSuffix(body, "\n"))}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok || name != strings.ToLower(name) {
			return m, fmt.Errorf("%q is no header line in lower case", line)
		}
		m.header.Add(name, value)
	}
	return m, nil
}

// String writes the text of a section. It is what parseMessage reads.
func (m message) String() string {
	var b strings.Builder
	b.WriteString(m.first + "\n")
	for _, f := range m.header {
		b.WriteString(f.Name + ": " + f.Value + "\n")
	}
	if m.body != "" {
		b.WriteString("\n" + quoteBody(m.body) + "\n")
	}
	return b.String()
}

// sorted is the message with its lines in order of their names: the order in which
// net/http hands a client's lines on is not fixed.
func (m message) sorted() message {
	m.header = slices.Clone(m.header)
	slices.SortStableFunc(m.header, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	return m
}

// quoteBody leaves plain text alone and writes anything else as a literal per line.
func quoteBody(body string) string {
	if plain(body) {
		return body
	}
	var lines []string
	for line := range strings.SplitAfterSeq(body, "\n") {
		if line != "" {
			lines = append(lines, strconv.Quote(line))
		}
	}
	return strings.Join(lines, "\n")
}

// plain reports whether a body can stand in a transcript as it is.
func plain(body string) bool {
	if !utf8.ValidString(body) || strings.HasPrefix(body, "\n") || strings.Contains("\n"+body, "\n-- ") || unquoteBody(body) != body {
		return false
	}
	return !strings.ContainsFunc(body, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

// unquoteBody joins the literals of a body; one that is none stays as it is.
func unquoteBody(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		s, err := strconv.Unquote(line)
		if err != nil || line[0] != '"' {
			return text
		}
		b.WriteString(s)
	}
	return b.String()
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", `{"a":1}`, "data: {}\n\ndata: [DONE]\n\n", "data: x\r\n\r\n", "\n", `"a string"`, "ID3\x04\x00\xff\xfb", "-- reply --\n", "a\n-- b --",
		"--x\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n\x00\r\n--x--\r\n",
	} {
		m := message{first: "200", header: wire.Header{{Name: "content-type", Value: "text/plain; a=b: c"}}, body: body}
		got, err := parseMessage(m.String())
		if err != nil || got.first != m.first || !slices.Equal(got.header, m.header) || got.body != body {
			t.Errorf("%q came back as %+v, %v", body, got, err)
		}
	}
	if _, err := parseMessage("200\nContent-Type: x\n"); err == nil {
		t.Error("a header name in upper case was taken")
	}
}
