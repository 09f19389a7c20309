package jsonedit_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/jsonedit"
)

func TestAt(t *testing.T) {
	t.Parallel()
	const body = `{"a":1,"list":[{"n":"x","in":[{"n":2}]},{"o":3},5,{"n":null}],"deep":{"a":{"b":[1,2]}},"\u0061":4}`
	for path, want := range map[string]string{
		"a":               "a=1 a=4",
		"b":               "",
		"list[*].n":       `list[0].n="x" list[3].n=null`,
		"list[1].o":       "list[1].o=3",
		"list[*].in[*].n": "list[0].in[0].n=2",
		"list[2]":         "list[2]=5",
		"list.n":          "",
		"deep.a.b[*]":     "deep.a.b[0]=1 deep.a.b[1]=2",
		"deep[*]":         "",
		"deep..a":         "",
		"[0]":             "",
		"":                "",
	} {
		var d jsonedit.Doc
		if err := jsonedit.Scan([]byte(body), &d); err != nil {
			t.Fatal(err)
		}
		var got []string
		d.EachValue(path, func(location string, raw []byte) { got = append(got, location+"="+string(raw)) })
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", path, s, want)
		}
		gone := string(d.Apply([]jsonedit.Edit{jsonedit.Drop(path)})) // selects the same
		if (gone == body) != (want == "") {
			t.Errorf("%s: drop makes %s", path, gone)
		}
	}
}
