package param_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail/param"
)

// forms are the forms of parameters, with values that fit and values that do not. The value of reject
// is the path and a part of the text of the problem.
var forms = []struct {
	name   string
	form   param.Form
	accept []string
	reject map[string]string
}{
	{"Boolean", param.Boolean, []string{`true`, `false`}, map[string]string{`"yes"`: ": true or false", `null`: ": true or false"}},
	{"Text", param.Text(3), []string{`"abc"`}, map[string]string{`""`: ": 1 to 3", `"abcd"`: ": 1 to 3", `7`: ": 1 to 3"}},
	{"TextOrNumber", param.TextOrNumber, []string{`"a"`, `17`}, map[string]string{`[]`: ": "}},
	{"Number", param.Number(0, 1), []string{`0`, `0.5`, `1`}, map[string]string{`-1`: ": from 0", `1.1`: ": from 0", `"1"`: ": from 0"}},
	{"PositiveInteger", param.PositiveInteger(10), []string{`1`, `10`}, map[string]string{`0`: ": an integer", `1.5`: ": an integer", `11`: ": an integer"}},
	{"OneOf", param.OneOf("any", "all"), []string{`"any"`}, map[string]string{`"some"`: ": one of", `1`: ": one of"}},
	{"TextList", param.TextList, []string{`["a","b"]`}, map[string]string{`[]`: ": a list of 1", `["a",7]`: "[1]: 1 to 1024", `"a"`: ": a list"}},
	{"ListOf", param.ListOf("a", "b"), []string{`["a"]`}, map[string]string{`["c"]`: "[0]: one of"}},
	{"TextListOrCSV", param.TextListOrCSV, []string{`"a, b"`, `["a"]`, `[]`}, map[string]string{`7`: ": "}},
	{"Object", param.Object, []string{`{"a":1}`}, map[string]string{`[]`: ": an object"}},
	{"MapOf", param.MapOf(param.Boolean), []string{`{"a":true}`}, map[string]string{`{"a":1}`: ".a: true or false"}},
	{"Fields", param.Fields(param.Required("a", param.Boolean)), []string{`{"a":true}`}, map[string]string{`{}`: ".a: required", `{"a":true,"b":1}`: ".b: unknown parameter"}},
	{"Pattern", param.Pattern, []string{`"^a+$"`}, map[string]string{`"(?=a)"`: ": RE2", `7`: ": 1 to 4096"}},
	{"SlashedPattern", param.SlashedPattern, []string{`"/[0-9]+/gi"`, `"a"`}, map[string]string{`"/(/g"`: ": RE2"}},
	{"Link", param.Link, []string{`"https://hooks.example.com/a"`, `"http://hooks.example.com"`}, map[string]string{`"ftp://x"`: ": a URL"}},
	{"Headers", param.Headers, []string{`{"a":"b"}`, `"{\"a\":\"b\"}"`}, map[string]string{`"no JSON"`: ": an object of strings"}},
	{"Duration", param.Duration, []string{`"1d"`, `"2 hours"`}, map[string]string{`"soon"`: ": a duration"}},
	{"LanguageCodes", param.LanguageCodes, []string{`"eng_Latn"`, `["eng_Latn","zho_Hans"]`}, map[string]string{`["en"]`: "[0]: eng_Latn"}},
	{"Schema", param.Schema, []string{`{"type":"object"}`}, map[string]string{
		`{"type":"objekt"}`: ": a valid JSON Schema", `{"$ref":"https://example.com/s.json"}`: ": without external references", `{"$ref":"file:///etc/passwd"}`: ": without external references",
	}},
	{"Redaction", param.Redaction, []string{`true`, `false`, `"reversible"`}, map[string]string{`"yes"`: ": true, false or", `null`: ": true, false or"}},
	{"ForwardHeaders", param.ForwardHeaders, []string{`["x-team","x-gateway-trace-id"]`}, map[string]string{
		`["Cookie"]`: "[0]: never forwards", `["X-Gateway-Api-Key"]`: "[0]: never forwards", `["authorization"]`: "[0]: never forwards",
	}},
}

func TestForms_AcceptAndRejectValues(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range f.accept {
				if p := f.form.Check(value(t, text)); p != nil {
					t.Errorf("%s: %s: %s", text, p.Path, p.Text)
				}
			}
			for text, want := range f.reject {
				path, part, _ := strings.Cut(want, ": ")
				if p := f.form.Check(value(t, text)); p == nil || p.Path != path || !strings.Contains(p.Text, part) {
					t.Errorf("%s: %v, want %q", text, p, want)
				}
			}
		})
	}
}

func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCheck_ComparesParametersWithTheList(t *testing.T) {
	t.Parallel()
	list := []param.Param{param.Required("rule", param.Pattern), param.Not}
	for text, want := range map[string]string{
		`{"rule":"a"}`: "", `{"rule":"a","not":true,"failOnError":false}`: "", `{}`: ".rule: required", `{"rule":"("}`: ".rule: RE2",
		`{"rule":"a","more":1}`: ".more: unknown parameter", `{"rule":"a","failOnError":1}`: ".failOnError: true or false",
	} {
		p := param.Check(list, value(t, text).(map[string]any), false)
		path, part, _ := strings.Cut(want, ": ")
		if (p == nil) != (want == "") || p != nil && (p.Path != path || !strings.Contains(p.Text, part)) {
			t.Errorf("%s: %v, want %q", text, p, want)
		}
	}
	if p := param.Check(list, value(t, `{"rule":"a","more":1}`).(map[string]any), true); p != nil {
		t.Errorf("an open check rejects a parameter: %v", p)
	}
}

// Addresses are found wherever a form contains them, so that a check needs no list of its own.
func TestURLs_FindsAddressesAtAnyDepth(t *testing.T) {
	t.Parallel()
	list := []param.Param{
		param.Optional("link", param.Link), param.Optional("text", param.Text(100)),
		param.Optional("credentials", param.OpenFields(param.Optional("base", param.Link), param.Optional("inner", param.Fields(param.Required("host", param.Link))))),
		param.Optional("services", param.List(param.Link)), param.Optional("named", param.MapOf(param.Fields(param.Optional("at", param.List(param.Link))))),
	}
	values := value(t, `{"link":"https://a","text":"https://no","credentials":{"base":"https://b","other":"https://no","inner":{"host":"https://c"}},
		"services":["https://d","https://e"],"named":{"x":{"at":["https://f"]},"y":{}}}`).(map[string]any)
	var got []string
	param.URLs(list, values, func(path, url string) { got = append(got, path+" "+url) })
	want := []string{"link https://a", "credentials.base https://b", "credentials.inner.host https://c", "services[0] https://d", "services[1] https://e", "named.x.at[0] https://f"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	param.URLs(list, map[string]any{"link": 7.0, "credentials": "x", "services": map[string]any{}}, func(path, url string) { t.Errorf("%s: %s", path, url) })
	for i, calls := range []bool{true, false, true, true, true} {
		if list[i].CallsService() != calls {
			t.Errorf("%s: calls %v", list[i].Name, !calls)
		}
	}
}
