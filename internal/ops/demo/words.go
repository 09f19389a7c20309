package demo

import (
	"fmt"
	"strings"
)

// Tokens returns the number of tokens of a text: its words, as strings.Fields counts them. Every
// usage value of this provider is a sum of these.
func Tokens(text string) int64 { return int64(len(strings.Fields(text))) }

// quote repeats the first maxQuoted words of a text.
func quote(text string) string {
	words := strings.Fields(text)
	if len(words) <= maxQuoted {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:maxQuoted], " ") + " …"
}

// cut returns the first limit words, and the finish reason: "stop", or "length" if the text was
// longer. A limit of 0 or less returns everything.
func cut(text string, limit int64) (truncated, reason string) {
	if words := strings.Fields(text); limit > 0 && int64(len(words)) > limit {
		return strings.Join(words[:limit], " "), "length"
	}
	return text, "stop"
}

// textChunks splits a text into the chunks of a stream: a word each, with the space after it.
// Joined they are the text again.
func textChunks(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// runs splits a text into chunks of n characters, for tool arguments, whose chunks end in the
// middle of words.
func runs(text string, n int) []string {
	runes := []rune(text)
	var out []string
	for len(runes) > n {
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return append(out, string(runes))
}

// counted returns "1 message" or "2 messages".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
