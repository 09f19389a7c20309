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

// Form describes the values of a parameter. It is immutable.
type Form struct {
	check func(v any) *Problem
	urls  []Path // of the addresses in a value; see Link
}

// Custom is a form whose values are no addresses and contain none. check returns nil for a valid value,
// as encoding/json decodes it into any.
func Custom(check func(v any) *Problem) Form { return Form{check: check} }

// Check returns nil for a valid value, as encoding/json decodes it into any.
func (f Form) Check(v any) *Problem { return f.check(v) }

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

// Forms of values without parameters of their own.
var (
	Anything       = Custom(func(any) *Problem { return nil }) // every value
	Boolean        = Custom(boolean)                           // true and false
	TextOrNumber   = Custom(textOrNumber)                      // a number, or a string of 1 to 255 bytes
	TextList       = List(Text(maxTextChars))                  // a list of strings
	TextListOrCSV  = Custom(textListOrCSV)                     // a list of strings or one comma-separated string; both may be empty
	Object         = Custom(object)                            // an object of at most maxItems members
	Pattern        = Custom(pattern)                           // a regular expression in RE2 syntax, which matches in linear time
	SlashedPattern = Custom(slashedPattern)                    // a pattern that may be enclosed in slashes, with flags after them
	Headers        = Custom(headers)                           // an object of strings, or the JSON text of one
	Duration       = Custom(duration)                          // a duration such as "1d" or "30 minutes", or a number of seconds
	LanguageCodes  = Custom(languageCodes)                     // a language code with its script, "eng_Latn", or a list of them
	Schema         = Custom(schema)                            // a JSON Schema that compiles without external references: nothing is fetched
	ForwardHeaders = Custom(forwardHeaders)                    // a list of client headers that a check may forward to its service

	// Link is the URL of a service that the check calls. The form does not decide whether it may be
	// called, because that depends on the trusted hosts: URLs finds it for that decision.
	Link = Form{check: link, urls: []Path{{}}}
)

func boolean(v any) *Problem {
	if _, ok := v.(bool); !ok {
		return Wrong("must be true or false")
	}
	return nil
}

// Text accepts a string that is not empty and has at most maximum bytes.
func Text(maximum int) Form {
	return Custom(func(v any) *Problem {
		if s, ok := v.(string); !ok || s == "" || len(s) > maximum {
			return Wrong("must be a string of 1 to " + strconv.Itoa(maximum) + " characters")
		}
		return nil
	})
}

func textOrNumber(v any) *Problem {
	if _, ok := v.(float64); ok {
		return nil
	}
	return Text(255).check(v)
}

// Number accepts a number from minimum to maximum.
func Number(minimum, maximum float64) Form {
	return Custom(func(v any) *Problem {
		if n, ok := v.(float64); !ok || n < minimum || n > maximum {
			return Wrong("must be a number from " + plain(minimum) + " to " + plain(maximum))
		}
		return nil
	})
}

// PositiveInteger accepts an integer from 1 to maximum.
func PositiveInteger(maximum float64) Form {
	return Custom(func(v any) *Problem {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < 1 || n > maximum {
			return Wrong("must be an integer from 1 to " + plain(maximum))
		}
		return nil
	})
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// OneOf accepts one of these strings.
func OneOf(values ...string) Form {
	return Custom(func(v any) *Problem {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			return Wrong("must be one of " + strings.Join(values, ", "))
		}
		return nil
	})
}

// List accepts a list of 1 to maxItems elements that elem accepts.
func List(elem Form) Form {
	return Form{urls: prefixed(anyMember, elem.urls), check: func(v any) *Problem {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxItems {
			return Wrong("must be a list of 1 to " + strconv.Itoa(maxItems) + " items")
		}
		for i, item := range items {
			if p := elem.check(item); p != nil {
				return &Problem{"[" + strconv.Itoa(i) + "]" + p.Path, p.Text}
			}
		}
		return nil
	}}
}

// ListOf accepts a list of 1 to maxItems of these strings.
func ListOf(values ...string) Form { return List(OneOf(values...)) }

func textListOrCSV(v any) *Problem {
	if s, ok := v.(string); ok && len(s) <= maxPattern {
		return nil
	}
	if items, ok := v.([]any); ok && len(items) == 0 {
		return nil
	}
	return List(Text(maxTextChars)).check(v)
}

func object(v any) *Problem {
	if m, ok := v.(map[string]any); !ok || len(m) > maxItems {
		return Wrong("must be an object of at most " + strconv.Itoa(maxItems) + " fields")
	}
	return nil
}

// MapOf accepts an object whose values elem accepts.
func MapOf(elem Form) Form {
	return Form{urls: prefixed(anyMember, elem.urls), check: func(v any) *Problem {
		if p := object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if p := elem.check(m[name]); p != nil {
				return &Problem{"." + name + p.Path, p.Text}
			}
		}
		return nil
	}}
}

// Fields accepts an object with these fields and no others.
func Fields(params ...Param) Form { return fields(params, false) }

// OpenFields accepts an object with these fields and others.
func OpenFields(params ...Param) Form { return fields(params, true) }

func fields(params []Param, open bool) Form {
	var urls []Path
	for _, p := range params {
		urls = append(urls, p.URLPaths()...)
	}
	return Form{urls: urls, check: func(v any) *Problem {
		if p := object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		return Check(params, m, open)
	}}
}

func pattern(v any) *Problem {
	if p := Text(maxPattern).check(v); p != nil {
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

func slashedPattern(v any) *Problem {
	if s, ok := v.(string); ok {
		if end := strings.LastIndexByte(s, '/'); len(s) > 1 && s[0] == '/' && end > 0 && strings.Trim(s[end+1:], "gimsuyd") == "" {
			return pattern(s[1:end])
		}
	}
	return pattern(v)
}

func link(v any) *Problem {
	s, _ := v.(string)
	if u, err := url.Parse(s); err != nil || s == "" || len(s) > maxURL || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Wrong("must be a URL such as https://hooks.example.com/check")
	}
	return nil
}

func headers(v any) *Problem {
	if s, ok := v.(string); ok {
		var m map[string]any
		if json.Unmarshal([]byte(s), &m) != nil {
			return Wrong("must be an object of strings")
		}
		v = m
	}
	return MapOf(Text(16_384)).check(v)
}

func duration(v any) *Problem {
	if _, ok := v.(float64); ok {
		return Count.check(v)
	}
	if s, ok := v.(string); !ok || !spanForm.MatchString(s) {
		return Wrong(`must be a duration such as "12h" or "1d", or a number of seconds`)
	}
	return nil
}

var spanForm = regexp.MustCompile(`^[0-9]{1,9} ?(s|m|h|d|w|y|sec|secs|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|years?)$`)

func languageCodes(v any) *Problem {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	return List(Custom(func(v any) *Problem {
		if s, ok := v.(string); !ok || !languageForm.MatchString(s) {
			return Wrong("must be a language code with its script, such as eng_Latn")
		}
		return nil
	})).check(v)
}

var languageForm = regexp.MustCompile(`^[a-z]{3}_[A-Z][a-z]{3}$`)

func schema(v any) *Problem {
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
