package config

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

var errForm = errors.New("not in a supported format")

// parsers are the types whose written form is ours rather than the library's.
func parsers() map[reflect.Type]env.ParserFunc {
	return map[reflect.Type]env.ParserFunc{
		reflect.TypeFor[bool]():          func(text string) (any, error) { return parseSwitch(text) },
		reflect.TypeFor[time.Duration](): func(text string) (any, error) { return parseMillis(text) },
		reflect.TypeFor[[]string]():      func(text string) (any, error) { return splitList(text), nil },
	}
}

// parseSwitch reads ON and OFF, and true and false, in any case.
func parseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true":
		return true, nil
	case "off", "false":
		return false, nil
	}
	return false, errForm
}

// parseMillis reads a bare number as milliseconds, anything else as Go writes
// durations: "1m30s".
func parseMillis(text string) (time.Duration, error) {
	if ms, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(ms) * time.Millisecond, nil
	}
	return time.ParseDuration(text)
}

// set parses text into the field of s, or reports that it is not valid. On an error
// the field keeps its value.
func (st setting) set(s *Settings, text string) error {
	if st.choices != nil {
		text = st.canonical(text)
	}
	next := *s
	one := env.Options{
		Environment:         map[string]string{st.name: text},
		DefaultValueTagName: "-", // other fields keep what they have
		FuncMap:             parsers(),
	}
	if err := env.ParseWithOptions(&next, one); err != nil {
		return errForm
	}
	if !st.accepts(st.field(&next), text) {
		return errForm
	}
	*s = next
	return nil
}

// canonical gives text in the spelling of the tag: "Verify_CA" becomes "VERIFY_CA".
func (st setting) canonical(text string) string {
	for _, choice := range st.choices {
		if strings.EqualFold(choice, text) {
			return choice
		}
	}
	return text
}

func (st setting) field(s *Settings) reflect.Value {
	return reflect.ValueOf(s).Elem().FieldByIndex(st.path)
}

// accepts applies the tags range, oneof and check to a parsed value.
func (st setting) accepts(v reflect.Value, text string) bool {
	switch value := v.Interface().(type) {
	case int:
		return !st.bounded || isInRange(int64(value), st.min, st.max)
	case time.Duration:
		return value%time.Millisecond == 0 && isInRange(value.Milliseconds(), st.min, st.max)
	case []string:
		for _, item := range value {
			if !st.follows(item) {
				return false
			}
		}
		return true
	case bool:
		return true
	default:
		return st.follows(text)
	}
}

func isInRange(n, low, high int64) bool { return n >= low && n <= high }

// follows reports whether one text keeps the oneof and check tags.
func (st setting) follows(text string) bool {
	if st.choices != nil {
		return slices.Contains(st.choices, text)
	}
	return st.check == "" || rules[st.check].ok(text)
}
