package marks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/promptcache/marks"
)

// conversation is a prompt that grows from call to call.
type conversation struct {
	head     string // members before the messages
	messages []string
}

// call is the body after n messages.
func (c conversation) call(n int) string {
	return c.head + `"messages":[` + strings.Join(c.messages[:n], ",") + `]}`
}

func drawConversation(t *rapid.T) conversation {
	mark := func() string {
		return rapid.SampledFrom([]string{"", "", "", "," + five, "," + hour}).Draw(t, "mark")
	}
	text := rapid.StringMatching(`[a-z ]{0,12}`)
	block := func() string {
		typ := rapid.SampledFrom([]string{"text", "tool_result", "thinking"}).Draw(t, "type")
		return fmt.Sprintf(`{"type":%q,"text":%q%s}`, typ, text.Draw(t, "text"), mark())
	}
	content := func() string {
		if rapid.Bool().Draw(t, "string") {
			return fmt.Sprintf("%q", text.Draw(t, "text"))
		}
		var blocks []string
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			blocks = append(blocks, block())
		}
		return "[" + strings.Join(blocks, " , ") + "]"
	}
	c := conversation{head: `{"model":"m","tools":[{"name":"a"` + mark() + `}],"system":` + content() + ","}
	for i := range rapid.IntRange(2, 12).Draw(t, "messages") {
		role := []string{"user", "assistant"}[i%2]
		c.messages = append(c.messages, fmt.Sprintf(`{"role":%q,"content":%s}`, role, content()))
	}
	return c
}

var oneText = regexp.MustCompile(`\[\{"type":"text","text":("[^"]*")\}\]`)

// unmarked removes all marks and writes a list of one text as a string, as providers read it.
func unmarked(body []byte) string {
	s := string(body)
	for _, m := range []string{hour, five} {
		s = strings.ReplaceAll(s, ","+m, "")
	}
	return oneText.ReplaceAllString(s, "$1")
}

func TestPlace_TheStablePrefixStaysEqualFromCallToCall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawConversation(t)
		long := rapid.Bool().Draw(t, "hour")
		before := ""
		for n := 1; n <= len(c.messages); n++ {
			body := c.call(n)
			got := marks.Place([]byte(body), messages, long)
			plain := unmarked(got.Body)
			if want := unmarked([]byte(body)); plain != want {
				t.Fatalf("more than marks changed:\n got %s\nwant %s", plain, want)
			}
			if !strings.HasPrefix(plain, before) {
				t.Fatalf("call %d begins differently:\n got %s\nwant %s…", n, plain, before)
			}
			before = strings.TrimSuffix(plain, "]}")
		}
	})
}

func TestPlace_ObeysTheLimitsOfMarks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawConversation(t)
		body := []byte(c.call(len(c.messages)))
		before := strings.Count(string(body), `"ephemeral"`)
		got := marks.Place(body, messages, rapid.Bool().Draw(t, "hour"))
		if !json.Valid(got.Body) {
			t.Fatalf("invalid: %s", got.Body)
		}
		n := strings.Count(string(got.Body), `"ephemeral"`)
		if n != got.Marks || n != before+len(got.Paths) || n > max(before, marks.MaxMarks) {
			t.Fatalf("got %d marks after %d, reported %d at %q", n, before, got.Marks, got.Paths)
		}
		if ordered(lifetimesOf(body)) && !ordered(lifetimesOf(got.Body)) {
			t.Fatalf("an hour follows five minutes: %s", got.Body)
		}
	})
}

// A turn that is marked now is marked in the next call too, so that the provider finds it however
// many blocks follow.
func TestPlace_TheNextCallReadsTheMarkedTurn(t *testing.T) {
	t.Parallel()
	body := func(turns int) []byte {
		var list []string
		for i := range turns {
			list = append(list, fmt.Sprintf(`{"role":"user","content":"q%d"}`, i), fmt.Sprintf(`{"role":"assistant","content":"a%d"}`, i))
		}
		return []byte(`{"messages":[` + strings.Join(list, ",") + `]}`)
	}
	last := ""
	for turns := 1; turns < 9; turns++ {
		got := marks.Place(body(turns), messages, false)
		if last != "" && !slices.Contains(got.Paths, last) {
			t.Errorf("call %d marks %q, want %s among them", turns, got.Paths, last)
		}
		last = got.Paths[len(got.Paths)-1]
	}
}

func FuzzPlaceAndDrop(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a"}],"system":[{"type":"text","text":"s",`+five+`}],"messages":[{"role":"user","content":"q"}]}`), uint8(0))
	f.Add([]byte(` {"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"q"}]}]} `), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, form uint8) {
		rules := marks.Rules{Form: marks.Form(form % 3), Tools: true, ToolTurns: true, Hour: true}
		before := bytes.Clone(body)
		got := marks.Place(body, rules, form > 127)
		if json.Valid(body) && !json.Valid(got.Body) {
			t.Errorf("invalid: %s", got.Body)
		}
		rest, _ := marks.Drop(got.Body, rules.Form)
		if json.Valid(body) && !json.Valid(rest) {
			t.Errorf("invalid after Drop: %s", rest)
		}
		if !bytes.Equal(before, body) {
			t.Error("the input changed")
		}
	})
}

func ordered(list []string) bool { return !strings.Contains(strings.Join(list, ""), "5m1h") }

func lifetimesOf(body []byte) []string { return lifetimes(quiet{}, body) }

// quiet is the part of testing.TB that lifetimes uses, for properties.
type quiet struct{ testing.TB }

func (quiet) Helper() {}
