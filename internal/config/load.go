package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FileVariable names the settings file when no flag does.
const FileVariable = "SLUICE_CONFIG"

// Sources are the places that settings come from, weakest first: defaults, File,
// Environ, Flags. An empty value counts as not set.
type Sources struct {
	File    string            // path of a YAML file; empty means FileVariable of Environ, or none
	Environ []string          // as os.Environ gives it, "PORT=8787"
	Flags   map[string]string // by setting: "PORT", "port" and "db-host" are all understood
}

// Loaded is a usable set of settings that remembers where each came from. It is not
// changed after Load.
type Loaded struct {
	Settings Settings
	Warnings []string // for the operator's eye, for example a misspelt variable; no secrets

	schema  schema
	origins map[string]string
}

// Load puts the settings together and checks them. Everything that is wrong comes
// back in one *Error: unknown flags, unknown keys of the file, values that cannot be
// used, settings that exclude each other. A variable of the environment that is no
// setting is no error; one that nearly is becomes a warning.
func Load(src Sources) (*Loaded, error) {
	l := &loader{schema: readSchema(), given: map[string]given{}}
	environ := splitEnviron(src.Environ)
	if src.File == "" {
		src.File = environ[FileVariable]
	}
	l.takeFile(src.File)
	l.takeEnviron(environ)
	l.takeFlags(src.Flags)
	l.takePaths()
	out := l.decode()
	if len(l.problems) > 0 {
		return nil, &Error{Problems: l.problems}
	}
	return out, nil
}

// Origin says where the value of a setting came from: "default", "environment",
// "command line", "file sluice.yaml line 3", "DB_PORT" when it follows from another
// setting; and ", content of /run/secrets/db" when a file was read.
func (l *Loaded) Origin(name string) string {
	if origin, ok := l.origins[name]; ok {
		return origin
	}
	return "default"
}

// given is a value as somebody wrote it.
type given struct{ text, origin string }

type loader struct {
	schema   schema
	given    map[string]given
	problems []Problem
	warnings []string
}

func (l *loader) take(name, text, origin string) {
	if text != "" {
		l.given[name] = given{text, origin}
	}
}

func (l *loader) takeFile(path string) {
	if path == "" {
		return
	}
	text, err := readFile(path)
	if err != nil {
		l.problems = append(l.problems, Problem{Setting: path, Text: reason(err), Form: "the path of a readable settings file"})
		return
	}
	entries, problems := parseFile(path, text)
	l.problems = append(l.problems, problems...)
	lines := map[string]int{}
	for _, e := range entries {
		name, at := strings.ToUpper(e.key), where(path, e.line)
		first, twice := lines[name]
		switch _, known := l.schema.find(name); {
		case !known || e.key != strings.ToLower(e.key):
			l.unknown(e.key, at, strings.ToLower(l.nearest(name)))
		case twice:
			l.problems = append(l.problems, Problem{Setting: e.key, Where: at, Text: fmt.Sprintf("stands already in line %d", first)})
		default:
			lines[name] = e.line
			l.take(name, e.text, at)
		}
	}
}

func (l *loader) takeEnviron(environ map[string]string) {
	for _, s := range l.schema {
		l.take(s.name, environ[s.also], "environment")
		l.take(s.name, environ[s.name], "environment")
	}
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		l.warnNearMiss(name)
	}
}

// commandLine is where Flags come from.
const commandLine = "command line"

func (l *loader) takeFlags(flags map[string]string) {
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		name := strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		if _, known := l.schema.find(name); !known {
			l.unknown(flag, commandLine, l.nearest(name))
			continue
		}
		l.take(name, flags[flag], commandLine)
	}
}

func (l *loader) unknown(name, at, nearest string) {
	text := "is not a setting"
	if nearest != "" {
		text += ", did you mean " + nearest + "?"
	}
	l.problems = append(l.problems, Problem{Setting: name, Where: at, Text: text})
}

// splitEnviron ignores what has no name, as Windows' "=C:=C:\".
func splitEnviron(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			out[name] = value
		}
	}
	return out
}
