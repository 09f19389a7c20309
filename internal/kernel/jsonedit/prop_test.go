package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/jsonedit"
)

var names = []string{"model", "messages", "temperature", "top_p", "stop", "metadata", "a b", "ü", `q"`, "max_tokens"}

// object draws a JSON object as somebody might have typed it, with white space
// anywhere, and returns its members in order.
func object(t *rapid.T) (text string, members map[string]any) {
	members = map[string]any{}
	space := rapid.SampledFrom([]string{"", "", " ", "\n  ", "\t"})
	var b strings.Builder
	b.WriteString(space.Draw(t, "lead") + "{" + space.Draw(t, "in"))
	for k, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 6, rapid.ID[string]).Draw(t, "names") {
		if k > 0 {
			b.WriteString("," + space.Draw(t, "sep"))
		}
		raw := rapid.SampledFrom([]string{`"gpt-4o"`, "0.70", "null", "true", "-1E2", `[ "a", {"x": 1, "y":2} ]`, `{"user" : "u", "team":"t"}`, `[]`, `{ }`, `"\ud83d\ude00 \n"`}).Draw(t, "value")
		key, _ := json.Marshal(name)
		b.WriteString(string(key) + space.Draw(t, "colon") + ":" + space.Draw(t, "val") + raw + space.Draw(t, "after"))
		var v any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		members[name] = v
	}
	return b.String() + "}" + space.Draw(t, "tail"), members
}

// change draws an edit and makes the same change on the decoded members.
func change(t *rapid.T, m map[string]any) jsonedit.Edit {
	name := rapid.SampledFrom(names).Draw(t, "name")
	switch rapid.IntRange(0, 5).Draw(t, "op") {
	case 0:
		m[name] = 12.5
		return jsonedit.Set(name, []byte("12.5"))
	case 1:
		if _, ok := m[name]; !ok {
			m[name] = []any{"x"}
		}
		return jsonedit.SetDefault(name, []byte(`["x"]`))
	case 2:
		delete(m, name)
		return jsonedit.Drop(name)
	case 3:
		to := rapid.SampledFrom(names).Draw(t, "to")
		if v, ok := m[name]; ok && to != name {
			if _, taken := m[to]; !taken {
				m[to] = v
			}
			delete(m, name)
		}
		return jsonedit.Rename(name, to)
	case 4:
		if inner, ok := m[name].(map[string]any); ok {
			delete(inner, "user")
		}
		return jsonedit.Drop(name + ".user")
	default:
		inner, ok := m[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			m[name] = inner
		}
		inner["user"] = true
		return jsonedit.SetPath(name+".user", []byte("true"))
	}
}

func TestApplyIsTheSameChangeAsOnTheDecodedObject(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, want := object(t)
		var edits []jsonedit.Edit
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			edits = append(edits, change(t, want))
		}
		var d jsonedit.Doc
		if err := jsonedit.Scan([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		out := d.Apply(edits)
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nbecame %s (%v)\nwant %v", text, out, err, want)
		}
		if err := jsonedit.Scan(bytes.Clone(out), &d); err != nil {
			t.Fatalf("the result cannot be scanned: %v", err)
		}
	})
}

func TestSetLeavesEveryOtherByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, members := object(t)
		var d jsonedit.Doc
		if err := jsonedit.Scan([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			raw, _ := d.Raw(name)
			base := strings.Index(text, string(raw))
			if strings.Count(text, string(raw)) != 1 {
				continue
			}
			want := text[:base] + `"new"` + text[base+len(raw):]
			if got := string(d.Apply([]jsonedit.Edit{jsonedit.Set(name, []byte(`"new"`))})); got != want {
				t.Fatalf("set %q in %s\n got %s\nwant %s", name, text, got, want)
			}
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(chat), "messages[*].name", "model")
	f.Add([]byte(`{"a":[[1],{"b":2}],"a":3}`), "a[0][0]", "a")
	f.Add([]byte(`{}`), "x.y", "x.y")
	f.Add([]byte(`{"a":1, "a" : {"b":2 , "b":3} ,"\u0061":1,"c":0}`), "a", "c")
	f.Add([]byte(`{ "c":{"a":1, "a":1 }, "b":1}`), "c.a", "b")
	f.Fuzz(func(t *testing.T, b []byte, path, key string) {
		var d jsonedit.Doc
		if jsonedit.Scan(b, &d) != nil {
			return
		}
		for _, e := range []jsonedit.Edit{
			jsonedit.Set(key, []byte("1")), jsonedit.SetDefault(key, []byte("[]")), jsonedit.SetPath(path, []byte("{}")),
			jsonedit.Drop(path), jsonedit.DropAll([]string{path, key, "a[*].b"}), jsonedit.Rename(path, key), jsonedit.Replace(path, map[string]string{"1": "2"}),
		} {
			out := d.Apply([]jsonedit.Edit{e})
			if !json.Valid(out) {
				t.Fatalf("%+v made %q of %q", e, out, b)
			}
			if got := d.AppendApply(nil, []jsonedit.Edit{e}); !bytes.Equal(got, out) {
				t.Fatalf("AppendApply gives %q, Apply %q", got, out)
			}
		}
		sameBelow(t, &d, path, key)
	})
}

// sameBelow fails when an edit makes something else of an object that is a member, or an
// element of a list in one: below the top level they are made by other code.
func sameBelow(t *testing.T, d *jsonedit.Doc, path, key string) {
	t.Helper()
	object := bytes.Trim(d.Source(), " \t\r\n")
	edits := func(base string) []jsonedit.Edit {
		return []jsonedit.Edit{
			jsonedit.Drop(base + path), jsonedit.Rename(base+path, key), jsonedit.Replace(base+path, map[string]string{"1": "2", "{}": "[]"}),
			jsonedit.SetPath(base+path, []byte("{}")), jsonedit.DropAll([]string{base + path}),
		}
	}
	for base, wrapped := range map[string]string{"x.": `{"x":%s}`, "x[*].": `{"x":[0, %s]}`} {
		var nested jsonedit.Doc
		if path == "" || path[0] == '[' || jsonedit.Scan(fmt.Appendf(nil, wrapped, object), &nested) != nil {
			continue // another path, or nested too deep
		}
		for k, e := range edits("") {
			if strings.Contains(base, "[") && k == 3 {
				continue // no path of SetPath has an index
			}
			want := fmt.Sprintf(wrapped, bytes.Trim(d.Apply([]jsonedit.Edit{e}), " \t\r\n"))
			if got := nested.Apply([]jsonedit.Edit{edits(base)[k]}); string(got) != want {
				t.Fatalf("%+v makes %q below, want %q", e, got, want)
			}
		}
	}
}

func body(size int) []byte {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", size/45+1)[:size]
	return fmt.Appendf(nil, `{"model":"gpt-4o-mini","messages":[{"role":"system","content":"You are terse."},{"role":"user","content":%q}],"temperature":0.2,"max_tokens":256,"stream":false,"user":"u-4711","metadata":{"team":"blue"}}`, text)
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []int{500, 10000} {
		input := body(size)
		b.Run(fmt.Sprint(len(input)), func(b *testing.B) {
			var d jsonedit.Doc
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			for b.Loop() {
				if err := jsonedit.Scan(input, &d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApplyModel(b *testing.B) {
	edits := []jsonedit.Edit{jsonedit.Set("model", []byte(`"gpt-4o"`))}
	for _, size := range []int{500, 10000} {
		input := body(size)
		b.Run(fmt.Sprint(len(input)), func(b *testing.B) {
			var d jsonedit.Doc
			if err := jsonedit.Scan(input, &d); err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = d.AppendApply(buf[:0], edits)
			}
		})
	}
}

func BenchmarkDrop(b *testing.B) {
	input := fmt.Appendf(nil, `{"model":"gpt-4o","messages":[%s{}]}`, strings.Repeat(`{"role":"user","content":"`+strings.Repeat("x", 50)+`"},`, 10_000))
	for _, n := range []int{1, 256} {
		var each []jsonedit.Edit
		var paths []string
		for i := range n {
			paths = append(paths, fmt.Sprintf("messages[*].x%d", i))
			each = append(each, jsonedit.Drop(paths[i]))
		}
		for name, edits := range map[string][]jsonedit.Edit{"each": each, "all": {jsonedit.DropAll(paths)}} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				var d jsonedit.Doc
				if err := jsonedit.Scan(input, &d); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(input)))
				b.ReportAllocs()
				for b.Loop() {
					d.Apply(edits)
				}
			})
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	input := body(500)
	edits := []jsonedit.Edit{jsonedit.Set("model", []byte(`"gpt-4o"`))}
	var d jsonedit.Doc
	var buf []byte
	if n := testing.AllocsPerRun(200, func() {
		if err := jsonedit.Scan(input, &d); err != nil {
			t.Fatal(err)
		}
		buf = d.AppendApply(buf[:0], edits)
		if _, ok := d.Raw("metadata"); !ok {
			t.Fatal("no metadata")
		}
		if _, ok := jsonedit.Find(input, "metadata", "team"); !ok {
			t.Fatal("no team")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
