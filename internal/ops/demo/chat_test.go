package demo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/ops/demo"
)

type call struct {
	ID, Type string
	Function struct{ Name, Arguments string }
}

type chatResponse struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index   int
		Message struct {
			Role      string
			Content   *string
			ToolCalls []call `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Usage usage
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

func TestChat(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	const asks = `"messages":[{"role":"system","content":"be kind"},{"role":"user","content":[{"type":"text","text":"hello there"},{"type":"image_url","image_url":{"url":"x"}}]}]`
	const weather = `"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}},{"type":"function","function":{"name":"get_time"}}]`
	cases := []struct {
		name, body string
		want       []string // contents, or tool calls as name(arguments)
		finish     string
		prompt     int64
	}{
		{"echo", `{"model":"m",` + asks + `}`, []string{`You said: "hello there". I got 2 messages for model m.`}, "stop", 4},
		{"temperature", `{"model":"m","temperature":0.5,"messages":[{"role":"user","content":"a"}]}`, []string{`You said: "a". I got 1 message for model m at temperature 0.5.`}, "stop", 1},
		{"no text", `{"model":"m","messages":[{"role":"user","content":null}]}`, []string{`You said: "". I got 1 message for model m.`}, "stop", 0},
		{"choices", `{"model":"m","n":2,"messages":[{"role":"user","content":"a"}]}`, []string{`You said: "a". I got 1 message for model m.`, `You said: "a". I got 1 message for model m. (choice 2)`}, "stop", 1},
		{"length", `{"model":"m","max_completion_tokens":3,"messages":[{"role":"user","content":"a b"}]}`, []string{`You said: "a`}, "length", 2},
		{"long question", `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("w ", 70) + `"}]}`, []string{`You said: "` + strings.Repeat("w ", 60) + `…". I got 1 message for model m.`}, "stop", 70},
		{"tool named", `{"model":"m","messages":[{"role":"user","content":"get_weather in Oslo"}],` + weather + `}`, []string{`get_weather({"city":"get_weather in Oslo","days":1})`}, "tool_calls", 3},
		{"both named", `{"model":"m","messages":[{"role":"user","content":"get_time get_weather"}],` + weather + `}`, []string{`get_weather({"city":"get_time get_weather","days":1})`, `get_time({})`}, "tool_calls", 2},
		{"any tool", `{"model":"m","messages":[{"role":"user","content":"use a Tool"}],` + weather + `}`, []string{`get_weather({"city":"use a Tool","days":1})`}, "tool_calls", 3},
		{"required", `{"model":"m","tool_choice":"required","messages":[{"role":"user","content":"hi"}],` + weather + `}`, []string{`get_weather({"city":"hi","days":1})`}, "tool_calls", 1},
		{"chosen", `{"model":"m","tool_choice":{"type":"function","function":{"name":"get_time"}},"messages":[{"role":"user","content":"hi"}],` + weather + `}`, []string{`get_time({})`}, "tool_calls", 1},
		{"none", `{"model":"m","tool_choice":"none","messages":[{"role":"user","content":"get_time"}],` + weather + `}`, []string{`You said: "get_time". I got 1 message for model m.`}, "stop", 1},
		{"not asked for", `{"model":"m","messages":[{"role":"user","content":"hi"}],` + weather + `}`, []string{`You said: "hi". I got 1 message for model m.`}, "stop", 1},
		{"tool's result", `{"model":"m","messages":[{"role":"user","content":"get_time"},{"role":"tool","content":"12 o'clock"}],` + weather + `}`, []string{`The tool said: 12 o'clock`}, "stop", 3},
		{"JSON", `{"model":"m","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"hi"}]}`, []string{`{"answer":"hi"}`}, "stop", 1},
		{"schema", `{"model":"m","response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema + `}},"messages":[{"role":"user","content":"hi"}]}`, []string{schemaSample}, "stop", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := provider{t, p.url}
			var r chatResponse
			p.post("/v1/chat/completions", c.body, &r)
			got := texts(r)
			if fmt.Sprint(got) != fmt.Sprint(c.want) || r.Choices[0].Finish != c.finish {
				t.Errorf("got %q (%s)\nwant %q (%s)", got, r.Choices[0].Finish, c.want, c.finish)
			}
			if !strings.HasPrefix(r.ID, "chatcmpl-") || r.Object != "chat.completion" || r.Created != fixedUnix || r.Model != "m" {
				t.Errorf("head: %+v", r)
			}
			if r.Usage.Prompt != c.prompt || r.Usage.Completion != cost(r) || r.Usage.Total != r.Usage.Prompt+r.Usage.Completion {
				t.Errorf("usage %+v, want prompt %d, completion %d", r.Usage, c.prompt, cost(r))
			}
			sameStreamed(p, c.body, r)
		})
	}
}

const (
	schema = `{"type":"object","$defs":{"leaf":{"enum":["red","blue"]}},"properties":{
		"a":{"type":"string"},"b":{"type":"array","items":{"type":"number"}},"c":{"$ref":"#/$defs/leaf"},"d":{"anyOf":[{"type":"boolean"},{"type":"null"}]},
		"e":{"const":7},"f":{"type":["integer","null"]},"g":{"type":"array"},"h":{"default":"x"},"i":{"$ref":"#/nowhere"},"j":{"properties":{"k":{"type":"string"}}}}}`
	schemaSample = `{"a":"hi","b":[1],"c":"red","d":true,"e":7,"f":1,"g":[],"h":"x","i":null,"j":{"k":"hi"}}`
)

// texts is what each choice says.
func texts(r chatResponse) []string {
	var out []string
	for _, c := range r.Choices {
		if c.Message.Content != nil {
			out = append(out, *c.Message.Content)
		}
		for _, k := range c.Message.ToolCalls {
			out = append(out, k.Function.Name+"("+k.Function.Arguments+")")
		}
	}
	return out
}

func cost(r chatResponse) int64 {
	var n int64
	for _, c := range r.Choices {
		if c.Message.Content != nil {
			n += demo.Tokens(*c.Message.Content)
		}
		for _, k := range c.Message.ToolCalls {
			n += 1 + demo.Tokens(k.Function.Arguments)
		}
	}
	return n
}

type chunk struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index int
		Delta struct {
			Role      string
			Content   *string
			ToolCalls []struct {
				Index int
				call
			} `json:"tool_calls"`
		}
		Finish *string `json:"finish_reason"`
	}
	Usage *usage
}

// sameStreamed asks again with stream and compares the pieces put together. Usage
// is null on all chunks but the last when asked for, and absent when not.
func sameStreamed(p provider, body string, want chatResponse) {
	p.t.Helper()
	for _, ask := range []bool{false, true} {
		events := p.events("/v1/chat/completions", fmt.Sprintf(`{"stream":true,"stream_options":{"include_usage":%v},`, ask)+body[1:])
		if last := events[len(events)-1]; last != "[DONE]" {
			p.t.Fatalf("last event %s", last)
		}
		got := want
		got.Choices = append(got.Choices[:0:0], got.Choices...)
		for i := range got.Choices {
			got.Choices[i].Message.Content, got.Choices[i].Message.ToolCalls, got.Choices[i].Finish, got.Choices[i].Message.Role = nil, nil, "", ""
		}
		got.Usage = usage{}
		for i, e := range events[:len(events)-1] {
			var c chunk
			if err := json.Unmarshal([]byte(e), &c); err != nil || c.Object != "chat.completion.chunk" {
				p.t.Fatalf("%v: %s", err, e)
			}
			if isLast := i == len(events)-2; strings.Contains(e, `"usage":null`) != (ask && !isLast) || (c.Usage != nil) != (ask && isLast) || (len(c.Choices) == 0) != (ask && isLast) {
				p.t.Errorf("event %d of %d, usage asked %v: %s", i, len(events), ask, e)
			}
			add(&got, c)
		}
		if g, w := asJSON(got.Choices), asJSON(want.Choices); g != w {
			p.t.Errorf("streamed %s\nwhole    %s", g, w)
		}
		if ask && got.Usage != want.Usage {
			p.t.Errorf("streamed usage %+v, whole %+v", got.Usage, want.Usage)
		}
	}
}

// add puts a chunk's pieces on a reply.
func add(r *chatResponse, c chunk) {
	if c.Usage != nil {
		r.Usage = *c.Usage
	}
	for _, d := range c.Choices {
		m := &r.Choices[d.Index].Message
		m.Role += d.Delta.Role
		if d.Delta.Content != nil {
			text := *d.Delta.Content
			if m.Content != nil {
				text = *m.Content + text
			}
			m.Content = &text
		}
		for _, k := range d.Delta.ToolCalls {
			if k.Index == len(m.ToolCalls) {
				m.ToolCalls = append(m.ToolCalls, call{})
			}
			t := &m.ToolCalls[k.Index]
			t.ID, t.Type = t.ID+k.ID, t.Type+k.Type
			t.Function.Name += k.Function.Name
			t.Function.Arguments += k.Function.Arguments
		}
		if d.Finish != nil {
			r.Choices[d.Index].Finish = *d.Finish
		}
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Whatever a user says, the answer quotes it, costs its words, is the same each
// time, and its stream says the same.
func TestChatProperties(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 60, -1).Draw(rt, "text")
		quoted, err := json.Marshal(text)
		if err != nil {
			rt.Fatal(err)
		}
		var clean string // what arrives: invalid bytes are replaced
		_ = json.Unmarshal(quoted, &clean)
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%s}]}`, quoted)
		var a, b chatResponse
		p.post("/v1/chat/completions", body, &a)
		p.post("/v1/chat/completions", body, &b)
		if asJSON(a) != asJSON(b) {
			rt.Fatalf("two answers: %+v, %+v", a, b)
		}
		if a.Usage.Prompt != demo.Tokens(clean) || a.Usage.Completion != cost(a) {
			rt.Fatalf("usage %+v of %q and %q", a.Usage, clean, texts(a))
		}
		sameStreamed(p, body, a)
	})
}

// No schema makes a sample endless, not even one that refers to itself.
func TestRecursiveSchema(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r chatResponse
	p.post("/v1/chat/completions", `{"model":"m","response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"type":"array","items":{"$ref":"#"}}}}}},"messages":[{"role":"user","content":"hi"}]}`, &r)
	if text := texts(r)[0]; !json.Valid([]byte(text)) || len(text) > 100<<10 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	p := start(t, demo.Options{})
	var r struct {
		ID, Object string
		Choices    []struct {
			Text   string
			Index  int
			Finish string `json:"finish_reason"`
		}
		Usage usage
	}
	p.post("/v1/completions", `{"model":"m","prompt":["a b",[1,2,3]],"n":2,"max_tokens":5}`, &r)
	if len(r.Choices) != 4 || r.Object != "text_completion" || r.Choices[3].Index != 3 || r.Choices[0].Finish != "length" || r.Choices[2].Text != `You wrote: "1 2 3"` {
		t.Errorf("%+v", r)
	}
	if r.Usage != (usage{5, 20, 25}) {
		t.Errorf("usage %+v", r.Usage)
	}
	r.Choices = r.Choices[:0]
	p.post("/v1/completions", `{"model":"m","prompt":[[1,2],[3]]}`, &r)
	if len(r.Choices) != 2 || r.Usage.Prompt != 3 {
		t.Errorf("token ids: %+v", r)
	}
	for _, ask := range []bool{false, true} {
		events := p.events("/v1/completions", fmt.Sprintf(`{"model":"m","prompt":"x","max_tokens":3,"stream":true,"stream_options":{"include_usage":%v}}`, ask))
		want := `You wrote: "x"`
		var text strings.Builder
		for i, e := range events[:len(events)-1] {
			if strings.Contains(e, `"usage":null`) != (ask && i < 4) || strings.Contains(e, `"prompt_tokens":1,"completion_tokens":3,"total_tokens":4`) != (ask && i == 4) {
				t.Errorf("event %d: %s", i, e)
			}
			var c struct{ Choices []struct{ Text string } }
			if err := json.Unmarshal([]byte(e), &c); err != nil {
				t.Fatal(err)
			}
			for _, x := range c.Choices {
				text.WriteString(x.Text)
			}
		}
		if text.String() != want || events[len(events)-1] != "[DONE]" {
			t.Errorf("%q, %s", text.String(), events)
		}
	}
}
