package passage_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/llm"
)

// replaceAll replaces each text that equals a key of texts.
func replaceAll(b *passage.Body, texts map[string]string) {
	for i, p := range b.Passages() {
		if to, ok := texts[p.Text]; ok {
			b.Replace(i, to)
		}
	}
}

func TestBytes_ReplacesOnlyTheText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shape, body, want string }{
		{"white space, numbers and escapes elsewhere stay", "chatComplete",
			`{ "messages" : [ {"content":"x" , "role":"user"},{"role":"user","content":"\u00e9\/\ud800"} ],"n":1e3}`,
			`{ "messages" : [ {"content":"new \"y\"\n" , "role":"user"},{"role":"user","content":"\u00e9\/\ud800"} ],"n":1e3}`},
		{"arguments are escaped twice and keep the rest", "chatComplete",
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":" {\"k\\u0065y\": \"x\", \"\ud83d\ude00\":\"\u00e9\", \"\/\":[\"x\",1.0]} "}}]}]}`,
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":" {\"k\\u0065y\": \"new \\\"y\\\"\\n\", \"\ud83d\ude00\":\"\u00e9\", \"\/\":[\"new \\\"y\\\"\\n\",1.0]} "}}]}]}`},
		{"arguments that are a string", "createModelResponse",
			`{"input":[{"type":"function_call","call_id":"c","arguments":"\"x\""}]}`,
			`{"input":[{"type":"function_call","call_id":"c","arguments":"\"new \\\"y\\\"\\n\""}]}`},
		{"arguments that are not JSON", "chatComplete",
			`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"x"}}]}]}`,
			`{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"new \"y\"\n"}}]}]}`},
		{"input of tools", "messages",
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":["x"],"b":"x","c":true}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":["new \"y\"\n"],"b":"new \"y\"\n","c":true}}]}]}`},
		{"each duplicate", "chatComplete",
			`{"messages":[{"role":"user","content":"x","content":"x"}],"messages":[{"role":"user","content":"x"}]}`,
			`{"messages":[{"role":"user","content":"new \"y\"\n","content":"new \"y\"\n"}],"messages":[{"role":"user","content":"new \"y\"\n"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := passage.RequestShape(c.shape, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			replaceAll(b, map[string]string{"x": "new \"y\"\n"})
			if got := string(b.Bytes()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReplace_RemovesSignedBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shape, body, want string }{
		{"first block", "messages",
			`{"messages":[{"role":"assistant","content":[ {"type":"thinking","thinking":"x","signature":"s"} , {"type":"tool_use","id":"t","input":{}} ]}]}`,
			`{"messages":[{"role":"assistant","content":[ {"type":"tool_use","id":"t","input":{}} ]}]}`},
		{"last block", "messages",
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}, {"signature":"s","thinking":"x"}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`},
		{"only the block that matches", "messages",
			`{"messages":[{"role":"assistant","content":[{"thinking":"x","signature":"s"},{"thinking":"ok","signature":"s"},{"type":"redacted_thinking","data":"d"},{"thinking":"x","signature":"s"}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"thinking":"ok","signature":"s"},{"type":"redacted_thinking","data":"d"}]}]}`},
		{"blocks next to each other", "messages",
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"thinking":"x","signature":"s"},{"thinking":"x","signature":"s"}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`},
		{"only block of a message", "messages",
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"}]}]}`,
			`{"messages":[{"role":"user","content":"y"},{"role":"assistant","content":[{"type":"text","text":"[removed]"}]}]}`},
		{"reasoning item", "createModelResponse",
			`{"input":[{"role":"user","content":"q"},{"type":"reasoning","id":"rs_1","encrypted_content":"e","summary":[{"type":"summary_text","text":"x"}],"content":[{"type":"reasoning_text","text":"x"}]},{"type":"function_call","call_id":"c","arguments":"{}"}]}`,
			`{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","arguments":"{}"}]}`},
		{"only item", "createModelResponse",
			`{"input":[{"type":"reasoning","encrypted_content":"e","summary":[{"text":"x"}]}]}`,
			`{"input":[{"role":"assistant","content":"[removed]"}]}`},
		{"reasoning details of a message with tool calls", "chatComplete",
			`{"messages":[{"role":"assistant","content":null,"reasoning_details":[{"text":"x","signature":"s"}],"tool_calls":[{"id":"c"}]}]}`,
			`{"messages":[{"role":"assistant","content":null,"reasoning_details":[],"tool_calls":[{"id":"c"}]}]}`},
		{"reasoning details of a message with null content", "chatComplete",
			`{"messages":[{"role":"assistant","content":null,"reasoning_details":[{"text":"x","signature":"s"}]}]}`,
			`{"messages":[{"role":"assistant","content":"[removed]","reasoning_details":[]}]}`},
		{"reasoning details of a message without content", "chatComplete",
			`{"messages":[{"role":"assistant","reasoning_details":[{"text":"x","signature":"s"}],"thinking_blocks":[{"thinking":"x","signature":"s"}]}]}`,
			`{"messages":[{"content":"[removed]","role":"assistant","reasoning_details":[],"thinking_blocks":[]}]}`},
		{"Google", passage.Google,
			`{"contents":[{"role":"model","parts":[{"text":"x","thought":true,"thoughtSignature":"s"},{"functionCall":{"name":"f","args":{"a":"x"}},"thoughtSignature":"s"}]}]}`,
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":"y"}},"thoughtSignature":"s"}]}]}`},
		{"Bedrock", passage.Bedrock,
			`{"messages":[{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"x","signature":"s"}}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"text":"[removed]"}]}]}`},
		{"signed value outside of a list", "chatComplete",
			`{"messages":[{"role":"assistant","content":"a","reasoning":{"text":"x","signature":"s"}}]}`,
			`{"messages":[{"role":"assistant","content":"a","reasoning":null}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := passage.RequestShape(c.shape, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			replaceAll(b, map[string]string{"x": "y"})
			if got := string(b.Bytes()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReplace_IgnoresEqualTextsAndOtherPositions(t *testing.T) {
	t.Parallel()
	body := []byte(`{"messages":[{"role":"user","content":"\u0061"}]}`)
	b, err := passage.Request(llm.ChatComplete, body)
	if err != nil {
		t.Fatal(err)
	}
	b.Replace(0, "b")
	b.Replace(0, "a")
	b.Replace(-1, "b")
	b.Replace(1, "b")
	if got := b.Bytes(); &got[0] != &body[0] {
		t.Errorf("got %s, want the slice that was read", got)
	}
}

func TestReplace_ChangesPlainTexts(t *testing.T) {
	t.Parallel()
	b, err := passage.Response(llm.CreateTranscription, []byte("WEBVTT\n\nhi"))
	if err != nil {
		t.Fatal(err)
	}
	b.Replace(0, `a "b"`)
	if got, want := string(b.Bytes()), `a "b"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScope_SelectsMessages(t *testing.T) {
	t.Parallel()
	const (
		chat  = `{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"},{"type":"text","text":"v"}]},{"role":"assistant","content":"a"}]}`
		image = `{"messages":[{"role":"user","content":"u"},{"role":"user","content":[{"type":"image_url"}]}]}`
		twice = `{"messages":[{"role":"user","content":"u"},{"role":"user","content":"v"}],"messages":[{"role":"user","content":"w"}]}`
		words = `{"instructions":"i","input":"u"}`
		items = `{"instructions":"i","input":[{"role":"user","content":"u"},{"type":"function_call_output","output":"o"}]}`
	)
	for _, c := range []struct {
		ep                llm.Endpoint
		body, scope, want string
	}{
		{llm.ChatComplete, chat, "", "a"},
		{llm.ChatComplete, chat, passage.LastMessage, "a"},
		{llm.ChatComplete, chat, passage.LastUser, "u v"},
		{llm.ChatComplete, chat, passage.All, "s u v a"},
		{llm.ChatComplete, chat, "unknown", "s u v a"},
		{llm.ChatComplete, image, passage.LastMessage, ""},
		{llm.ChatComplete, image, passage.LastUser, "u"},
		{llm.ChatComplete, twice, passage.LastMessage, "u v w"},
		{llm.CreateModelResponse, words, passage.LastMessage, "u"},
		{llm.CreateModelResponse, words, passage.LastUser, "u"},
		{llm.CreateModelResponse, words, passage.All, "i u"},
		{llm.CreateModelResponse, items, passage.LastMessage, "o"},
		{llm.CreateModelResponse, items, passage.LastUser, "u"},
		{llm.Complete, `{"prompt":["a","b"]}`, passage.LastMessage, "a b"},
		{llm.Rerank, `{"query":"q","documents":["a"]}`, passage.LastMessage, "q a"},
		{llm.ChatComplete, `{"messages":[]}`, passage.LastUser, ""},
	} {
		b, err := passage.Request(c.ep, []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range b.Scope(c.scope) {
			got = append(got, b.Passages()[i].Text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s of %s: got %q, want %q", c.scope, c.body, s, c.want)
		}
	}
}

func TestScope_ContainsAllTextsOfAResponse(t *testing.T) {
	t.Parallel()
	b, err := passage.Response(llm.ChatComplete, []byte(`{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(b.Scope(passage.LastMessage)); got != 2 {
		t.Errorf("got %d passages, want 2", got)
	}
}

func TestRequest_BoundsPaths(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 1<<16)
	body := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":` + strings.Repeat(`{"`+name+`":`, 50) + `["a","b"]` + strings.Repeat("}", 50) + `}]}]}`
	b, err := passage.Request(llm.Messages, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.Passages() {
		if len(p.Path) > 1024 {
			t.Errorf("path of %d bytes, want at most 1024", len(p.Path))
		}
	}
	b.Replace(1, "c")
	if !json.Valid(b.Bytes()) {
		t.Error("the body is not valid JSON after a replacement")
	}
}
