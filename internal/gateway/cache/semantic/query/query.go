// Package query splits the body of a chat or completions call into the last user text, which a
// semantic cache compares by meaning, and the rest of the body, which must be equal. It decides
// which calls a semantic cache may answer at all; it does not compute keys and calls no store.
//
// Begin at Chat and Completion.
package query

import (
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// Limits of calls that a semantic cache may answer. Source: contract, data plane 4.7.
const (
	MaxTokens   = 8191 // of all messages, estimated as four bytes each
	MaxMessages = 4    // system prompt and earlier turns included

	maxBytes = MaxTokens * 4
)

// Query is a call that a semantic cache may answer.
type Query struct {
	// Text is the last user text: "How do I reset my password?". It is never blank. Several text
	// parts are joined with line breaks.
	Text string

	// Rest is the body with "" instead of Text, byte for byte: system prompt, earlier turns, tool
	// results and parameters. Two calls may share a response only if the canonical forms of Rest
	// are equal, so compute the cache key of the partition from it. It is a new slice.
	Rest []byte
}

// Chat splits the body of a chat completions call. It reports false if the last message is not a
// text of the user: a tool result, an image, an assistant's turn; if the body is not a JSON object,
// repeats a member that it reads, or exceeds the limits.
func Chat(body []byte) (Query, bool) {
	if !jsonedit.Valid(body) {
		return Query{}, false
	}
	messages, ok := member(body, "messages")
	if !ok || len(messages) > maxBytes {
		return Query{}, false
	}
	last, count := lastElement(messages)
	if count == 0 || count > MaxMessages {
		return Query{}, false
	}
	role, ok := member(last, "role")
	if name, isText := jsonedit.Unquote(role); !ok || !isText || name != "user" {
		return Query{}, false
	}
	content, ok := member(last, "content")
	if !ok {
		return Query{}, false
	}
	return split(body, content)
}

// Completion splits the body of a completions call by its prompt. It reports false if the prompt is
// not one text, under the conditions of Chat.
func Completion(body []byte) (Query, bool) {
	if !jsonedit.Valid(body) {
		return Query{}, false
	}
	prompt, ok := member(body, "prompt")
	if !ok || len(prompt) > maxBytes {
		return Query{}, false
	}
	if prompt[0] == '[' {
		only, count := lastElement(prompt)
		if count != 1 {
			return Query{}, false
		}
		prompt = only
	}
	if prompt[0] != '"' {
		return Query{}, false // token numbers
	}
	return split(body, prompt)
}

// member returns a member of an object. It reports false if there is none, or more than one: readers
// disagree about which of them counts.
func member(object []byte, name string) (value []byte, ok bool) {
	count := 0
	for raw, val := range jsonedit.Members(object) {
		if jsonedit.IsName(raw, name) {
			value = val
			count++
		}
	}
	return value, count == 1
}

func lastElement(array []byte) (last []byte, count int) {
	for element := range jsonedit.Elements(array) {
		last = element
		count++
	}
	return last, count
}

// split takes the texts of content, which is a part of body, out of it.
func split(body, content []byte) (Query, bool) {
	raws, ok := texts(content)
	if !ok {
		return Query{}, false
	}
	decoded := make([]string, 0, len(raws))
	rest := make([]byte, 0, len(body))
	end := 0
	for _, raw := range raws {
		text, ok := jsonedit.Unquote(raw)
		if !ok {
			return Query{}, false
		}
		decoded = append(decoded, text)
		start := offset(body, raw)
		rest = append(append(rest, body[end:start]...), `""`...)
		end = start + len(raw)
	}
	text := strings.Join(decoded, "\n")
	return Query{Text: text, Rest: append(rest, body[end:]...)}, strings.TrimSpace(text) != ""
}

// texts returns the raw texts of a message: the string itself, or the text of each part. It reports
// false if a part is not a text.
func texts(content []byte) (raws [][]byte, ok bool) {
	switch content[0] {
	case '"':
		return [][]byte{content}, true
	case '[':
	default:
		return nil, false
	}
	for part := range jsonedit.Elements(content) {
		kind, hasKind := member(part, "type")
		name, _ := jsonedit.Unquote(kind)
		text, hasText := member(part, "text")
		if !hasKind || name != "text" || !hasText || text[0] != '"' {
			return nil, false
		}
		raws = append(raws, text)
	}
	return slices.Clip(raws), len(raws) > 0
}

// offset returns where part begins in body. A slice of a slice reaches to the same end of capacity.
func offset(body, part []byte) int { return cap(body) - cap(part) }
