package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/kernel/jsonedit"
)

// tree is a JSON value together with every byte between its parts, on which edits are done
// in the plainest way there is.
type tree struct {
	raw  string // of what is no container
	open string // "{" or "["
	lead string // white space behind the opening bracket
	kids []kid
	tail string // white space in front of the closing bracket
}

type kid struct {
	comma string // with the white space around it; counts unless it is the first
	name  string // decoded
	key   string // as it is written, with its colon and the white space around that
	val   *tree
}

func (t *tree) text(b *strings.Builder) {
	b.WriteString(t.raw + t.open)
	if t.open == "" {
		return
	}
	b.WriteString(t.lead)
	for i, k := range t.kids {
		if i > 0 {
			b.WriteString(k.comma)
		}
		b.WriteString(k.key)
		k.val.text(b)
	}
	b.WriteString(t.tail + string(t.open[0]+2))
}

func (t *tree) String() string {
	var b strings.Builder
	t.text(&b)
	return b.String()
}

var (
	spaces    = rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "})
	spellings = map[string][]string{
		"a": {`"a"`, `"\u0061"`}, "b": {`"b"`, `"\u0062"`}, "ü": {`"ü"`, `"\u00fc"`, `"\u00FC"`}, "😀": {`"😀"`, `"\ud83d\ude00"`},
		"a.b": {`"a.b"`}, "": {`""`}, `"`: {`"\""`, `"\u0022"`},
	}
	spelled = []string{"a", "a", "b", "b", "ü", "😀", "a.b", "", `"`}
	values  = []string{"1", `"x"`, "-0.10E+02", `"},{"`}
	scalars = []string{"1", "1", "2", "null", "true", "-0.10E+02", "123456789012345678901234567890.5", `"x"`, `"\ud800"`, `"},{\"a\":1"`, `"\u0061\\"`, `"ü😀"`, `""`}
)

func drawTree(t *rapid.T, depth int) *tree {
	open := rapid.SampledFrom([]string{"", "{", "[", "{"}).Draw(t, "kind")
	if depth == 0 {
		open = "{"
	}
	if depth > 4 || open == "" {
		return &tree{raw: rapid.SampledFrom(scalars).Draw(t, "scalar")}
	}
	made := &tree{open: open, lead: spaces.Draw(t, "lead")}
	for range rapid.IntRange(0, 4).Draw(t, "kids") {
		k := kid{comma: spaces.Draw(t, "before") + "," + spaces.Draw(t, "behind")}
		if open == "{" {
			k.name = rapid.SampledFrom(spelled).Draw(t, "name")
			k.key = rapid.SampledFrom(spellings[k.name]).Draw(t, "spelling") + spaces.Draw(t, "colon") + ":" + spaces.Draw(t, "value")
		}
		k.val = drawTree(t, depth+1)
		made.kids = append(made.kids, k)
	}
	made.tail = spaces.Draw(t, "tail")
	if len(made.kids) == 0 {
		made.lead = "" // what is added goes behind the bracket
	}
	return made
}

// step is a part of a path: the name of a member, or which element, -1 for all of them.
type step struct {
	name  string
	index int
}

func drawPath(t *rapid.T) (path string, steps []step) {
	for n := range rapid.IntRange(1, 4).Draw(t, "steps") {
		if n > 0 && rapid.Bool().Draw(t, "element") {
			index := rapid.IntRange(-1, 2).Draw(t, "at")
			steps = append(steps, step{index: index})
			path += "[" + strings.Replace(strconv.Itoa(index), "-1", "*", 1) + "]"
			continue
		}
		name := rapid.SampledFrom([]string{"a", "a", "b", "ü", "😀", `"`}).Draw(t, "name")
		steps = append(steps, step{name: name})
		path += "." + name
	}
	return path[1:], steps
}

func (s step) selects(t *tree, i int) bool {
	if s.name == "" {
		return t.open == "[" && (s.index < 0 || s.index == i)
	}
	return t.open == "{" && t.kids[i].name == s.name
}

// drop takes out the kids that are said.
func (t *tree) drop(out func(i int) bool) {
	remaining := t.kids[:0:0]
	for i := range t.kids {
		if !out(i) {
			remaining = append(remaining, t.kids[i])
		}
	}
	t.kids = remaining
	if len(remaining) == 0 {
		t.lead, t.tail = "", t.lead+t.tail
	}
}

// each does something to the container and the last step of a path, wherever it leads.
func (t *tree) each(steps []step, do func(t *tree, last step)) {
	if len(steps) == 1 {
		do(t, steps[0])
		return
	}
	for i := range t.kids {
		if steps[0].selects(t, i) {
			t.kids[i].val.each(steps[1:], do)
		}
	}
}

func (t *tree) last(name string) int {
	for i := len(t.kids) - 1; i >= 0; i-- {
		if t.kids[i].name == name {
			return i
		}
	}
	return -1
}

// single is the last member of that name, alone; a new one behind the others if there is none.
func (t *tree) single(name string) *kid {
	last := t.last(name)
	if last < 0 {
		t.kids = append(t.kids, kid{comma: ",", name: name, key: string(jsonedit.Quote(name)) + ":", val: &tree{raw: "null"}})
		return &t.kids[len(t.kids)-1]
	}
	t.drop(func(i int) bool { return i != last && t.kids[i].name == name })
	return &t.kids[t.last(name)]
}

func (t *tree) rename(name, to string) {
	last, taken := t.last(name), t.last(to) >= 0
	if name == to || last < 0 {
		return
	}
	if k := &t.kids[last]; !taken {
		k.key = string(jsonedit.Quote(to)) + strings.TrimPrefix(k.key, k.key[:strings.LastIndexByte(k.key, '"')+1])
		k.name = to
	}
	t.drop(func(i int) bool { return t.kids[i].name == name })
}

// drawEdit draws an edit and does it on the tree.
func drawEdit(t *rapid.T, node *tree) jsonedit.Edit {
	path, steps := drawPath(t)
	value := rapid.SampledFrom(values).Draw(t, "value")
	name := steps[0].name
	switch rapid.IntRange(0, 5).Draw(t, "op") {
	case 0:
		node.single(name).val = &tree{raw: value}
		return jsonedit.Set(name, []byte(value))
	case 1:
		if node.last(name) < 0 {
			node.single(name).val = &tree{raw: value}
		}
		return jsonedit.SetDefault(name, []byte(value))
	case 2:
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == "" }) {
			node.setPath(steps, value)
		}
		return jsonedit.SetPath(path, []byte(value))
	case 3:
		node.each(steps, func(t *tree, last step) { t.drop(func(i int) bool { return last.selects(t, i) }) })
		return jsonedit.Drop(path)
	case 4:
		to := rapid.SampledFrom(spelled).Draw(t, "to")
		node.each(steps, func(t *tree, last step) {
			if t.open == "{" && last.name != "" {
				t.rename(last.name, to)
			}
		})
		return jsonedit.Rename(path, to)
	default:
		swap := map[string]string{"1": value, `"x"`: "{}", "[]": "2"}
		node.each(steps, func(t *tree, last step) {
			for i := range t.kids {
				if to, ok := swap[t.kids[i].val.String()]; ok && last.selects(t, i) {
					t.kids[i].val = parsed(to)
				}
			}
		})
		return jsonedit.Replace(path, swap)
	}
}

// parsed is the tree of a scalar or of an empty container.
func parsed(raw string) *tree {
	if raw == "{}" || raw == "[]" {
		return &tree{open: raw[:1]}
	}
	return &tree{raw: raw}
}

func (t *tree) setPath(steps []step, value string) {
	for _, s := range steps {
		if t.open != "{" {
			*t = tree{open: "{"}
		}
		t = t.single(s.name).val
	}
	*t = tree{raw: value}
}

// Whatever is edited, at whatever depth: what comes out is the text with that edit made on
// its parts, and every other byte of it is as it was.
func TestEditsAreThoseOfTheTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawTree(t, 0)
		text := want.String()
		begin, edits := text, []jsonedit.Edit(nil)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			before := text
			e := drawEdit(t, want)
			edits = append(edits, e)
			if text = string(scanned(t, before).Apply([]jsonedit.Edit{e})); text != want.String() {
				t.Fatalf("%+v\n of   %s\n made %s\n want %s", e, before, text, want)
			}
		}
		if got := scanned(t, begin).Apply(edits); compact(t, string(got)) != compact(t, text) {
			t.Fatalf("at once they made %s\none by one %s", got, text)
		}
	})
}

// Of many paths each drops what it selects in the object as it came.
func TestDropAllIsThatOfTheTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawTree(t, 0)
		text := want.String()
		selected := map[*tree]map[int]bool{}
		paths := []string{"", "[0]", "a..b", "b["} // select nothing
		for range rapid.IntRange(0, 5).Draw(t, "paths") {
			path, steps := drawPath(t)
			paths = append(paths, path)
			want.each(steps, func(node *tree, last step) {
				for i := range node.kids {
					if last.selects(node, i) {
						if selected[node] == nil {
							selected[node] = map[int]bool{}
						}
						selected[node][i] = true
					}
				}
			})
		}
		for node, kids := range selected {
			node.drop(func(i int) bool { return kids[i] })
		}
		if got := string(scanned(t, text).Apply([]jsonedit.Edit{jsonedit.DropAll(paths)})); got != want.String() {
			t.Fatalf("%q\n of   %s\n made %s\n want %s", paths, text, got, want)
		}
	})
}

func compact(t *rapid.T, text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
