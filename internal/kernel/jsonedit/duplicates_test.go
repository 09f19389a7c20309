package jsonedit_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/jsonedit"
)

// drawDuplicates draws an object in which names repeat, some of them escaped.
func drawDuplicates(t *rapid.T) string {
	spellings := map[string][]string{"a": {"a", `\u0061`}, "b": {"b", `\u0062`}, "c": {"c"}}
	var b strings.Builder
	for k := range rapid.IntRange(0, 8).Draw(t, "members") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + rapid.SampledFrom(spellings[name]).Draw(t, "spelling") + `":` + string(rune('0'+k)))
	}
	return "{" + b.String() + "}"
}

// members are the names of an object, decoded, and its values as readers see them that
// take the last of twins.
func members(t *rapid.T, text []byte) (names []string, values map[string]any) {
	for name := range jsonedit.Members(text) {
		s, _ := jsonedit.Unquote(name)
		names = append(names, s)
	}
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return names, values
}

// Who takes the last of twins reads in a changed object what was meant, and who takes the
// first does as well, because none are left of what was changed. So it is at the top level
// and below.
func TestEditsOfTwinsKeepTheLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDuplicates(t)
		_, want := members(t, []byte(text))
		var edit, deep jsonedit.Edit
		op := rapid.SampledFrom([]string{"rename", "set", "drop"}).Draw(t, "op")
		switch op {
		case "rename":
			edit, deep = jsonedit.Rename("a", "b"), jsonedit.Rename("x.a", "b")
			if _, taken := want["b"]; !taken && want["a"] != nil {
				want["b"] = want["a"]
			}
			delete(want, "a")
		case "set":
			edit, deep = jsonedit.Set("a", []byte("9")), jsonedit.SetPath("x.a", []byte("9"))
			want["a"] = 9.0
		case "drop":
			edit, deep = jsonedit.Drop("a"), jsonedit.Drop("x.a")
			delete(want, "a")
		}
		out := scanned(t, text).Apply([]jsonedit.Edit{edit})
		names, got := members(t, out)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %s made %s", op, text, out)
		}
		if n := strings.Count(strings.Join(names, ""), "a"); n > 1 {
			t.Fatalf("%s of %s left twins: %s", op, text, out)
		}
		if nested := scanned(t, `{"x":`+text+`}`).Apply([]jsonedit.Edit{deep}); string(nested) != `{"x":`+string(out)+`}` {
			t.Fatalf("%s of %s made %s, below the top level %s", op, text, out, nested)
		}
	})
}

func scanned(t *rapid.T, text string) *jsonedit.Doc {
	var d jsonedit.Doc
	if err := jsonedit.Scan([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// An edit looks at each member a fixed number of times. Where it looked at all of them for
// each of many twins, one of these bodies took minutes.
func TestManyTwinsAreNoWork(t *testing.T) {
	t.Parallel()
	many := func(name string, n int) string {
		return "{" + strings.Repeat(`"`+name+`":0,`, n) + `"` + name + `":1}`
	}
	const deep = 200_000
	for _, c := range []struct {
		name, input string
		edit        jsonedit.Edit
		want        string
	}{
		{"rename at the top", many(`\u0061`, jsonedit.MaxMembers-1), jsonedit.Rename("a", "b"), `{"b":1}`},
		{"rename below", `{"x":` + many(`\u0061`, deep) + `}`, jsonedit.Rename("x.a", "b"), `{"x":{"b":1}}`},
		{"rename to a taken name below", `{"x":{"b":2,` + many(`\u0061`, deep)[1:] + `}`, jsonedit.Rename("x.a", "b"), `{"x":{"b":2}}`},
		{"rename in a list", `{"x":[` + many(`\u0061`, deep) + `]}`, jsonedit.Rename("x[*].a", "b"), `{"x":[{"b":1}]}`},
		{"drop below", `{"x":` + many(`\u0061`, deep) + `}`, jsonedit.Drop("x.a"), `{"x":{}}`},
		{"set below", `{"x":` + many(`\u0061`, deep) + `}`, jsonedit.SetPath("x.a", []byte("2")), `{"x":{"a":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := string(scan(t, c.input).Apply([]jsonedit.Edit{c.edit}))
			if got := strings.ReplaceAll(out, `\u0061`, "a"); got != c.want {
				t.Errorf("made %.200s, want %s", got, c.want)
			}
		})
	}
}

// Nor does what lies below the top level take memory for being many: neither to look at
// nor to change one of them.
func TestManyElementsTakeNoMemory(t *testing.T) {
	list := `{"x":[` + strings.Repeat("0,", 1<<20) + `{"a":1}]}`
	object := `{"x":{` + strings.Repeat(`"":0,`, 1<<19) + `"a":1}}`
	for _, c := range []struct {
		name, input string
		edit        jsonedit.Edit
		maxFactor   int // times the text
	}{
		{"nothing to replace", list, jsonedit.Replace("x[*].a", map[string]string{"2": "3"}), 0},
		{"replace", list, jsonedit.Replace("x[*].a", map[string]string{"1": "3"}), 3},
		{"drop all", list, jsonedit.Drop("x[*]"), 3},
		{"rename", object, jsonedit.Rename("x.a", "b"), 3},
		{"set", object, jsonedit.SetPath("x.b", []byte("1")), 3},
	} {
		var before, after runtime.MemStats
		d := scan(t, c.input)
		runtime.ReadMemStats(&before)
		d.Apply([]jsonedit.Edit{c.edit})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(c.maxFactor*len(c.input)+1<<16) {
			t.Errorf("%s: %d bytes took %d", c.name, len(c.input), n)
		}
	}
}

// What is put in goes in once, however many twins there are: else a small body with many
// could be made one that fills the memory.
func TestTwinsDoNotMultiplyWhatIsSet(t *testing.T) {
	t.Parallel()
	large := `"` + strings.Repeat("x", 64<<10) + `"`
	for name, c := range map[string]struct {
		input string
		edit  jsonedit.Edit
	}{
		"set":      {`{` + strings.Repeat(`"a":0,`, 10_000) + `"a":1}`, jsonedit.Set("a", []byte(large))},
		"set path": {`{` + strings.Repeat(`"a":0,`, 10_000) + `"a":{"b":` + large + `}}`, jsonedit.SetPath("a.c", []byte("1"))},
	} {
		if out := scan(t, c.input).Apply([]jsonedit.Edit{c.edit}); len(out) > len(large)+100 {
			t.Errorf("%s: %d bytes became %d", name, len(c.input), len(out))
		}
	}
}

// A name that is much longer than the one that is looked for is not decoded for it.
func TestNamesAreComparedWithoutAllocation(t *testing.T) {
	long := `"` + strings.Repeat(`\u0061`, 100_000) + `"`
	d := scan(t, `{"\u0061":1,`+long+`:2}`)
	var found bool
	if n := testing.AllocsPerRun(20, func() { found = d.Has("a") && !d.Has("b") }); n != 0 || !found {
		t.Errorf("%v allocations, found %v", n, found)
	}
	if !d.Has(strings.Repeat("a", 100_000)) {
		t.Error("a name of escapes alone was not found")
	}
}
