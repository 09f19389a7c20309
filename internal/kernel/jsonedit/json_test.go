package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

const chat = `{ "model" : "gpt-4o-mini",
  "messages": [ {"role":"developer","content":"Answer in one word.","name":"rules"}, {"role": "user", "content": "Grüße aus Köln \ud83d\ude00", "name":"ann"} ],
  "temperature": 0.20, "stream":true, "metadata":{"user":"u-1","team":"blue"}, "stop": [ ] }
`

func scan(t testing.TB, body string) *jsonedit.Doc {
	t.Helper()
	var d jsonedit.Doc
	if err := jsonedit.Scan([]byte(body), &d); err != nil {
		t.Fatalf("Scan(%s): %v", body, err)
	}
	return &d
}

func TestScanRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct{ name, body, message, param string }{
		{"nothing", "", "the body is empty; send a JSON object", ""},
		{"blanks", " \n", "the body is empty; send a JSON object", ""},
		{"a byte order mark", "\xef\xbb\xbf{}", "a byte order mark; send it without one", ""},
		{"an array", `[{"model":"m"}]`, "must be a JSON object", ""},
		{"a cut text", `{"model":"gpt`, "unexpected end of JSON at byte 13", ""},
		{"text behind", `{"model":"m"} x`, "unexpected data after the object at byte 14", ""},
		{"a trailing comma", `{"model":"m",}`, "expected a member name in double quotes at byte 13", ""},
		{"two colons", `{"model"::1}`, "expected a value at byte 9", ""},
		{"a wrong bracket", `{"stop":["a"}`, "expected ',' or closing bracket at byte 12", ""},
		{"a leading zero", `{"n":01}`, "expected ',' or closing bracket at byte 6", ""},
		{"a bare word", `{"n":nul}`, "unknown literal at byte 8", ""},
		{"a control byte", "{\"a\":\"b\tc\"}", "control character in a string at byte 7", ""},
		{"no UTF-8", "{\"a\":\"\xff\"}", "invalid UTF-8 in a string at byte 6", ""},
		{"an unknown escape", `{"a":"\x41"}`, "unknown escape sequence at byte 7", ""},
		{"a short escape", `{"a":"\u12g4"}`, "a wrong \\u escape at byte 10", ""},
		{"deep nesting", deep, "nested deeper than 64 levels", ""},
		{"a second model", `{"model":"a","n":1,"model":"b"}`, "duplicate field model at byte 19", "model"},
		{"an escaped second model", `{"model":"a","mod\u0065l":"b"}`, "duplicate field model", "model"},
		{"a second model in capitals", `{"model":"a","Model":"b"}`, "duplicate field model", "model"},
		{"a second list of models", `{"models":["a"],"models":["b"]}`, "duplicate field models", "models"},
		{"a second price tier", `{"service_tier":"flex","service_tier":"priority"}`, "duplicate field service_tier", "service_tier"},
		{"a second number of choices", `{"best_of":1,"BEST_OF":20}`, "duplicate field best_of", "best_of"},
		{"a second long name, escaped", `{"document_annotation_format":1,"document_annotation_form\u0061t":null}`, "duplicate field document_annotation_format", "document_annotation_format"},
		{"a second token limit with a Kelvin sign", "{\"max_tokens\":1,\"max_to\u212aens\":9}", "duplicate field max_tokens", "max_tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d jsonedit.Doc
			err := jsonedit.Scan([]byte(c.body), &d)
			f := fault.From(err)
			if err == nil || f.Code != fault.InvalidRequest || !strings.Contains(f.Public, c.message) || f.Param != c.param {
				t.Fatalf("got %v (param %q), want %s saying %q with param %q", err, f.Param, fault.InvalidRequest, c.message, c.param)
			}
			if d.Has("model") {
				t.Fatal("a refused text can still be read")
			}
		})
	}
}

func TestScanDepthLimitIsInclusive(t *testing.T) {
	t.Parallel()
	scan(t, strings.Repeat(`{"a":`, 64)+"1"+strings.Repeat("}", 64))
	scan(t, `{"a":`+strings.Repeat("[", 63)+strings.Repeat("]", 63)+"}")
}

func TestDocReads(t *testing.T) {
	t.Parallel()
	d := scan(t, chat)
	if v, ok := d.String("model"); !ok || v != "gpt-4o-mini" {
		t.Errorf("model = %q, %v", v, ok)
	}
	if v, ok := d.Bool("stream"); !ok || !v {
		t.Errorf("stream = %v, %v", v, ok)
	}
	if raw, ok := d.Raw("temperature"); !ok || string(raw) != "0.20" {
		t.Errorf("temperature = %s, %v", raw, ok)
	}
	if _, ok := d.Int("temperature"); ok {
		t.Error("0.20 was read as a whole number")
	}
	if d.Has("top_p") {
		t.Error("top_p is not there")
	}
	e := scan(t, `{"mod\u0065l":"a\/b\n\ud83d\ude00\ud800","max_tokens":512,"temperature":1,"temperature":2}`)
	if v, _ := e.String("model"); v != "a/b\n😀\uFFFD" {
		t.Errorf("escaped model = %q", v)
	}
	if v, ok := e.Int("max_tokens"); !ok || v != 512 {
		t.Errorf("max_tokens = %d, %v", v, ok)
	}
	if raw, _ := e.Raw("temperature"); string(raw) != "2" {
		t.Errorf("of two temperatures %s was read, readers take the last", raw)
	}
}

// A scalar is what encoding/json makes of it; containers are none.
func TestScalar(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`"a\u00e9\n"`, `""`, "true", "false", "null", "0", "-0.5e3", "12345678901234567890", "1e999", "{}", `{"a":1}`, "[]", `["a"]`} {
		var want any
		decodes := json.Unmarshal([]byte(raw), &want) == nil && raw[0] != '{' && raw[0] != '['
		if got, ok := scan(t, `{"x": `+raw+` }`).Scalar("x"); ok != decodes || ok && got != want {
			t.Errorf("%s is read as %v, %v, want %v, %v", raw, got, ok, want, decodes)
		}
	}
	if _, ok := scan(t, `{}`).Scalar("x"); ok {
		t.Error("what is not there is read")
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	type edits = []jsonedit.Edit
	raw := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name, input string
		edits       edits
		want        string
	}{
		{"nothing", ` {"a":1} `, nil, ` {"a":1} `},
		{"set keeps all but the value", `{ "model" : "a" , "n":1 }`, edits{jsonedit.Set("model", raw(`"b"`))}, `{ "model" : "b" , "n":1 }`},
		{"set adds at the end", `{ "n":1 }`, edits{jsonedit.Set("model", raw(`"b"`))}, `{ "n":1,"model":"b" }`},
		{"set on an empty object", ` { } `, edits{jsonedit.Set("a", raw(`1`)), jsonedit.Set("b", raw(`2`))}, ` {"a":1,"b":2 } `},
		{"set on twins keeps the last", `{"t":1,"a":0,"t":2}`, edits{jsonedit.Set("t", raw(`3`))}, `{"a":0,"t":3}`},
		{"set through an escaped name", `{"mod\u0065l":"a"}`, edits{jsonedit.Set("model", raw(`"b"`))}, `{"mod\u0065l":"b"}`},
		{"set takes a dot as a name", `{"a":{"b":1}}`, edits{jsonedit.Set("a.b", raw(`2`))}, `{"a":{"b":1},"a.b":2}`},
		{"default of what is there", `{"t":null}`, edits{jsonedit.SetDefault("t", raw(`1`))}, `{"t":null}`},
		{"default of what is missing", `{}`, edits{jsonedit.SetDefault("t", raw(`1`)), jsonedit.SetDefault("t", raw(`2`))}, `{"t":1}`},
		{"path into an object", `{"stream_options": {"a" : 1 } }`, edits{jsonedit.SetPath("stream_options.include_usage", raw("true"))}, `{"stream_options": {"a" : 1,"include_usage":true } }`},
		{"path made", `{"a":1}`, edits{jsonedit.SetPath("b.c.d", raw("true"))}, `{"a":1,"b":{"c":{"d":true}}}`},
		{"path over a null", `{"b":null}`, edits{jsonedit.SetPath("b.c", raw("2"))}, `{"b":{"c":2}}`},
		{"path through twins, the last of which has it", `{"a":{"b":2},"a":{"b":1},"x":{"a":0,"a":{"b":1}}}`, edits{jsonedit.SetPath("a.b", raw("1")), jsonedit.SetPath("x.a.b", raw("1"))}, `{"a":{"b":1},"x":{"a":{"b":1}}}`},
		{"path with an index", `{"b":[1]}`, edits{jsonedit.SetPath("b[0]", raw("2")), jsonedit.SetPath("c.d[0]", raw("2"))}, `{"b":[1]}`},
		{"drop the first", `{ "a":1, "b":2 }`, edits{jsonedit.Drop("a")}, `{ "b":2 }`},
		{"drop the middle", `{"a":1 , "b":2 , "c":3}`, edits{jsonedit.Drop("b")}, `{"a":1 , "c":3}`},
		{"drop the last", `{"a":1 , "b":2 }`, edits{jsonedit.Drop("b")}, `{"a":1 }`},
		{"drop all", `{ "a":1, "b":2 }`, edits{jsonedit.Drop("a"), jsonedit.Drop("b")}, `{  }`},
		{"drop and add", `{"a":1}`, edits{jsonedit.Drop("a"), jsonedit.Set("a", raw("2"))}, `{"a":2}`},
		{"drop nested", `{"metadata":{"user":"u","team":"t"}}`, edits{jsonedit.Drop("metadata.user")}, `{"metadata":{"team":"t"}}`},
		{"drop in every element", `{"messages":[ {"name":"a","role":"user"}, {"role":"x"} ]}`, edits{jsonedit.Drop("messages[*].name")}, `{"messages":[ {"role":"user"}, {"role":"x"} ]}`},
		{"drop one element", `{"stop":["a", "b", "c"]}`, edits{jsonedit.Drop("stop[1]")}, `{"stop":["a", "c"]}`},
		{"drop all elements", `{"stop":["a", "b"]}`, edits{jsonedit.Drop("stop[*]")}, `{"stop":[]}`},
		{"drop deep", `{"a":[[{"b":1,"c":2}]]}`, edits{jsonedit.Drop("a[*][0].b")}, `{"a":[[{"c":2}]]}`},
		{"drop what is not there", `{"a":{"b":1}}`, edits{jsonedit.Drop("x"), jsonedit.Drop("a.c"), jsonedit.Drop("a.b.c"), jsonedit.Drop("a[0]"), jsonedit.Drop("b[*].c")}, `{"a":{"b":1}}`},
		{"drop what is no path", `{"a":{"b":1},"":2}`, edits{jsonedit.Drop(""), jsonedit.Drop("a..b"), jsonedit.Drop("a["), jsonedit.Drop("a[-1]"), jsonedit.Drop("."), jsonedit.Drop("a.")}, `{"a":{"b":1},"":2}`},
		{"rename", `{"max_completion_tokens" : 5}`, edits{jsonedit.Rename("max_completion_tokens", "max_tokens")}, `{"max_tokens" : 5}`},
		{"rename to a taken name", `{"a":1,"b":2}`, edits{jsonedit.Rename("a", "b")}, `{"b":2}`},
		{"rename of twins keeps the last", `{"a":1,"c":0,"\u0061":2}`, edits{jsonedit.Rename("a", "b")}, `{"c":0,"b":2}`},
		{"rename of twins to a taken name", `{"a":1,"b":2,"a":3}`, edits{jsonedit.Rename("a", "b")}, `{"b":2}`},
		{"rename to the same name", `{"a":1,"a":2}`, edits{jsonedit.Rename("a", "a")}, `{"a":1,"a":2}`},
		{"rename of twins nested", `{"d":[{"a":1,"a":2}]}`, edits{jsonedit.Rename("d[*].a", "b")}, `{"d":[{"b":2}]}`},
		{"rename nested", `{"data":[{"image":"x"},{"image":"y"}]}`, edits{jsonedit.Rename("data[*].image", "b64_json")}, `{"data":[{"b64_json":"x"},{"b64_json":"y"}]}`},
		{"rename what was set", `{}`, edits{jsonedit.Set("a", raw("1")), jsonedit.Rename("a", "b"), jsonedit.Set("b", raw("2"))}, `{"b":2}`},
		{"replace", `{"messages":[{"role": "developer"},{"role":"user"}]}`, edits{jsonedit.Replace("messages[*].role", map[string]string{`"developer"`: `"system"`})}, `{"messages":[{"role": "system"},{"role":"user"}]}`},
		{"two edits below one member", `{"a":{"b":1,"c":2}}`, edits{jsonedit.Drop("a.b"), jsonedit.SetPath("a.d", raw("3"))}, `{"a":{"c":2,"d":3}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := scan(t, c.input)
			if got := string(d.Apply(c.edits)); got != c.want {
				t.Errorf("Apply\n got %s\nwant %s", got, c.want)
			}
			if got := string(d.AppendApply([]byte("x"), c.edits)); got != "x"+c.want {
				t.Errorf("AppendApply\n got %s\nwant x%s", got, c.want)
			}
		})
	}
}

func TestApplyReturnsTheTextItselfWhenNothingChanges(t *testing.T) {
	t.Parallel()
	d := scan(t, chat)
	out := d.Apply([]jsonedit.Edit{jsonedit.Set("model", []byte(`"gpt-4o-mini"`)), jsonedit.Drop("nope")})
	if &out[0] != &d.Source()[0] {
		t.Error("an unchanged text was copied")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	body := []byte(` {"id":"x","us\u0061ge":{"total_tokens":7},"choices":[1, {"a":2}], broken`)
	if raw, ok := jsonedit.Find(body, "usage", "total_tokens"); !ok || string(raw) != "7" {
		t.Errorf("usage.total_tokens = %s, %v", raw, ok)
	}
	if raw, ok := jsonedit.Find(body, "behind"); ok {
		t.Errorf("found %s behind broken JSON", raw)
	}
	var got []string
	list, _ := jsonedit.Find(body, "choices")
	for v := range jsonedit.Elements(list) {
		got = append(got, string(v))
	}
	if strings.Join(got, "|") != `1|{"a":2}` {
		t.Errorf("elements = %q", got)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "gpt-4o", `a"b\c`, "ü😀", "tab\t\x00\u2028", "<&>"} {
		var decoded string
		if err := json.Unmarshal(jsonedit.Quote(s), &decoded); err != nil || decoded != s {
			t.Errorf("Quote(%q) = %s reads back as %q, %v", s, jsonedit.Quote(s), decoded, err)
		}
		if v, ok := jsonedit.Unquote(jsonedit.Quote(s)); !ok || v != s {
			t.Errorf("Unquote(Quote(%q)) = %q, %v", s, v, ok)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{chat, `{"a":[1,-0.5e+7,true,null,{"b":"\u00e4\n"}]}`, `{"a":"` + strings.Repeat("x", 20) + "\xc3\"}", `{"model":1,"Model":2}`, "{", `{"a":1]`, `{"a":[}`, `{"":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d jsonedit.Doc
		err := jsonedit.Scan(b, &d)
		f := fault.From(err)
		hasDuplicates := err != nil && f.Param != ""
		deep := err != nil && strings.Contains(f.Public, "nested deeper")
		object := bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
		if want := json.Valid(b) && utf8.Valid(b) && object; want != (err == nil || hasDuplicates || deep) {
			t.Fatalf("Scan(%q) = %v, a strict reader accepts: %v", b, err, want)
		}
		if jsonedit.Valid(b) != (err == nil || hasDuplicates) {
			t.Fatalf("Valid(%q) = %v, Scan says %v", b, jsonedit.Valid(b), err)
		}
	})
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`[{"type":"web_search"}]`: true, `[{"type":"web_se\u0061rch"}]`: true, `"\u0073\u0065\u0061\u0072\u0063\u0068"`: true, `{"Search":1}`: false,
		`"\\u0073earch"`: false, `["sear","ch"]`: false, `"\ud83dsearch"`: true, `[]`: false, ``: false, `1`: false, `"\u`: false,
	} {
		if got := jsonedit.ContainsText([]byte(raw), "search"); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}
