package prompt_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
)

// partialMap is a source of partials by reference.
type partialMap map[string]string

func (s partialMap) Partial(ref prompt.PartialRef) (*prompt.Template, error) {
	text, ok := s[ref.String()]
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "no partial "+ref.String())
	}
	return prompt.Parse(text)
}

var partials = partialMap{
	"tone": "Be {{mood}}.", "tone@1": "Be kind.", "tone@latest": "Be brief.", "outer": "[{{>tone}}]", "self": "a{{>self}}",
	"left": "{{>right}}", "right": "{{>left}}", "lines": "one\n\"two\"",
}

func TestRender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, variables, want string }{
		"a variable":                   {"Hello {{name}}!", `{"name":"Ada"}`, "Hello Ada!"},
		"white space around the name":  {"{{  name\t}}", `{"name":"Ada"}`, "Ada"},
		"a name with spaces":           {"{{phone number}}", `{"phone number":"555"}`, "555"},
		"a missing variable":           {"<{{name}}>", `{}`, "<>"},
		"no variables at all":          {"<{{name}}>", ``, "<>"},
		"further variables":            {"x", `{"name":"Ada"}`, "x"},
		"a number":                     {"{{n}} {{m}}", `{"n":1.50,"m":12345678901234567890}`, "1.50 12345678901234567890"},
		"a boolean and null":           {"{{yes}}{{no}}{{nil}}", `{"yes":true,"no":false,"nil":null}`, "truefalse"},
		"an object":                    {"{{o}}", `{"o": {"b": [1, 2], "a": "x y"}}`, `{"b":[1,2],"a":"x y"}`},
		"no escaping":                  {"{{x}}{{{x}}}{{&x}}", `{"x":"<\"&'>"}`, `<"&'><"&'><"&'>`},
		"escapes of JSON":              {"{{x}}", `{"x":"a\nb\u00e9\ud83d\ude00"}`, "a\nbé😀"},
		"a section of true":            {"{{#on}}yes{{/on}}", `{"on":true}`, "yes"},
		"a section of false":           {"{{#on}}yes{{/on}}", `{"on":false}`, ""},
		"a section of nothing":         {"{{#on}}yes{{/on}}{{#s}}s{{/s}}{{#l}}l{{/l}}{{#n}}n{{/n}}", `{"on":null,"s":"","l":[],"n":0}`, ""},
		"zeros are false":              {"{{#a}}a{{/a}}{{#b}}b{{/b}}{{#c}}c{{/c}}", `{"a":0.0,"b":-0,"c":0e7}`, ""},
		"numbers are true":             {"{{#a}}a{{/a}}{{#b}}{{.}}{{/b}}", `{"a":0.1,"b":-3}`, "a-3"},
		"the text false is true":       {"{{#a}}a{{/a}}", `{"a":"false"}`, "a"},
		"an empty object is true":      {"{{#a}}a{{/a}}", `{"a":{}}`, "a"},
		"an inverted section":          {"{{^on}}no{{/on}}{{^off}}no{{/off}}{{^none}}no{{/none}}", `{"on":1,"off":[]}`, "nono"},
		"a list of objects":            {"{{#items}}{{n}}={{v}};{{/items}}", `{"items":[{"n":"a","v":1},{"n":"b","v":2}]}`, "a=1;b=2;"},
		"a list of texts":              {"{{#items}}{{.}},{{/items}}", `{"items":["a","b",3]}`, "a,b,3,"},
		"a list of lists":              {"{{#rows}}({{#.}}{{.}}{{/.}}){{/rows}}", `{"rows":[[1,2],[3]]}`, "(12)(3)"},
		"fields of an object":          {"{{#user}}{{name}} of {{city}}{{/user}}", `{"user":{"name":"Ada"},"city":"Rome"}`, "Ada of Rome"},
		"the inner one comes first":    {"{{#user}}{{name}}{{/user}}{{name}}", `{"user":{"name":"in"},"name":"out"}`, "inout"},
		"an inner null hides":          {"{{#user}}<{{name}}>{{/user}}", `{"user":{"name":null},"name":"out"}`, "<>"},
		"dotted names":                 {"{{a.b.c}}{{a.x.c}}{{z.b}}", `{"a":{"b":{"c":"deep"}}}`, "deep"},
		"dots are found outside":       {"{{#s}}{{a.b}}{{/s}}", `{"s":{"t":1},"a":{"b":2}}`, "2"},
		"a name that has dots":         {"{{a.b}}", `{"a.b":"whole","a":{"b":"path"}}`, "whole"},
		"a dotted section":             {"{{#a.b}}{{.}}{{/a.b}}", `{"a":{"b":["x","y"]}}`, "xy"},
		"the same section inside":      {"{{#a}}{{#a}}x{{/a}}{{/a}}", `{"a":true}`, "x"},
		"comments":                     {"a{{! no\nmore }}b", `{}`, "ab"},
		"a section alone on its line":  {"a\n  {{#on}}\nb\n  {{/on}}\r\nc", `{"on":1}`, "a\nb\nc"},
		"a comment alone on its line":  {"{{! first }}\na\n{{! last }}", `{}`, "a\n"},
		"two tags on a line keep it":   {"{{#on}}{{x}}\n{{/on}}\nend", `{"on":1}`, "\nend"},
		"a section in a single line":   {" {{#on}}x{{/on}} ", `{"on":1}`, " x "},
		"braces of JSON":               {`{"a":{"b":{{x}}}}`, `{"x":1}`, `{"a":{"b":1}}`},
		"a lone brace":                 {"{ } {x} }}", `{"x":1}`, "{ } {x} }}"},
		"a partial":                    {"{{>tone}} Go.", `{"mood":"calm"}`, "Be calm. Go."},
		"a partial with a space":       {"{{> tone }}", `{"mood":"calm"}`, "Be calm."},
		"a version of a partial":       {"{{>tone@1}} {{>tone@latest}}", `{}`, "Be kind. Be brief."},
		"a partial in a partial":       {"{{>outer}}", `{"mood":"calm"}`, "[Be calm.]"},
		"a partial in a list":          {"{{#m}}{{>tone}}{{/m}}", `{"m":[{"mood":"a"},{"mood":"b"}]}`, "Be a.Be b."},
		"a partial keeps its line":     {"{{>tone@1}}\nNext", `{}`, "Be kind.\nNext"},
		"a private partial":            {"{{>>rules}} end", `{"rules":"Dear {{name}},","name":"Ada"}`, "Dear Ada, end"},
		"a private one in a list":      {"{{#l}}{{>>r}}{{/l}}", `{"r":"<{{.}}>","l":[1,2]}`, "<1><2>"},
		"a private one that is absent": {"<{{>>rules}}>", `{}`, "<>"},
		"a partial of a private one":   {"{{>>rules}}", `{"rules":"{{>tone@1}}"}`, "Be kind."},
		"names twice, the last counts": {"{{x}}", `{"x":1,"x":2}`, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := prompt.Parse(c.template)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a template keeps nothing of a rendering
				got, err := tmpl.Render([]byte(c.variables), partials)
				if err != nil || got != c.want {
					t.Errorf("got %q, %v; want %q", got, err, c.want)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, want string }{
		"no end of a tag":      {"a\n{{name", "line 2: the tag has no end"},
		"no end of three":      {"{{{name}}", "the tag has no end; add }}}"},
		"no end of a section":  {"{{#a}}x", "{{#a}} has no end; add {{/a}}"},
		"no begin":             {"x{{/a}}", "{{/a}} closes a section that was not opened"},
		"crossed":              {"{{#a}}{{#b}}{{/a}}{{/b}}", "the section {{#b}} is closed by {{/a}}"},
		"an end like a name":   {"{{#a}}x{{a}}", "has no end"},
		"no name":              {"{{ }}", "a tag does not have a name"},
		"a section of nothing": {"{{#}}{{/}}", "a tag does not have a name"},
		"delimiters":           {"{{=<% %>=}}", "delimiters of tags cannot be changed"},
		"a label of a partial": {"{{>tone@production}}", "does not name a version; write a number or latest after @"},
		"a long version":       {"{{>tone@" + strings.Repeat("0", prompt.MaxNameBytes) + "1}}", "longer than"},
		"a long name":          {"{{" + strings.Repeat("n", prompt.MaxNameBytes+1) + "}}", "longer than"},
		"many tags":            {strings.Repeat("{{a}}", prompt.MaxTags+1), "more than"},
		"deep sections":        {strings.Repeat("{{#a}}", prompt.MaxNesting+1) + strings.Repeat("{{/a}}", prompt.MaxNesting+1), "deeper than"},
		"a long text":          {strings.Repeat("x", prompt.MaxTemplateBytes+1), "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := prompt.Parse(c.template)
			if !fault.Has(err, fault.InvalidParameter) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A variable is read once, however often a tag names it: else a small call with a long one
// in a long list would keep a processor busy for minutes.
func TestVariablesAreReadOnce(t *testing.T) {
	long := strings.Repeat("0", 500<<10)
	for name, c := range map[string]struct{ inner, variable string }{
		"a private partial": {"{{>>x}}", `"{{!` + long + `}}"`},
		"a number":          {"{{#x}}{{/x}}", "0." + long},
		"an object":         {"{{x}}", "{" + strings.Repeat(" ", len(long)) + "}"},
	} {
		tmpl, err := prompt.Parse("{{#list}}" + c.inner + "{{/list}}")
		if err != nil {
			t.Fatal(err)
		}
		variables := []byte(`{"list":[` + strings.Repeat("1,", 2000) + `1],"x":` + c.variable + `}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := tmpl.Render(variables, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*len(variables)) {
			t.Errorf("%s: %d bytes of variables took %d", name, len(variables), took)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	chain := partialMap{}
	for i := range prompt.MaxPartialDepth + 1 {
		chain[fmt.Sprint("p", i)] = fmt.Sprintf("{{>p%d}}", i+1)
	}
	wide := partialMap{}
	for i := range prompt.MaxPartialDepth - 1 {
		wide[fmt.Sprint("p", i)] = strings.Repeat(fmt.Sprintf("{{>p%d}}", i+1), 20)
	}
	wide[fmt.Sprint("p", prompt.MaxPartialDepth-1)] = "x"
	// a name that is nowhere, looked for below a hundred and fifty sections in a list
	deep := make(map[string]string)
	for i := range 5 {
		deep[fmt.Sprint("p", i)] = strings.Repeat("{{#o}}", 30) + fmt.Sprintf("{{>>p%d}}", i+1) + strings.Repeat("{{/o}}", 30)
	}
	deep["p5"] = "{{#list}}{{missing}}{{missing}}{{/list}}"
	nested := fmt.Sprintf(`{"o":{"x":1},"list":[%s1]`, strings.Repeat("1,", 50_000))
	for name, text := range deep {
		nested += fmt.Sprintf(`,%q:%q`, name, text)
	}
	numbers := `{"l":[` + strings.Repeat("1,", 2000) + `1]}`
	for name, c := range map[string]struct {
		template, variables string
		source              prompt.Source
		want                string
	}{
		"an unknown partial":        {"{{>nobody}}", `{}`, partials, "nobody"},
		"no partials at all":        {"{{>nobody}}", `{}`, nil, "does not have the partial {{>nobody}}"},
		"a partial of itself":       {"{{>self}}", `{}`, partials, "includes itself"},
		"a circle":                  {"{{>left}}", `{}`, partials, "includes itself"},
		"a private circle":          {"{{>>a}}", `{"a":"{{>>a}}"}`, nil, "the partial {{>>a}} includes itself"},
		"a private circle of two":   {"{{>>a}}", `{"a":"{{>>b}}","b":"{{>>a}}"}`, nil, "the partial {{>>a}} includes itself"},
		"a deep chain":              {"{{>p0}}", `{}`, chain, "nested deeper than"},
		"a wide tree":               {"{{>p0}}", `{}`, wide, "steps"},
		"lists in lists":            {"{{#l}}{{#l}}{{#l}}x{{/l}}{{/l}}{{/l}}", numbers, nil, "steps"},
		"a long answer":             {"{{#l}}{{{x}}}{{/l}}", numbers[:len(numbers)-1] + `,"x":"` + strings.Repeat("x", 10_000) + `"}`, nil, "the rendered prompt exceeds"},
		"names that lie deep":       {"{{>>p0}}", nested + "}", nil, "steps"},
		"variables in a list":       {"x", `[1]`, nil, "variables must be an object"},
		"a private one with a slip": {"{{>>a}}", `{"a":"{{#x}}"}`, nil, "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := prompt.Parse(c.template)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tmpl.Render([]byte(c.variables), c.source)
			if !fault.Has(err, fault.InvalidParameter) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
