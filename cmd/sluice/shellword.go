package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

// shellValue is how a shell gets at the value of a setting, inside double quotes.
type shellValue struct {
	text     string // "$BOOTSTRAP_WORKSPACE_KEY"; empty when there is no way
	variable bool   // of the environment that the gateway has
	origin   string // where the value was given, in words
}

// shown is the word in a list.
func (w shellValue) shown() string {
	if w.text == "" {
		return "the value of " + w.origin
	}
	return w.text
}

// where states the condition under which the word works.
func (w shellValue) where() string {
	if w.variable {
		return " where that variable is set, as in this shell"
	}
	return ""
}

// newShellValue reads a key where the operator gave it, without repeating it.
func newShellValue(l *config.Loaded, name string, key sealed.String) shellValue {
	w := shellValue{origin: l.Origin(name)}
	switch p := l.Source(name); {
	case p.Content != "":
		w.text = "$(tr -d '[:space:]' < " + quoted(absolute(p.Content)) + ")"
	case p.Variable != "":
		w.text, w.variable = "$"+p.Variable, true
	case p.File != "" && lineHolds(p, name, key):
		w.text = fmt.Sprintf(`$(sed -n '%ds/.*%s[^:]*:[^A-Za-z0-9_-]*\([A-Za-z0-9_-]*\).*/\1/p' %s)`, p.Line, strings.ToLower(name), quoted(absolute(p.File)))
	}
	return w
}

// lineHolds reports whether that sed finds the key: YAML may write one in other ways too.
func lineHolds(p config.Source, name string, key sealed.String) bool {
	text, err := os.ReadFile(p.File)
	lines := strings.Split(string(text), "\n")
	if err != nil || p.Line > len(lines) {
		return false
	}
	found := regexp.MustCompile(`.*` + strings.ToLower(name) + `[^:]*:[^A-Za-z0-9_-]*([A-Za-z0-9_-]*)`).FindStringSubmatch(lines[p.Line-1])
	return found != nil && key.Equal(found[1])
}

// absolute keeps the path as it is when the working directory is gone.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/+-]+$`)

// quoted is a path as one word of a shell.
func quoted(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
