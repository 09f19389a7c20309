package param

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Form checks a value of a parameter, as encoding/json decodes it into any. It returns nil for a
// valid value.
type Form func(v any) *Problem

// Problem describes an invalid value: its path below the parameters, for example
// ".rules.defaults[2]", and a text that names the fix without quoting the value.
type Problem struct {
	Path string
	Text string
}

// Wrong returns a problem of the value itself.
func Wrong(text string) *Problem { return &Problem{Text: text} }

// Limits of parameter values.
const (
	maxItems     = 1000
	maxTextChars = 1024 // characters of an item or name
	maxPattern   = 4096
	maxURL       = 2048
)

// Anything accepts every value.
func Anything(any) *Problem { return nil }

// Boolean accepts true and false.
func Boolean(v any) *Problem {
	if _, ok := v.(bool); !ok {
		return Wrong("must be true or false")
	}
	return nil
}

// Text accepts a string that is not empty and has at most maximum bytes.
func Text(maximum int) Form {
	return func(v any) *Problem {
		if s, ok := v.(string); !ok || s == "" || len(s) > maximum {
			return Wrong("must be a string of 1 to " + strconv.Itoa(maximum) + " characters")
		}
		return nil
	}
}

// TextOrNumber accepts a number, or a string of 1 to 255 bytes.
func TextOrNumber(v any) *Problem {
	if _, ok := v.(float64); ok {
		return nil
	}
	return Text(255)(v)
}

// Number accepts a number from minimum to maximum.
func Number(minimum, maximum float64) Form {
	return func(v any) *Problem {
		if n, ok := v.(float64); !ok || n < minimum || n > maximum {
			return Wrong("must be a number from " + plain(minimum) + " to " + plain(maximum))
		}
		return nil
	}
}

// PositiveInteger accepts an integer from 1 to maximum.
func PositiveInteger(maximum float64) Form {
	return func(v any) *Problem {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < 1 || n > maximum {
			return Wrong("must be an integer from 1 to " + plain(maximum))
		}
		return nil
	}
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// OneOf accepts one of these strings.
func OneOf(values ...string) Form {
	return func(v any) *Problem {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			return Wrong("must be one of " + strings.Join(values, ", "))
		}
		return nil
	}
}

// List accepts a list of 1 to maxItems elements that elem accepts.
func List(elem Form) Form {
	return func(v any) *Problem {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxItems {
			return Wrong("must be a list of 1 to " + strconv.Itoa(maxItems) + " items")
		}
		for i, item := range items {
			if p := elem(item); p != nil {
				return &Problem{"[" + strconv.Itoa(i) + "]" + p.Path, p.Text}
			}
		}
		return nil
	}
}

// ListOf accepts a list of 1 to maxItems of these strings.
func ListOf(values ...string) Form { return List(OneOf(values...)) }

// TextList accepts a list of strings.
var TextList = List(Text(maxTextChars))

// TextListOrCSV accepts a list of strings or one comma-separated string; both may be empty.
func TextListOrCSV(v any) *Problem {
	if s, ok := v.(string); ok && len(s) <= maxPattern {
		return nil
	}
	if items, ok := v.([]any); ok && len(items) == 0 {
		return nil
	}
	return TextList(v)
}

// Object accepts an object of at most maxItems members.
func Object(v any) *Problem {
	if m, ok := v.(map[string]any); !ok || len(m) > maxItems {
		return Wrong("must be an object of at most " + strconv.Itoa(maxItems) + " fields")
	}
	return nil
}

// MapOf accepts an object whose values elem accepts.
func MapOf(elem Form) Form {
	return func(v any) *Problem {
		if p := Object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if p := elem(m[name]); p != nil {
				return &Problem{"." + name + p.Path, p.Text}
			}
		}
		return nil
	}
}

// Fields accepts an object with these fields and no others.
func Fields(params ...Param) Form {
	return func(v any) *Problem {
		if p := Object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		return Check(params, m, false)
	}
}

// Pattern accepts a regular expression in RE2 syntax, which matches in linear time.
func Pattern(v any) *Problem {
	if p := Text(maxPattern)(v); p != nil {
		return p
	}
	s, _ := v.(string)
	if _, err := regexp.Compile(s); err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return Wrong("must be a regular expression in RE2 syntax (no look-around, no back-references): " + bad.Code.String())
		}
		return Wrong("must be a valid regular expression")
	}
	return nil
}

// SlashedPattern accepts a pattern that may be enclosed in slashes, with flags after them.
func SlashedPattern(v any) *Problem {
	if s, ok := v.(string); ok {
		if end := strings.LastIndexByte(s, '/'); len(s) > 1 && s[0] == '/' && end > 0 && strings.Trim(s[end+1:], "gimsuyd") == "" {
			return Pattern(s[1:end])
		}
	}
	return Pattern(v)
}

// Link accepts the URL of a service. It does not check whether the URL may be called; that depends
// on the trusted hosts.
func Link(v any) *Problem {
	s, _ := v.(string)
	if u, err := url.Parse(s); err != nil || s == "" || len(s) > maxURL || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Wrong("must be a URL such as https://hooks.example.com/check")
	}
	return nil
}

// Headers accepts an object of strings, or the JSON text of one.
func Headers(v any) *Problem {
	if s, ok := v.(string); ok {
		var m map[string]any
		if json.Unmarshal([]byte(s), &m) != nil {
			return Wrong("must be an object of strings")
		}
		v = m
	}
	return MapOf(Text(16_384))(v)
}

// Duration accepts a duration such as "1d" or "30 minutes", or a number of seconds.
func Duration(v any) *Problem {
	if _, ok := v.(float64); ok {
		return Count(v)
	}
	if s, ok := v.(string); !ok || !spanForm.MatchString(s) {
		return Wrong(`must be a duration such as "12h" or "1d", or a number of seconds`)
	}
	return nil
}

var spanForm = regexp.MustCompile(`^[0-9]{1,9} ?(s|m|h|d|w|y|sec|secs|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|years?)$`)

// LanguageCodes accepts a language code with its script, "eng_Latn", or a list of them.
func LanguageCodes(v any) *Problem {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	return List(func(v any) *Problem {
		if s, ok := v.(string); !ok || !languageForm.MatchString(s) {
			return Wrong("must be a language code with its script, such as eng_Latn")
		}
		return nil
	})(v)
}

var languageForm = regexp.MustCompile(`^[a-z]{3}_[A-Z][a-z]{3}$`)

// Schema accepts a JSON Schema that compiles without external references: nothing is fetched.
func Schema(v any) *Problem {
	m, ok := v.(map[string]any)
	if !ok {
		return Wrong("must be a JSON Schema object")
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return Wrong("must be a JSON Schema object")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return Wrong("must be a JSON Schema object")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it has no scheme, so it loads nothing
	if err := c.AddResource(schemaName, doc); err != nil {
		return Wrong("must be a valid JSON Schema")
	}
	if _, err := c.Compile(schemaName); err != nil {
		return Wrong("must be a valid JSON Schema without external references")
	}
	return nil
}

const schemaName = "mem:///schema.json"
