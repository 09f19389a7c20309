package config

import (
	"fmt"
	"strings"
)

// Problem is one reason why the settings cannot be used.
type Problem struct {
	Setting string // "PORT", or an unknown name as it was written
	Where   string // "environment", "command line", "file sluice.yaml line 3"; empty when it is a matter of several settings
	Text    string // `"eighty" cannot be used`; never the value of a secret
	Form    string // what is accepted; empty when that is not the question
}

// String is the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Setting)
	if p.Where != "" {
		fmt.Fprintf(&b, " (%s)", p.Where)
	}
	fmt.Fprintf(&b, ": %s", p.Text)
	if p.Form != "" {
		fmt.Fprintf(&b, "; accepted: %s", p.Form)
	}
	return b.String()
}

// Error carries everything that is wrong, so that it can be cured in one go.
type Error struct{ Problems []Problem }

// Error lists the problems, one a line when there are several.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "setting " + e.Problems[0].String()
	}
	lines := []string{fmt.Sprintf("%d settings are not valid:", len(e.Problems))}
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

// reporter takes a problem between settings and blames one of them.
type reporter func(name, text, form string)

// shown quotes a value for a message, without a password in it and cut when it is long.
func shown(text string) string {
	const maxRunes = 64
	text = withoutAnyLogin(text)
	if r := []rune(text); len(r) > maxRunes {
		return fmt.Sprintf("%q…", string(r[:maxRunes]))
	}
	return fmt.Sprintf("%q", text)
}
