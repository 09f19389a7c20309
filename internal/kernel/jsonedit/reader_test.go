package jsonedit_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/jsonedit"
)

// decode reads a value as encoding/json does.
func decode(t *rapid.T, r *jsonedit.Reader) any {
	switch r.Kind() {
	case '{':
		m := map[string]any{}
		for name := range r.Members() {
			m[string(name)] = decode(t, r)
		}
		return m
	case '[':
		list := []any{}
		for k := range r.Elements() {
			if k != len(list) {
				t.Fatalf("element %d came as number %d", len(list), k)
			}
			list = append(list, decode(t, r))
		}
		return list
	}
	var v any
	raw := r.Raw()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

// A Reader reads what encoding/json reads.
func TestReaderReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, want := object(t)
		r := jsonedit.NewReader([]byte(text))
		if got := decode(t, &r); !reflect.DeepEqual(got, any(want)) {
			t.Fatalf("%s came as %v", text, got)
		}
		if !r.IsComplete() {
			t.Fatalf("%s was not read to its end", text)
		}
	})
}

func TestReaderPassesOver(t *testing.T) {
	t.Parallel()
	r := jsonedit.NewReader([]byte(` {"a":{"b":[1,2]} , "n":null,"li\u0073t":[ {"x":1}, 2 ,[]], "e":{}} `))
	var got []string
	for name := range r.Members() {
		if r.Null() {
			continue
		}
		got = append(got, string(name))
		if string(name) == "list" {
			from := r.Mark()
			for k := range r.Elements() {
				if k == 1 {
					got = append(got, string(r.Raw()))
				}
			}
			got = append(got, string(r.Since(from)))
		}
	}
	if want := []string{"a", "list", "2", `[ {"x":1}, 2 ,[]]`, "e"}; !reflect.DeepEqual(got, want) || !r.IsComplete() {
		t.Errorf("got %q, whole %v; want %q", got, r.IsComplete(), want)
	}
}

// A value is passed over as a whole if it is the one that is known, and else not at all.
func TestReaderSame(t *testing.T) {
	t.Parallel()
	for known, want := range map[string]bool{`[1,"a"]`: true, `[1, "a"]`: false, `[1,"b"]`: false, "": false} {
		r := jsonedit.NewReader([]byte(`{"a":[1,"a"],"b":2}`))
		var got []string
		for name := range r.Members() {
			if same := string(name) == "a" && r.Same([]byte(known)); string(name) == "a" && same != want {
				t.Errorf("%s: same %v", known, same)
			}
			got = append(got, string(name))
		}
		if !slices.Equal(got, []string{"a", "b"}) || !r.IsComplete() {
			t.Errorf("%s: read %q, whole %v", known, got, r.IsComplete())
		}
	}
}

// What is no JSON, and a loop that is left, end the reading.
func TestReaderEnds(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "{", `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1]`, `{a:1}`, `{"a":1}}`, `{"a":nul}`, `{"a":[1}`, `{"a":[1,]}`} {
		r := jsonedit.NewReader([]byte(text))
		for range r.Members() {
			if !r.Null() {
				for range r.Elements() {
					r.Raw()
				}
			}
		}
		if r.IsComplete() {
			t.Errorf("%q passes for whole", text)
		}
	}
	r := jsonedit.NewReader([]byte(`{"a":[1,2,3],"b":1}`))
	names := 0
	for range r.Members() {
		names++
		for range r.Elements() {
			break
		}
	}
	if names != 1 || r.IsComplete() || r.Kind() != 0 || r.Raw() != nil {
		t.Errorf("%d names were read after a loop was left", names)
	}
}

func TestQuoteLooksAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"\"", "\\", "\n", "\x00", "\x1f", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xff", "ü", "\u2028", "😀"} {
		for before := range 20 {
			for _, after := range []int{0, 1, 7, 31} {
				s := strings.Repeat("x", before) + odd + strings.Repeat("y", after)
				var decoded string
				if err := json.Unmarshal(jsonedit.Quote(s), &decoded); err != nil || decoded != strings.ToValidUTF8(s, "\uFFFD") {
					t.Fatalf("%q came back as %q: %v", s, decoded, err)
				}
				if got, ok := jsonedit.Unquote(jsonedit.Quote(s)); !ok || got != decoded {
					t.Fatalf("%q came back as %q", s, got)
				}
			}
		}
	}
}
