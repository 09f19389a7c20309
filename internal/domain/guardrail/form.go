package guardrail

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

// paramType checks a value of a parameter. It returns nil for a valid value.
type paramType func(v any) *problem

// problem describes an invalid value: its path below the parameters, and a text that names the
// remedy without quoting the value.
type problem struct {
	path string // ".rules.defaults[2]"
	text string
}

func wrong(text string) *problem { return &problem{text: text} }

// Limits of parameter values.
const (
	maxItems     = 1000
	maxTextChars = 1024 // characters of an item or name
	maxPattern   = 4096
	maxURL       = 2048
)

// judge checks params against the parameters of the check. It returns nil if all are valid.
func (k *Known) judge(params map[string]any) *problem {
	taken := slices.Concat(k.Params, anywhere)
	for _, p := range taken {
		if _, sent := params[p.Name]; p.Required && !sent {
			return &problem{"." + p.Name, "is required"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		i := slices.IndexFunc(taken, func(p Param) bool { return p.Name == name })
		switch {
		case i >= 0:
			if p := taken[i].form(params[name]); p != nil {
				return &problem{"." + name + p.path, p.text}
			}
		case !k.Open:
			return &problem{"." + name, "unknown parameter of this check"}
		}
	}
	return nil
}

func anything(any) *problem { return nil }

func boolean(v any) *problem {
	if _, ok := v.(bool); !ok {
		return wrong("must be true or false")
	}
	return nil
}

// text accepts a string that is not empty and has at most maximum bytes.
func text(maximum int) paramType {
	return func(v any) *problem {
		if s, ok := v.(string); !ok || s == "" || len(s) > maximum {
			return wrong("must be a string of 1 to " + strconv.Itoa(maximum) + " characters")
		}
		return nil
	}
}

func textOrNumber(v any) *problem {
	if _, ok := v.(float64); ok {
		return nil
	}
	return text(255)(v)
}

func number(minimum, maximum float64) paramType {
	return func(v any) *problem {
		if n, ok := v.(float64); !ok || n < minimum || n > maximum {
			return wrong("must be a number from " + plain(minimum) + " to " + plain(maximum))
		}
		return nil
	}
}

// positiveInteger accepts an integer from 1 to maximum.
func positiveInteger(maximum float64) paramType {
	return func(v any) *problem {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < 1 || n > maximum {
			return wrong("must be an integer from 1 to " + plain(maximum))
		}
		return nil
	}
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func oneOf(values ...string) paramType {
	return func(v any) *problem {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			return wrong("must be one of " + strings.Join(values, ", "))
		}
		return nil
	}
}

// list accepts a list of 1 to maxItems elements that elem accepts.
func list(elem paramType) paramType {
	return func(v any) *problem {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxItems {
			return wrong("must be a list of 1 to " + strconv.Itoa(maxItems) + " items")
		}
		for i, item := range items {
			if p := elem(item); p != nil {
				return &problem{"[" + strconv.Itoa(i) + "]" + p.path, p.text}
			}
		}
		return nil
	}
}

func listOf(values ...string) paramType { return list(oneOf(values...)) }

// textList accepts a list of strings.
var textList = list(text(maxTextChars))

// textListOrCSV accepts a list of strings or one comma-separated string; both may be empty.
func textListOrCSV(v any) *problem {
	if s, ok := v.(string); ok && len(s) <= maxPattern {
		return nil
	}
	if items, ok := v.([]any); ok && len(items) == 0 {
		return nil
	}
	return textList(v)
}

func object(v any) *problem {
	if m, ok := v.(map[string]any); !ok || len(m) > maxItems {
		return wrong("must be an object of at most " + strconv.Itoa(maxItems) + " fields")
	}
	return nil
}

// mapOf accepts an object whose values elem accepts.
func mapOf(elem paramType) paramType {
	return func(v any) *problem {
		if p := object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if p := elem(m[name]); p != nil {
				return &problem{"." + name + p.path, p.text}
			}
		}
		return nil
	}
}

// fields accepts an object with these fields and no others.
func fields(params ...Param) paramType {
	inner := Known{Params: params}
	return func(v any) *problem {
		if p := object(v); p != nil {
			return p
		}
		m, _ := v.(map[string]any)
		return inner.judge(m)
	}
}

func pattern(v any) *problem {
	if p := text(maxPattern)(v); p != nil {
		return p
	}
	s, _ := v.(string)
	if _, err := regexp.Compile(s); err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return wrong("must be a regular expression in RE2 syntax (no look-around, no back-references): " + bad.Code.String())
		}
		return wrong("must be a valid regular expression")
	}
	return nil
}

// slashed accepts a pattern that may be enclosed in slashes, with flags after them.
func slashed(v any) *problem {
	if s, ok := v.(string); ok {
		if end := strings.LastIndexByte(s, '/'); len(s) > 1 && s[0] == '/' && end > 0 && strings.Trim(s[end+1:], "gimsuyd") == "" {
			return pattern(s[1:end])
		}
	}
	return pattern(v)
}

// link accepts the URL of a service. It does not check whether the URL may be called; that depends
// on the trusted hosts.
func link(v any) *problem {
	s, _ := v.(string)
	if u, err := url.Parse(s); err != nil || s == "" || len(s) > maxURL || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return wrong("must be a URL such as https://hooks.example.com/check")
	}
	return nil
}

// headers accepts an object of strings, or the JSON text of one.
func headers(v any) *problem {
	if s, ok := v.(string); ok {
		var m map[string]any
		if json.Unmarshal([]byte(s), &m) != nil {
			return wrong("must be an object of strings")
		}
		v = m
	}
	return mapOf(text(16_384))(v)
}

// span accepts a duration such as "1d" or "30 minutes", or a number of seconds.
func span(v any) *problem {
	if _, ok := v.(float64); ok {
		return count(v)
	}
	if s, ok := v.(string); !ok || !spanForm.MatchString(s) {
		return wrong(`must be a duration such as "12h" or "1d", or a number of seconds`)
	}
	return nil
}

var spanForm = regexp.MustCompile(`^[0-9]{1,9} ?(s|m|h|d|w|y|sec|secs|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|years?)$`)

// languageCodes accepts a language code with its script, "eng_Latn", or a list of them.
func languageCodes(v any) *problem {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	return list(func(v any) *problem {
		if s, ok := v.(string); !ok || !languageForm.MatchString(s) {
			return wrong("must be a language code with its script, such as eng_Latn")
		}
		return nil
	})(v)
}

var languageForm = regexp.MustCompile(`^[a-z]{3}_[A-Z][a-z]{3}$`)

// schema accepts a JSON Schema that compiles without external references: nothing is fetched.
func schema(v any) *problem {
	m, ok := v.(map[string]any)
	if !ok {
		return wrong("must be a JSON Schema object")
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return wrong("must be a JSON Schema object")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return wrong("must be a JSON Schema object")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it has no scheme, so it loads nothing
	if err := c.AddResource(schemaName, doc); err != nil {
		return wrong("must be a valid JSON Schema")
	}
	if _, err := c.Compile(schemaName); err != nil {
		return wrong("must be a valid JSON Schema without external references")
	}
	return nil
}

const schemaName = "mem:///schema.json"
