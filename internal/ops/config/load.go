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
	sources map[string]Source
}

// Load puts the settings together and checks them. Everything that is wrong comes
// back in one *Error: unknown flags, unknown keys of the file, values that cannot be
// used, settings that exclude each other. A variable of the environment that is no
// setting is not an error; a misspelt setting is a warning.
func Load(src Sources) (*Loaded, error) {
	out, err := LoadLenient(src)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// LoadLenient is Load for those who look for what is wrong: with the *Error comes what can be
// used, and in the place of what cannot the default.
func LoadLenient(src Sources) (*Loaded, error) {
	l := &loader{schema: readSchema(), rawSetting: map[string]rawSetting{}}
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
		return out, &Error{Problems: l.problems}
	}
	return out, nil
}

// Origin is where the value of a setting came from: "default", "environment",
// "command line", "file sluice.yaml line 3", "DB_PORT" when it follows from another
// setting; and ", content of /run/secrets/db" when a file was read.
func (l *Loaded) Origin(name string) string {
	if origin, ok := l.origins[name]; ok {
		return origin
	}
	return "default"
}

// Source is where a value can be read again. All of it is empty for a default, and for
// what was given on the command line.
type Source struct {
	Variable string // of the environment: "DB_PASS"
	Content  string // path of the file whose content the value is, as it was given
	File     string // path of the settings file that has it,
	Line     int    // and where
}

// Source is where the value of a setting can be read again.
func (l *Loaded) Source(name string) Source { return l.sources[name] }

// rawSetting is a value as somebody wrote it. Of two the one of the higher rank counts.
type rawSetting struct {
	text, origin string
	rank         int
	source       Source
}

// The ranks of the sources; that of a default is 0.
const (
	ofFile = iota + 1
	ofEnviron
	ofFlags
)

type loader struct {
	schema     schema
	rawSetting map[string]rawSetting
	problems   []Problem
	warnings   []string
}

func (l *loader) take(name string, g rawSetting) {
	if g.text != "" {
		l.rawSetting[name] = g
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
		name, location := strings.ToUpper(e.key), where(path, e.line)
		first, twice := lines[name]
		switch _, known := l.schema.find(name); {
		case !known || e.key != strings.ToLower(e.key):
			l.unknown(e.key, location, strings.ToLower(l.nearest(name)))
		case twice:
			l.problems = append(l.problems, Problem{Setting: e.key, Where: location, Text: fmt.Sprintf("is already set in line %d", first)})
		default:
			lines[name] = e.line
			l.take(name, rawSetting{e.text, location, ofFile, Source{File: path, Line: e.line}})
		}
	}
}

func (l *loader) takeEnviron(environ map[string]string) {
	for _, s := range l.schema {
		l.take(s.name, rawSetting{environ[s.also], "environment", ofEnviron, Source{Variable: s.also}})
		l.take(s.name, rawSetting{environ[s.name], "environment", ofEnviron, Source{Variable: s.name}})
	}
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		l.warnMisspelt(name)
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
		l.take(name, rawSetting{flags[flag], commandLine, ofFlags, Source{}})
	}
}

func (l *loader) unknown(name, location, nearest string) {
	text := "is not a setting"
	if nearest != "" {
		text += "; did you mean " + nearest + "?"
	}
	l.problems = append(l.problems, Problem{Setting: name, Where: location, Text: text})
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
