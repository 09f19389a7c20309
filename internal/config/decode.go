package config

import (
	"errors"
	"io/fs"
	"strings"
)

// decode turns the given texts into Settings, then applies the rules between them.
func (l *loader) decode() *Loaded {
	out := &Loaded{Settings: Default(), schema: l.schema, origins: map[string]string{}}
	blamed := map[string]bool{}
	for _, p := range l.problems {
		blamed[p.Setting] = true
	}
	for _, s := range l.schema {
		g, ok := l.given[s.name]
		if !ok || blamed[s.name] {
			continue
		}
		g = l.content(s, g)
		out.origins[s.name] = g.origin
		if err := s.set(&out.Settings, g.text); err != nil {
			blamed[s.name] = true
			l.problems = append(l.problems, unusable(s, g))
		}
	}
	_, chosen := l.given["DB_TYPE"]
	derived := func(name, from string) { out.origins[name] = from }
	out.Settings.Server.complete(derived)
	out.Settings.Database.complete(chosen, derived)
	_, chosen = l.given["CACHE_STORE"]
	out.Settings.Redis.complete(chosen, derived)
	_, chosen = l.given["LOG_STORE_PATH_STYLE"]
	out.Settings.LogStore.complete(chosen, derived)
	_, chosen = l.given["ANALYTICS_STORE"]
	out.Settings.Analytics.complete(chosen, derived)
	out.Settings.OpenTelemetry.complete(derived)
	out.Settings.validate(func(name, text, form string) {
		if !blamed[name] {
			l.problems = append(l.problems, Problem{Setting: name, Text: text, Form: form})
		}
	})
	out.Warnings = l.warnings
	return out
}

func unusable(s setting, g given) Problem {
	text := shown(g.text) + " cannot be used"
	if s.content() {
		text = "cannot be used"
	}
	return Problem{Setting: s.name, Where: g.origin, Text: text, Form: s.form()}
}

// content replaces the path of a readable file by what the file holds, for settings
// that are mounted as files. A path that leads nowhere stays the value, since a
// password may begin with a slash; the operator is warned.
// Source: contract/dataplane.md 10.3, contract/identity-and-governance.md section 15.
func (l *loader) content(s setting, g given) given {
	if !s.content() {
		return given{strings.TrimSpace(g.text), g.origin}
	}
	if !looksLikePath(g.text) {
		return g
	}
	text, err := readFile(g.text)
	if err != nil {
		l.warnings = append(l.warnings, s.name+" looks like a path, but the file "+reason(err)+"; the value is used as it stands")
		return g
	}
	return given{strings.TrimSpace(text), g.origin + ", content of " + g.text}
}

func looksLikePath(text string) bool {
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(text, start) && !strings.ContainsAny(text, "\n\x00") {
			return true
		}
	}
	return false
}

// takePaths reads the files of settings such as TLS_CERT_PATH into the settings that
// take their content.
func (l *loader) takePaths() {
	for _, s := range l.schema {
		g, ok := l.given[s.name]
		if s.loads == "" || !ok {
			continue
		}
		if _, both := l.given[s.loads]; both {
			l.problems = append(l.problems, Problem{Setting: s.name, Where: g.origin, Text: "is set beside " + s.loads, Form: "one of the two"})
			continue
		}
		text, err := readFile(g.text)
		if err != nil {
			l.problems = append(l.problems, Problem{Setting: s.name, Where: g.origin, Text: "the file " + reason(err), Form: s.form()})
			continue
		}
		l.take(s.loads, strings.TrimSpace(text), s.name+", content of "+g.text)
	}
}

// reason is why a file cannot be read, without its path: the text may be a secret.
func reason(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read"
	case errors.As(err, &path):
		return "cannot be read: " + path.Err.Error()
	}
	return err.Error()
}
