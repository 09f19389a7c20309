package demo

import (
	"fmt"
	"strings"
)

// Tokens is what a text costs here: the number of its words, as strings.Fields
// counts them. Every usage figure of this provider is a sum of these.
func Tokens(text string) int64 { return int64(len(strings.Fields(text))) }

// quote repeats the first maxQuoted words of a text.
func quote(text string) string {
	words := strings.Fields(text)
	if len(words) <= maxQuoted {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:maxQuoted], " ") + " …"
}

// cut keeps the first limit words, and says why the text ends: "stop", or
// "length" when it was longer. A limit of 0 or less keeps everything.
func cut(text string, limit int64) (truncated, reason string) {
	if words := strings.Fields(text); limit > 0 && int64(len(words)) > limit {
		return strings.Join(words[:limit], " "), "length"
	}
	return text, "stop"
}

// textChunks splits a text into what a stream delivers: a word each, with the blank
// after it. Joined they are the text again.
func textChunks(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// runs splits a text into pieces of n characters, for tool arguments, whose
// pieces end in the middle of words.
func runs(text string, n int) []string {
	runes := []rune(text)
	var out []string
	for len(runes) > n {
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return append(out, string(runes))
}

// counted says "1 message" or "2 messages".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
