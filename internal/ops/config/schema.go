package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"sluice/internal/kernel/sealed"
)

// setting is what the tags of one field of Settings say.
type setting struct {
	name    string   // "DB_POOL_SIZE"
	also    string   // second spelling in the environment, or ""
	title   string   // of its group, "Control-plane database"
	path    []int    // of the field, for reflect.Value.FieldByIndex
	def     string   // as written in the tag
	choices []string // oneof; nil accepts any
	check   string   // name of a rule, or ""
	loads   string   // setting that takes the content of the file, or ""
	typ     reflect.Type

	bounded  bool
	min, max int64 // when bounded; of a duration in milliseconds
}

// schema lists the settings in the order of their declaration.
type schema []setting

// readSchema panics on a malformed tag: that is a mistake in this package.
func readSchema() schema {
	var all schema
	root := reflect.TypeFor[Settings]()
	for i := range root.NumField() {
		group := root.Field(i)
		for j := range group.Type.NumField() {
			s := readSetting(group.Type.Field(j))
			s.title, s.path = group.Tag.Get("title"), []int{i, j}
			all = append(all, s)
		}
	}
	return all
}

func readSetting(f reflect.StructField) setting {
	s := setting{
		name:  f.Tag.Get("env"),
		also:  f.Tag.Get("also"),
		def:   f.Tag.Get("envDefault"),
		check: f.Tag.Get("check"),
		loads: f.Tag.Get("loads"),
		typ:   f.Type,
	}
	if words := f.Tag.Get("oneof"); words != "" {
		s.choices = strings.Split(words, ",")
	}
	if limits := f.Tag.Get("range"); limits != "" {
		low, high, _ := strings.Cut(limits, "..")
		s.bounded, s.min, s.max = true, mustInt(low), mustInt(high)
	}
	if _, known := rules[s.check]; s.check != "" && !known {
		panic(fmt.Sprintf("config: %s: unknown check %q", s.name, s.check))
	}
	return s
}

func mustInt(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("config: range: %v", err))
	}
	return n
}

// find returns the setting of that exact name.
func (all schema) find(name string) (setting, bool) {
	for _, s := range all {
		if s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

func (s setting) secret() bool { return s.typ == reflect.TypeFor[sealed.String]() }

func (s setting) list() bool { return s.typ == reflect.TypeFor[[]string]() }

// content reports whether a path may stand for the content of its file: secrets
// and certificates are mounted as files.
func (s setting) content() bool { return s.secret() || s.check == "certificates" }

// form describes what the setting accepts, for messages and the manual.
func (s setting) form() string {
	form := s.plainForm()
	if s.list() {
		form = "a comma-separated list, each item " + form
	}
	if s.content() {
		form += ", or the path of a file that contains it, beginning with / or ./"
	}
	return form
}

func (s setting) plainForm() string {
	switch {
	case s.check != "":
		return rules[s.check].form
	case s.choices != nil:
		return "one of " + strings.Join(s.choices, ", ")
	case s.typ.Kind() == reflect.Bool:
		return "ON or OFF (true and false mean the same)"
	case s.typ == reflect.TypeFor[time.Duration]():
		return fmt.Sprintf("milliseconds from %d to %d, or a duration such as 30s", s.min, s.max)
	case s.bounded:
		return fmt.Sprintf("an integer from %d to %d", s.min, s.max)
	case s.loads != "":
		return "the path of a readable file"
	default:
		return "text"
	}
}
