package toolcalls

import (
	"encoding/json"
	"testing"

	"sluice/internal/kernel/llm"
)

// read gives a call's arguments in two pieces to the tool that takes free text, as a stream
// does.
func readText(t *FreeTextTools, name string, deltas ...string) (text string) {
	put := func(ev *llm.Event) {
		if ev.Kind == llm.EventArguments {
			text += ev.Text
		}
	}
	t.Event(&llm.Event{Kind: llm.EventBlock, Part: llm.CallPart, Block: 3, Name: name}, put)
	for _, p := range deltas {
		t.Event(&llm.Event{Kind: llm.EventArguments, Part: llm.CallPart, Block: 3, Text: p}, put)
	}
	t.Event(&llm.Event{Kind: llm.EventBlockEnd, Part: llm.CallPart, Block: 3}, put)
	return text
}

// The one argument of a function is the text, wherever a provider cuts its JSON. What a
// model says in another form is the text as it is.
func TestFreeTextComesBack(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal("*** Begin\n+\"h\\u00e9\" \t/ \U0001F600 \x01 é")
	if err != nil {
		t.Fatal(err)
	}
	var plain string
	if err := json.Unmarshal(quoted, &plain); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"input":` + string(quoted) + `}`:            plain,
		" {\n \"input\" :\t" + string(quoted) + " } ": plain,
		`{"input":"\u00e9\ud83d\ude00\/\b"}`:          "é\U0001F600/\b",
		`{"input":"\ud83dx\ud83d\n"}`:                 "\uFFFDx\uFFFD\n",
		`{"input":""}`:                                "",
		`{"input":"cut in the midd`:                   "cut in the midd",
		`{"patch":"x"}`:                               `{"patch":"x"}`,
		`{"input":{"a":1}}`:                           `{"input":{"a":1}}`,
		`*** Begin Patch`:                             `*** Begin Patch`,
		`{"inp`:                                       `{"inp`,
		``:                                            ``,
	} {
		_, texts := AsFunctions(&llm.Call{Tools: []llm.Tool{{Type: llm.Custom, Name: "patch", Raw: []byte(`{}`)}}})
		for cut := range len(arguments) + 1 {
			if got := readText(texts, "patch", arguments[:cut], arguments[cut:]); got != want {
				t.Fatalf("%q cut at %d is %q, want %q", arguments, cut, got, want)
			}
		}
		var deltas []string
		for i := range len(arguments) {
			deltas = append(deltas, arguments[i:i+1])
		}
		if got := readText(texts, "patch", deltas...); got != want {
			t.Errorf("%q byte by byte is %q, want %q", arguments, got, want)
		}
		r := &llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.ToolCall{Name: "patch", Arguments: arguments}}}}}}
		texts.RewriteResponse(r)
		if call := r.Choices[0].Parts[0].Call; call.Arguments != want || !call.Custom {
			t.Errorf("%q is %+v, want %q", arguments, call, want)
		}
		if got := readText(texts, "other", arguments); got != arguments {
			t.Errorf("a function's arguments %q became %q", arguments, got)
		}
	}
}

// Tools of free text go as functions that tell what is to be said, and what was said before
// goes with them; the caller's call stays as it is.
func TestFreeTextAsFunctions(t *testing.T) {
	t.Parallel()
	c := &llm.Call{
		Tools: []llm.Tool{
			{Type: llm.Function, Name: "f"},
			{Type: llm.Custom, Name: "patch", Raw: []byte(`{"type":"custom","custom":{"name":"patch","description":"Edits.","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}}}`)},
		},
		Choice:   llm.ToolChoice{Mode: "opaque", Raw: []byte(`{"type":"custom","name":"patch"}`)},
		Messages: []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "patch", Arguments: "a\n\"b\"", Custom: true}}}}},
	}
	out, _ := AsFunctions(c)
	f, call := out.Tools[1], out.Messages[0].Parts[0].Call
	if f.Type != llm.Function || f.Description != "Edits.\n\ninput follows this grammar (lark):\nstart: x" || !json.Valid(f.Schema) {
		t.Errorf("%+v", f)
	}
	if call.Custom || call.Arguments != `{"input":"a\n\"b\""}` || out.Choice.Mode != "tool" || out.Choice.Name != "patch" {
		t.Errorf("%+v %+v", call, out.Choice)
	}
	if c.Tools[1].Type != llm.Custom || !c.Messages[0].Parts[0].Call.Custom || c.Choice.Mode != "opaque" {
		t.Errorf("the call itself became %+v", c)
	}
	if same, texts := AsFunctions(&llm.Call{Tools: c.Tools[:1]}); texts != nil || same.Tools[0].Name != "f" {
		t.Errorf("%+v %+v", same, texts)
	}
}
