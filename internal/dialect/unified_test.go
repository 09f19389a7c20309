package dialect_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func TestFieldsNamesWhatNobodyTook(t *testing.T) {
	t.Parallel()
	tally := fields.Track([]byte(`{"model":"m","stream":true,"top_p":0.5,"gone":null,"n":1,"user":"u","stop":"x"}`))
	var w jsonwriter.Writer
	w.Open('{')
	fields.WriteParams(&w, tally, []fields.Rename{{Path: "top_p", To: "p"}, {Path: "absent", To: "a"}})
	stop, _ := tally.Consume("stop")
	w.List("stops", stop)
	w.Close('}')
	if got := string(w.B); got != `{"p":0.5,"stops":["x"]}` {
		t.Errorf("wrote %s", got)
	}
	if got := tally.Dropped(); !slices.Equal(got, []string{"user"}) {
		t.Errorf("lost %q", got)
	}
}

func TestEmbedItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, want string // the texts and images
		param      string
	}{
		{`{"input":"a"}`, `"a"`, ""},
		{`{"input":["a",{"text":"b"}]}`, `"a" "b"`, ""},
		{`{"input":[{"image":{"base64":"eA=="}}]}`, `{"base64":"eA=="}`, ""},
		{`{"input":{"text":"b"}}`, `"b"`, ""},
		{`{}`, "", "input"},
		{`{"input":3}`, "", "input"},
		{`{"input":["a",[1,2]]}`, "", "input[1]"},
		{`{"input":[1,2]}`, "", "input[0]"},
	} {
		items, err := embeddings.ReadItems(fields.Track([]byte(c.body)))
		var got []string
		for _, it := range items {
			got = append(got, string(it.Text)+string(it.Image))
		}
		if f := fault.From(err); err != nil && f.Param != c.param || err == nil && (c.param != "" || strings.Join(got, " ") != c.want) {
			t.Errorf("%s: %q, %v", c.body, got, err)
		}
	}
	if _, err := embeddings.ReadTexts(fields.Track([]byte(`{"input":["a",{"image":{}}]}`))); fault.From(err).Param != "input[1].image" {
		t.Errorf("an image among texts: %v", err)
	}
}

func TestEmbeddingsAnswer(t *testing.T) {
	t.Parallel()
	e := embeddings.Result{Model: "m", Vectors: [][]byte{[]byte(`[1, -0.5]`), []byte(`"AAAA"`)}, Usage: llm.Usage{InputTokens: 2, TotalTokens: 2}}
	const tail = `],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}`
	for _, c := range []struct {
		base64 bool
		first  string
	}{
		{false, `[1, -0.5]`},
		{true, `"` + base64.StdEncoding.EncodeToString([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf}) + `"`},
	} {
		e.Base64 = c.base64
		a, err := e.BuildResponse()
		want := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":` + c.first + `},{"object":"embedding","index":1,"embedding":"AAAA"}` + tail
		if err != nil || string(a.Body) != want {
			t.Errorf("base64 %v: %v\n%s\n%s", c.base64, err, a.Body, want)
		}
	}
	for _, v := range []string{``, `{}`, `["x"]`} {
		e := embeddings.Result{Vectors: [][]byte{[]byte(v)}, Base64: true}
		if _, err := e.BuildResponse(); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{`{"prompt":"a\nb"}`: "a\nb", `{"prompt":["x"]}`: "x"} {
		if got, err := dialect.Prompt(fields.Track([]byte(body))); err != nil || got != want {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
	for _, body := range []string{`{}`, `{"prompt":["a","b"]}`, `{"prompt":[1,2]}`, `{"prompt":[]}`, `{"prompt":7}`} {
		if got, err := dialect.Prompt(fields.Track([]byte(body))); fault.From(err).Param != "prompt" {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	c := &llm.Call{
		Surface: llm.ChatComplete,
		Messages: []llm.Message{
			{Role: llm.RoleUser, Name: "ann", Parts: []llm.Part{
				{Text: "a", Cache: &llm.Cache{}}, {Kind: llm.ReasoningPart, Index: 1, Text: "t"}, {Text: "b", Index: 2, Citations: []byte(`[]`)},
			}},
			{Role: llm.RoleUser, Index: 1, Parts: []llm.Part{{Kind: llm.ImagePart}}},
		},
		Tools:  []llm.Tool{{Type: llm.Function, Name: "f"}},
		Choice: llm.ToolChoice{Mode: "required", From: "tool_choice"},
		Format: &llm.Format{Type: "json_object", From: "response_format"},
	}
	tally := llm.NewTally(c)
	text, err := conversation.PlainText(tally, c, &c.Messages[0])
	if text != "a\nb" || err != nil {
		t.Errorf("text %q, %v", text, err)
	}
	if _, err := conversation.PlainText(tally, c, &c.Messages[1]); fault.From(err).Param != "messages[1].content[0]" {
		t.Errorf("an image: %v", err)
	}
	conversation.DropTools(tally, c)
	conversation.DropFormat(tally, c)
	want := []string{"messages[0].name", "messages[0].content[0].cache_control", "messages[0].content[1]", "messages[0].content[2].citations", "tools[0]", "tool_choice", "response_format"}
	if got := tally.Dropped(); !slices.Equal(got, want) {
		t.Errorf("lost %q, want %q", got, want)
	}
	quiet := &llm.Call{Choice: llm.ToolChoice{Mode: "none", From: "tool_choice"}, Format: &llm.Format{Type: "text", From: "response_format"}}
	tally = llm.NewTally(quiet)
	conversation.DropTools(tally, quiet)
	conversation.DropFormat(tally, quiet)
	if got := tally.Dropped(); len(got) > 0 {
		t.Errorf("lost %q of what says nothing", got)
	}
}
