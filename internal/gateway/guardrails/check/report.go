package check

import (
	"time"
	"unicode/utf8"

	"sluice/internal/kernel/fault"
)

// report is the data that a check shows in hook_results, by field name.
type report = map[string]any

// excerptChars is the number of characters of a text that results quote.
const excerptChars = 100

// excerpt returns the first characters of a text.
// Source: contract/dataplane.md 5.6.
func excerpt(s string) string {
	n := 0
	for i := range s {
		if n == excerptChars {
			return s[:i]
		}
		n++
	}
	return s
}

// choose returns the first text if condition is true, else the second.
func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// errorResult is the result of a check that cannot judge its input. Source of the name:
// contract/dataplane.md 5.3.
func errorResult(message string, data report) Result {
	res := Failed(checkError, message)
	data["explanation"] = message
	res.Data = data
	return res
}

// invalidParameter is the error of New about one parameter. The text contains its path.
func invalidParameter(path, text string) error {
	return fault.New(fault.InvalidParameter, path+" "+text).WithParam("parameters." + path)
}

// clock returns the clock of d, or that of the system.
func clock(d *Deps) func() time.Time {
	if d == nil || d.Now == nil {
		return time.Now
	}
	return d.Now
}

// runeLength returns the number of bytes of the first character of s, at least 1.
func runeLength(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return max(n, 1)
}
