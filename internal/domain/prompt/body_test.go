package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
)

const hello = `[{"role":"system","content":"You are {{who}}."},{"role":"user","content":[{"type":"text","text":"{{ask}}"},{"type":"image_url","image_url":{"url":"{{pic}}"}}]}]`

func TestBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version    prompt.Version
		call, want string
		text       bool
	}{
		"a chat": {
			version: prompt.Version{String: hello, Parameters: json.RawMessage(`{"temperature":0.2,"stream":true}`), Model: "gpt-4o"},
			call:    `{"variables":{"who":"a \"bot\"","ask":"line\nbreak","pic":"https://x.example/1.png"}}`,
			want:    `{"temperature":0.2,"model":"gpt-4o","messages":[{"role":"system","content":"You are a \"bot\"."},{"role":"user","content":[{"type":"text","text":"line\nbreak"},{"type":"image_url","image_url":{"url":"https://x.example/1.png"}}]}]}`,
		},
		"the call comes last": {
			version: prompt.Version{String: `[]`, Parameters: json.RawMessage(`{"temperature":0.2,"model":"old","top_p":1}`), Model: "gpt-4o", Tools: json.RawMessage(`[{"x":"{{as it is}}"}]`), ToolChoice: json.RawMessage(`"auto"`)},
			call:    `{"variables":{},"temperature":1,"model":"gpt-5","stream":true,"tool_choice":null,"hyperparameters":{"temperature":9,"top_p":0.5,"variables":1}}`,
			want:    `{"temperature":1,"model":"gpt-5","top_p":0.5,"tools":[{"x":"{{as it is}}"}],"messages":[],"stream":true}`,
		},
		"messages of the call": {
			version: prompt.Version{String: hello, Model: "gpt-4o"},
			call:    `{"variables":{},"messages":[{"role":"user","content":"{{ask}}"}]}`,
			want:    `{"model":"gpt-4o","messages":[{"role":"user","content":"{{ask}}"}]}`,
		},
		"messages that are null": {
			version: prompt.Version{String: `[{"role":"user","content":"{{ask}}"}]`},
			call:    `{"variables":{"ask":"x"},"messages":null,"prompt":null}`,
			want:    `{"messages":[{"role":"user","content":"x"}]}`,
		},
		"one limit of tokens": {
			version: prompt.Version{String: `[]`, Parameters: json.RawMessage(`{"max_tokens":10,"stream_options":{"include_usage":true}}`)},
			call:    `{"variables":{},"max_completion_tokens":20}`,
			want:    `{"messages":[],"max_completion_tokens":20}`,
		},
		"both limits when both are sent": {
			version: prompt.Version{String: `[]`, Parameters: json.RawMessage(`{"max_tokens":10}`)},
			call:    `{"variables":{},"max_completion_tokens":20,"max_tokens":5}`,
			want:    `{"max_tokens":5,"messages":[],"max_completion_tokens":20}`,
		},
		"stream options of a stream": {
			version: prompt.Version{String: `[]`, Parameters: json.RawMessage(`{"stream_options":{"include_usage":true}}`)},
			call:    `{"variables":{},"stream":true}`,
			want:    `{"stream_options":{"include_usage":true},"messages":[],"stream":true}`,
		},
		"a text": {
			version: prompt.Version{String: "Say {{x}}", Model: "davinci"}, text: true,
			call: `{"variables":{"x":"\"hi\""}}`, want: `{"model":"davinci","prompt":"Say \"hi\""}`,
		},
		"a text that looks like a chat": {
			version: prompt.Version{String: `[{"role":"user"}]`, Metadata: json.RawMessage(`{"template_type":"text"}`)}, text: true,
			call: `{"variables":{}}`, want: `{"prompt":"[{\"role\":\"user\"}]"}`,
		},
		"a list of texts is a text": {
			version: prompt.Version{String: `["a"]`}, text: true, call: `{"variables":{}}`, want: `{"prompt":"[\"a\"]"}`,
		},
		"messages for a text": {
			version: prompt.Version{String: "Say {{x}}"}, call: `{"variables":{},"messages":[]}`, want: `{"messages":[]}`,
		},
		"a raw chat": {
			version: prompt.Version{Raw: true, String: `[{"role":"user","content":[{{#pic}}{"type":"image_url","image_url":{"url":"{{pic}}"}},{{/pic}}{"type":"text","text":"{{ask}}"},]},{{{more}}}]`},
			call:    `{"variables":{"ask":"a\n\"b\"","more":{"role":"assistant","content":"c, ]"}}}`,
			want:    `{"messages":[{"role":"user","content":[{"type":"text","text":"a\n\"b\""}]},{"role":"assistant","content":"c, ]"}]}`,
		},
		"a partial in a raw chat": {
			version: prompt.Version{Raw: true, String: `[{"role":"user","content":"{{>lines}}"}]`},
			call:    `{"variables":{}}`, want: `{"messages":[{"role":"user","content":"one\n\"two\""}]}`,
		},
		"a raw object as text": {
			version: prompt.Version{Raw: true, String: `[{"role":"user","content":"{{o}}"}]`},
			call:    `{"variables":{"o":{"a":"b"}}}`, want: `{"messages":[{"role":"user","content":"{\"a\":\"b\"}"}]}`,
		},
		"escaped braces": {
			version: prompt.Version{String: `[{"role":"user","content":"\u007b{x}}","{{x}}":1}]`},
			call:    `{"variables":{"x":"y"}}`, want: `{"messages":[{"role":"user","content":"y","{{x}}":1}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := c.version.Compile()
			if err != nil {
				t.Fatal(err)
			}
			call, err := prompt.ReadCall([]byte(c.call))
			if err != nil {
				t.Fatal(err)
			}
			body, err := compiled.Body(call, partials)
			if err != nil {
				t.Fatal(err)
			}
			if string(body.JSON) != c.want || body.Chat == c.text {
				t.Errorf("got  %s\nwant %s, chat %v", body.JSON, c.want, body.Chat)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	chat := json.RawMessage(`{"template_type":"chat"}`)
	for name, v := range map[string]prompt.Version{
		"a slip in the JSON":        {String: `[{"role":"user",}]`, Metadata: chat},
		"a section over two texts":  {String: `[{"role":"{{#a}}","content":"{{/a}}"}]`},
		"a tag without end":         {String: "Hello {{name"},
		"a deep conversation":       {String: `[{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}]`},
		"a template beyond measure": {String: strings.Repeat("x", prompt.MaxTemplateBytes+1)},
	} {
		if _, err := v.Compile(); !fault.Has(err, fault.InvalidParameter) && !fault.Has(err, fault.InvalidRequest) || fault.From(err).Param != "string" {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := `{"a":1`
	for i := range prompt.MaxFields {
		many += `,"p` + string(rune('a'+i%26)) + strings.Repeat("q", i/26) + `":1`
	}
	v := prompt.Version{String: "x", Parameters: json.RawMessage(many + "}")}
	if _, err := v.Compile(); fault.From(err).Param != "parameters" {
		t.Errorf("many parameters: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	if _, err := prompt.ReadCall([]byte(`{"variables":[1]}`)); fault.From(err).Param != "variables" {
		t.Errorf("a list: %v", err)
	}
	call, err := prompt.ReadCall([]byte(`{}`))
	if err != nil || fault.From(call.NeedVariables()).Param != "variables" {
		t.Errorf("no variables: %v", err)
	}
	for name, text := range map[string]string{"cut": `[{"role":"user"`, "no objects": `[{{{x}}}]`, "twice": `[] []`, "an object": `{}`, "a comma too many": `[,{}]`, "deep": strings.Repeat("[", 70) + strings.Repeat("]", 70), "nothing": "null", "a null": "[null]", "no end": "[{}"} {
		v := prompt.Version{Raw: true, String: text, Metadata: json.RawMessage(`{"template_type":"chat"}`)}
		compiled, err := v.Compile()
		if err != nil {
			t.Fatal(err)
		}
		call, err := prompt.ReadCall([]byte(`{"variables":{"x":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compiled.Body(call, nil); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever the variables hold, a conversation that is not raw stays JSON.
func TestChatsStayJSON(t *testing.T) {
	t.Parallel()
	v := prompt.Version{String: hello, Model: "gpt-4o"}
	compiled, err := v.Compile()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		vars := rapid.MapOf(rapid.SampledFrom([]string{"who", "ask", "pic"}), rapid.String()).Draw(t, "variables")
		raw, err := json.Marshal(map[string]any{"variables": vars})
		if err != nil {
			t.Fatal(err)
		}
		call, err := prompt.ReadCall(raw)
		if err != nil {
			t.Fatal(err)
		}
		body, err := compiled.Body(call, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Messages []struct{ Content any } }
		if err := json.Unmarshal(body.JSON, &got); err != nil {
			t.Fatalf("%s: %v", body.JSON, err)
		}
		if want := "You are " + vars["who"] + "."; got.Messages[0].Content != strings.ToValidUTF8(want, "\ufffd") {
			t.Fatalf("%q, want %q", got.Messages[0].Content, want)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	v := prompt.Version{String: hello, Model: "gpt-4o", Parameters: json.RawMessage(`{"temperature":0.2,"max_tokens":200}`)}
	compiled, err := v.Compile()
	if err != nil {
		b.Fatal(err)
	}
	sent := []byte(`{"variables":{"who":"a bot","ask":"What is the tide at the lock today?","pic":"https://x.example/1.png"},"stream":true}`)
	b.ReportAllocs()
	for b.Loop() {
		call, err := prompt.ReadCall(sent)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := compiled.Body(call, nil); err != nil {
			b.Fatal(err)
		}
	}
}
