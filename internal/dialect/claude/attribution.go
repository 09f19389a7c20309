package claude

import (
	"bytes"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// attribution is the prefix of a line that Claude's coding agents write before their instructions,
// for Anthropic's accounts: "x-anthropic-billing-header: cc_version=2.1.117.48f; cc_entrypoint=cli;
// cch=71fea;". The line is not meant for the model. In many agent versions it differs with every
// call, so a provider that caches prompt prefixes would never find a match. Amazon rejects it.
// Source: github.com/anthropics/claude-code/issues/68900, 2026-06-16, and 24168, 2026-02-08.
const attribution = "x-anthropic-billing-header:"

// CutAttribution removes the attribution line from the beginning of a text, and reports whether it
// was there. The result is "" if the text has no other line.
func CutAttribution(text string) (rest string, found bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(trimmed, attribution) {
		return text, false
	}
	_, rest, _ = strings.Cut(trimmed, "\n")
	return rest, true
}

// HasAttribution reports whether a raw request may contain the line. The search needs no parsing.
func HasAttribution(raw []byte) bool { return bytes.Contains(raw, []byte(attribution)) }

// WithoutAttribution removes the attribution line from the raw system prompt of a Messages request: a
// string, or a list of text blocks. A block without another line is removed. It returns nil if nothing
// else remains, and the prompt itself if it does not contain the line.
func WithoutAttribution(system []byte) []byte {
	if !HasAttribution(system) {
		return system
	}
	switch system[0] {
	case '"':
		return cutRaw(system)
	case '[':
	default:
		return system
	}
	out := []byte{'['}
	for block := range jsonedit.Elements(system) {
		if block = withoutLine(block); block == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, block...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

// withoutLine returns a block without the line; nil if its text has no other line.
func withoutLine(block []byte) []byte {
	text, ok := jsonedit.Find(block, "text")
	if !ok {
		return block
	}
	rest := cutRaw(text)
	var d jsonedit.Doc
	switch {
	case rest == nil:
		return nil
	case len(rest) == len(text) || jsonedit.Scan(block, &d) != nil:
		return block
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("text", rest)})
}

// cutRaw is CutAttribution for a raw JSON string; nil if it has no other line.
func cutRaw(raw []byte) []byte {
	text, ok := jsonedit.Unquote(raw)
	if !ok {
		return raw
	}
	rest, found := CutAttribution(text)
	switch {
	case !found:
		return raw
	case strings.TrimSpace(rest) == "":
		return nil
	}
	return jsonedit.Quote(rest)
}
