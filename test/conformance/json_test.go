package conformance

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/test/upstream"
)

// member is a member of an object as it stands in a text.
type member struct {
	before string // the comma in front of it with white space; nothing for the first
	name   string // raw, with quotes and escapes
	colon  string // with white space
	value  string // raw
	plain  string // the name as it is meant
}

// object is an object as it stands in a text.
type object struct {
	open, close string // with white space
	members     []member
}

func (o object) String() string {
	var b strings.Builder
	b.WriteString(o.open)
	for _, m := range o.members {
		b.WriteString(m.before + m.name + m.colon + m.value)
	}
	return b.String() + o.close
}

// with is the object with a member set: in its place, or added at the end.
func (o object) with(name, value string) object {
	o.members = slices.Clone(o.members)
	for i := range o.members {
		if o.members[i].plain == name {
			o.members[i].value = value
			return o
		}
	}
	comma := ","
	if len(o.members) == 0 {
		comma = ""
	}
	o.members = append(o.members, member{before: comma, name: `"` + name + `"`, colon: ":", value: value, plain: name})
	return o
}

// without is the object without a member and without the comma in front of it, or
// behind it when it was the first.
func (o object) without(name string) object {
	o.members = slices.DeleteFunc(slices.Clone(o.members), func(m member) bool { return m.plain == name })
	if len(o.members) > 0 {
		o.members[0].before = ""
	}
	return o
}

func (o object) has(name string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.plain == name })
}

// The pieces of which bodies are made.
var (
	space  = rapid.StringMatching(`[ \t\n\r]{0,3}`)
	number = rapid.SampledFrom(strings.Fields(`0 -0 1.0 1e5 1E-400 0.10 -12.5e+003 9007199254740993 123456789012345678901234567890`))
	text   = rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(letter, 0, 6).Draw(t, "letters"), "") + `"`
	})
	letter  = rapid.SampledFrom([]string{`a`, ` `, `é`, `漢`, `😀`, `\u00e9`, `\uD83D\uDE00`, `\n`, `\/`, `/`, `\"`, `\\`, `{`, `}`, `,`, `:`, `\u0000`, "\u2028", `<`})
	names   = strings.Fields(`x_unknown modelx temperature_ tools top_k stop n vendor messages2 _ 1`)
	escaped = map[string]string{"model": `"m\u006fdel"`, "user": `"\u0075ser"`, "temperature": `"temperatur\u0065"`, "messages": `"\u006Dessages"`}
)

// value draws a raw value of some depth.
func value(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind == 0:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		case kind <= 2 || depth == 0:
			return number.Draw(t, "number")
		case kind <= 4:
			return text.Draw(t, "text")
		case kind == 5:
			items := rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "items")
			return "[" + space.Draw(t, "space") + strings.Join(items, space.Draw(t, "space")+","+space.Draw(t, "space")) + space.Draw(t, "space") + "]"
		}
		return objectOf(rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "names"), depth-1).Draw(t, "object").String()
	})
}

// objectOf draws an object that has these members.
func objectOf(names []string, depth int) *rapid.Generator[object] {
	return rapid.Custom(func(t *rapid.T) object {
		o := object{open: "{" + space.Draw(t, "space"), close: space.Draw(t, "space") + "}"}
		for i, n := range names {
			m := member{name: `"` + n + `"`, colon: space.Draw(t, "space") + ":" + space.Draw(t, "space"), value: value(depth).Draw(t, "value"), plain: n}
			if e := escaped[n]; e != "" && rapid.Bool().Draw(t, "escaped") {
				m.name = e
			}
			if i > 0 {
				m.before = space.Draw(t, "space") + "," + space.Draw(t, "space")
			}
			o.members = append(o.members, m)
		}
		return o
	})
}

// chatBody draws the body of a chat: in any order what the config of TestSplice
// changes, what it leaves alone, and what a chat must have.
var chatBody = rapid.Custom(func(t *rapid.T) object {
	all := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"temperature", "user", "top_p", "metadata"}, names...)), 0, 8, rapid.ID).Draw(t, "names")
	o := objectOf(rapid.Permutation(append(all, "model", "messages")).Draw(t, "order"), 3).Draw(t, "body")
	o = o.with("model", `"gpt-4o"`).with("messages", `[ {"role":"developer", "content":"\u00e9" } ]`)
	if o.has("metadata") {
		inner := rapid.SampledFrom([][]string{{}, {"kept"}, {"internal"}, {"internal", "kept"}, {"a", "internal", "b"}}).Draw(t, "metadata")
		o = o.with("metadata", objectOf(inner, 1).Draw(t, "metadata").String())
	}
	return o
})

// splicing is a config that does everything that can be done to a body.
const splicing = `{"provider":"openai","api_key":"key-of-openai","override_params":{"model":"gpt-4.1-mini","temperature":0.5},` +
	`"default_params":{"top_p":0.9},"drop_params":["user","vendor"]}`

// TestSplice sends bodies of odd form through a typed route whose config changes the
// model and overrides, adds and drops parameters: every other byte stays.
func TestSplice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script(upstream.Always(upstream.JSON(200, map[string]any{"object": "chat.completion", "choices": []any{}})))
	rapid.Check(t, func(rt *rapid.T) {
		r.t = rt
		lead, trail := space.Draw(rt, "space"), space.Draw(rt, "space")
		o := chatBody.Draw(rt, "body")
		want := o
		if !o.has("top_p") {
			want = want.with("top_p", "0.9")
		}
		want = want.with("model", `"gpt-4.1-mini"`).with("temperature", "0.5").without("user").without("vendor")
		got := r.sent(chat(splicing, lead+o.String()+trail))
		if got != lead+want.String()+trail {
			rt.Fatalf("sent %s\n got %s\nwant %s", lead+o.String()+trail, got, lead+want.String()+trail)
		}
	})
}

// TestNoSplice sends the same bodies where nothing has to be changed.
func TestNoSplice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script(upstream.Always(upstream.JSON(200, map[string]any{"object": "chat.completion", "choices": []any{}})))
	rapid.Check(t, func(rt *rapid.T) {
		r.t = rt
		body := space.Draw(rt, "space") + chatBody.Draw(rt, "body").String() + space.Draw(rt, "space")
		if got := r.sent(chat(`{"provider":"openai","api_key":"key-of-openai"}`, body)); got != body {
			rt.Fatalf("sent %s\n got %s", body, got)
		}
	})
}

// chat is a request with an inline config.
func chat(config, body string) message {
	m := message{first: "POST /v1/chat/completions", body: body}
	m.header.Add("x-gateway-api-key", gatewayKey)
	m.header.Add("x-gateway-config", config)
	m.header.Add("content-type", "application/json")
	return m
}

// sent is the body that the provider received of a request that must be answered.
func (r *rig) sent(m message) string {
	r.t.Helper()
	before := r.up.Total()
	a := r.call(m)
	seen := r.up.Seen()
	if a.first != "200" || r.up.Total() != before+1 {
		r.t.Fatalf("%s to\n%s\nanswered %s %s", m.first, m.body, a.first, a.body)
	}
	return string(seen[len(seen)-1].Body)
}
