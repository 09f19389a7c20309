package partner

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// overlapChars is the number of characters that two fragments of a text share, so that nothing is cut
// in two: names, numbers and sentences are shorter.
const overlapChars = 200

// maxCalls is the maximum number of calls of one run. A text that needs more is an error of the check.
const maxCalls = 2000

// fragment is a text, or a part of a text that exceeds a limit.
type fragment struct {
	text  int // position in Input.Texts; -1 for a text that is not one of them
	start int // byte offset in that text
	s     string
	role  string // of a message; empty for texts
}

// chunk is what one call judges.
type chunk struct {
	fragments []fragment
	body      []byte // JSON that is sent as it is; nil for fragments
}

// text returns the texts of the chunk, joined by newlines.
func (c *chunk) text() string {
	var b strings.Builder
	for i := range c.fragments {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.fragments[i].s)
	}
	return b.String()
}

// list returns the texts of the chunk.
func (c *chunk) list() []any {
	out := make([]any, 0, len(c.fragments))
	for i := range c.fragments {
		out = append(out, c.fragments[i].s)
	}
	return out
}

// json returns the body, or an object with the fragments as messages.
func (c *chunk) json() any {
	if c.body == nil {
		return map[string]any{"messages": c.messages()}
	}
	return json.RawMessage(c.body)
}

// messages returns the fragments as messages.
func (c *chunk) messages() []any {
	out := make([]any, 0, len(c.fragments))
	for i := range c.fragments {
		out = append(out, map[string]any{"role": c.fragments[i].role, "content": c.fragments[i].s})
	}
	return out
}

// chunks distributes what a run judges over calls. Texts above a limit are cut into fragments that
// overlap; nothing is omitted but empty texts.
func chunks(in *check.Input, mode sendMode, l *limits) ([]chunk, error) {
	if mode == sendBody && (l.MaxBodyBytes == 0 || len(in.Body) <= l.MaxBodyBytes) {
		return []chunk{{body: in.Body}}, nil
	}
	var list []chunk
	switch mode {
	case sendJoined:
		list = single(cut(nil, -1, in.Text(), "", l))
	case sendEach:
		list = single(fragments(in.Texts, l))
	case sendBatch:
		list = pack(fragments(in.Texts, l), l)
	case sendMessages, sendBody:
		list = pack(messageFragments(in, l), l)
	}
	if len(list) > maxCalls {
		return nil, fmt.Errorf("the text needs %d calls of the service; at most %d are made", len(list), maxCalls)
	}
	return list, nil
}

// single makes a chunk of each fragment.
func single(all []fragment) (out []chunk) {
	for _, f := range all {
		out = append(out, chunk{fragments: []fragment{f}})
	}
	return out
}

// messageFragments returns the messages of a request, and after them its texts that are not part of a
// message, such as arguments of tools; or the texts of a response as messages.
func messageFragments(in *check.Input, l *limits) (all []fragment) {
	var c conversation
	if in.Phase == guardrail.Input {
		c = *readConversation(in)
		for _, m := range c.messages {
			all = cut(all, -1, m.text, m.role, l)
		}
	}
	for _, s := range in.Texts {
		if !c.parts[s] {
			all = cut(all, -1, s, roleOf(in.Phase), l)
		}
	}
	return all
}

// roleOf returns the role of texts of a phase.
func roleOf(p guardrail.Phase) string {
	if p == guardrail.Output {
		return "assistant"
	}
	return "user"
}

func fragments(texts []string, l *limits) (out []fragment) {
	for i, s := range texts {
		out = cut(out, i, s, "", l)
	}
	return out
}

// pack puts fragments into as few calls as the limits permit.
func pack(all []fragment, l *limits) (out []chunk) {
	chars := 0
	for _, f := range all {
		n := utf8.RuneCountInString(f.s)
		last := len(out) - 1
		if last < 0 || l.MaxTexts > 0 && len(out[last].fragments) >= l.MaxTexts || l.MaxCallChars > 0 && chars+n > l.MaxCallChars {
			out = append(out, chunk{})
			last, chars = last+1, 0
		}
		out[last].fragments = append(out[last].fragments, f)
		chars += n
	}
	return out
}

// cut appends the fragments of a text. A blank text has none.
func cut(to []fragment, text int, s, role string, l *limits) []fragment {
	if strings.TrimSpace(s) == "" {
		return to
	}
	limit := l.MaxChars
	if l.MaxCallChars > 0 && (limit == 0 || l.MaxCallChars < limit) {
		limit = l.MaxCallChars
	}
	start := 0
	for {
		end := fragmentEnd(s, start, limit)
		to = append(to, fragment{text, start, s[start:end], role})
		if end == len(s) {
			return to
		}
		start = fragmentStart(s, start, end, min(overlapChars, limit/4))
	}
}

// fragmentEnd returns the end of the fragment that begins at start: after at most limit characters,
// if possible after whitespace in the last quarter. A limit of zero is none.
func fragmentEnd(s string, start, limit int) int {
	if limit <= 0 || len(s)-start <= limit {
		return len(s)
	}
	chars, space := 0, 0
	for i, r := range s[start:] {
		if chars == limit {
			if space > 0 {
				return start + space
			}
			return start + i
		}
		chars++
		if chars > limit-limit/4 && unicode.IsSpace(r) {
			space = i + utf8.RuneLen(r)
		}
	}
	return len(s)
}

// fragmentStart returns the start of the fragment after one from before to end: at least overlap
// characters before end, if possible after whitespace, and always after before.
func fragmentStart(s string, before, end, overlap int) int {
	at := backward(s, before, end, overlap)
	for to := at; to > backward(s, before, at, overlap); {
		r, n := utf8.DecodeLastRuneInString(s[:to])
		if unicode.IsSpace(r) {
			return to
		}
		to -= n
	}
	return at
}

// backward returns the offset n characters before end, and always after before.
func backward(s string, before, end, n int) int {
	for range n {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		if end-size <= before {
			break
		}
		end -= size
	}
	return end
}
