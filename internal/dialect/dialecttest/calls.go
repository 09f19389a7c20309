// Package dialecttest tests that a dialect preserves the calls it translates. It generates random
// calls, compares calls, and reads streams in chunks of every size. Start at RandomCall and Diff.
// Only tests import it.
package dialecttest

import (
	"fmt"
	"math/rand/v2"

	"sluice/internal/kernel/llm"
)

// Feature is something that a call may contain. Features combine: Images | Audio.
type Feature uint32

// The features of a call.
const (
	Images    Feature = 1 << iota // in messages, as base64 and as URLs
	Files                         // documents, as base64 and as URLs
	FileIDs                       // media referenced by file id
	Audio                         // in chat messages
	Reasoning                     // reasoning with signatures
	Seals                         // reasoning that only the provider can read
	Marks                         // cache marks with and without a TTL
	Tools                         // tools, tool calls and tool results
	Media                         // images in tool results
	BuiltIn                       // tools that the provider runs
	Names                         // names of message authors
	Refusals                      // refusals by the model, on chat and responses
	Formats                       // JSON schemas for the response
	Params                        // temperature and similar parameters
	Extras                        // unknown fields
	Citations                     // on text from the model
	Signed                        // signatures on tool calls
)

// Options limit what RandomCall generates.
type Options struct {
	Surface  llm.Endpoint // ChatComplete, Messages or CreateModelResponse; empty: ChatComplete
	MaxTurns int          // user and model turns together, at least 1; 0: 20
	Without  Feature      // features that the call must not contain
	Shape    string       // shape of built-in tools and citations, for example "anthropic"; empty: by Surface
}

// RandomCall generates a call that is valid on its surface. User and model turns alternate, each
// tool call has one result in the next message, and names and ids are unique. The call contains
// only what the surface can express.
func RandomCall(r *rand.Rand, o Options) *llm.Call {
	if o.Surface == "" {
		o.Surface = llm.ChatComplete
	}
	if o.MaxTurns == 0 {
		o.MaxTurns = 20
	}
	if o.Shape == "" {
		o.Shape = map[llm.Endpoint]string{llm.Messages: "anthropic"}[o.Surface]
	}
	if o.Shape == "" {
		o.Shape = "openai"
	}
	m := &maker{Rand: r, o: o, c: &llm.Call{Surface: o.Surface, Model: "model-" + randomName(r)}}
	m.tools()
	m.system()
	turns := 1 + r.IntN(o.MaxTurns)
	for i := 0; i < turns; i++ {
		m.turn(i)
	}
	m.addParams()
	return m.c
}

type maker struct {
	*rand.Rand
	o       Options
	c       *llm.Call
	index   int      // index of the next message
	ids     int      // number of ids generated so far
	waiting []string // ids of calls without results
}

func (m *maker) may(f Feature) bool             { return m.o.Without&f == 0 && m.IntN(3) == 0 }
func (m *maker) hasSurface(s llm.Endpoint) bool { return m.o.Surface == s }

func (m *maker) id(prefix string) string {
	m.ids++
	return fmt.Sprintf("%s%d%s", prefix, m.ids, randomName(m.Rand))
}

// tools adds up to four tools to the call.
func (m *maker) tools() {
	if m.o.Without&Tools != 0 || m.IntN(3) == 0 {
		return
	}
	for i := range 1 + m.IntN(4) {
		t := llm.Tool{Type: llm.Function, Index: i, Name: fmt.Sprintf("tool_%d", i)}
		if m.may(BuiltIn) && i == 1 {
			t = llm.Tool{Type: "web_search_20250305", Index: i, Name: "web_search", Shape: m.o.Shape}
			t.Raw = []byte(`{"type":"web_search_20250305","name":"web_search","max_uses":` + fmt.Sprint(1+m.IntN(5)) + `}`)
			m.c.Tools = append(m.c.Tools, t)
			continue
		}
		if m.IntN(2) == 0 {
			t.Description = text(m.Rand)
		}
		t.Schema = []byte(`{"type":"object","properties":` + object(m.Rand, 2) + `}`)
		t.Cache = m.mark()
		m.c.Tools = append(m.c.Tools, t)
	}
	switch m.IntN(6) {
	case 0:
		m.c.Choice = llm.ToolChoice{Mode: "auto", From: "tool_choice"}
	case 1:
		m.c.Choice = llm.ToolChoice{Mode: "none", From: "tool_choice"}
	case 2:
		m.c.Choice = llm.ToolChoice{Mode: "required", From: "tool_choice"}
	case 3:
		m.c.Choice = llm.ToolChoice{Mode: "tool", Name: "tool_0", From: "tool_choice"}
	}
}

// system adds the instructions at the start of the call.
func (m *maker) system() {
	if m.IntN(2) == 0 {
		return
	}
	msg := llm.Message{Role: llm.RoleSystem, Index: -1}
	if m.hasSurface(llm.ChatComplete) {
		msg.Index = m.next()
		if m.IntN(3) == 0 {
			msg.Role = llm.RoleDeveloper
		}
	}
	parts := 1
	if !m.hasSurface(llm.CreateModelResponse) {
		parts += m.IntN(3)
	}
	for range parts {
		msg.Parts = append(msg.Parts, llm.Part{Kind: llm.TextPart, Text: text(m.Rand), Cache: m.mark()})
	}
	m.number(&msg)
	m.c.Messages = append(m.c.Messages, msg)
}

func (m *maker) next() int {
	m.index++
	return m.index - 1
}

// number sets the indexes of the parts. A single text without a cache mark may be a plain string,
// which has index -1.
func (m *maker) number(msg *llm.Message) {
	for i := range msg.Parts {
		msg.Parts[i].Index = i
	}
	if p := msg.Parts; len(p) == 1 && p[0].Kind == llm.TextPart && p[0].Cache == nil && m.IntN(2) == 0 {
		p[0].Index = -1
	}
}

// mark returns a cache mark or nil. The responses surface does not support cache marks.
func (m *maker) mark() *llm.Cache {
	if m.hasSurface(llm.CreateModelResponse) || !m.may(Marks) {
		return nil
	}
	return &llm.Cache{TTL: pick(m.Rand, "", "5m", "1h")}
}

// addParams sets everything except the conversation.
func (m *maker) addParams() {
	c := m.c
	c.Stream = m.IntN(2) == 0
	if m.may(Formats) {
		c.Format = &llm.Format{Type: "json_schema", Name: "answer", Schema: []byte(`{"type":"object","properties":` + object(m.Rand, 2) + `}`), From: "response_format"}
		if m.hasSurface(llm.Messages) {
			c.Format.Name, c.Format.From = "", "output_config.format"
		}
		if m.hasSurface(llm.CreateModelResponse) {
			c.Format.From = "text.format"
		}
	}
	for _, p := range params {
		from := p.from[m.c.Surface]
		if from == "" || p.needs == Tools && len(c.Tools) == 0 || !m.may(Params) && p.needs != Extras || p.needs == Extras && !m.may(Extras) {
			continue
		}
		c.Params = append(c.Params, llm.Param{Name: p.name, From: from, Raw: []byte(pick(m.Rand, p.raw...))})
	}
	if m.hasSurface(llm.Messages) && has(c, llm.ParallelToolCalls) && (c.Choice.Mode == "" || c.Choice.Mode == "none") {
		c.Choice = llm.ToolChoice{Mode: "auto", From: "tool_choice"} // parallel tool calls are a field of the tool choice
	}
	if m.hasSurface(llm.Messages) && !has(c, llm.MaxTokens) {
		c.Params = append(c.Params, llm.Param{Name: llm.MaxTokens, From: "max_tokens", Raw: []byte("1024")})
	}
}

func has(c *llm.Call, name string) bool {
	for _, p := range c.Params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// from maps each surface to the path of a parameter. An empty path means that the surface does
// not support it.
func from(chat, messages, responses string) map[llm.Endpoint]string {
	return map[llm.Endpoint]string{llm.ChatComplete: chat, llm.Messages: messages, llm.CreateModelResponse: responses}
}

// params are parameters with their path on each surface and sample values.
var params = []struct {
	name  string
	from  map[llm.Endpoint]string
	needs Feature
	raw   []string
}{
	{llm.MaxTokens, from("max_tokens", "max_tokens", "max_output_tokens"), 0, []string{"1", "4096"}},
	{"temperature", from("temperature", "temperature", "temperature"), 0, []string{"0", "0.7", "1"}},
	{"top_p", from("top_p", "top_p", "top_p"), 0, []string{"0.5", "1"}},
	{"top_k", from("top_k", "top_k", ""), 0, []string{"1", "40"}},
	{llm.Stop, from("stop", "stop_sequences", ""), 0, []string{`["a"]`, `["a","b\n"]`}},
	{llm.User, from("user", "metadata.user_id", "user"), 0, []string{`"u-1"`}},
	{llm.ParallelToolCalls, from("parallel_tool_calls", "tool_choice.disable_parallel_tool_use", "parallel_tool_calls"), Tools, []string{"false"}},
	{llm.Thinking, from("thinking", "thinking", "thinking"), 0, []string{`{"type":"enabled","budget_tokens":2048}`, `{"type":"disabled"}`}},
	{"seed", from("seed", "", ""), 0, []string{"7"}},
	{"n", from("n", "", ""), 0, []string{"1", "2"}},
	{"presence_penalty", from("presence_penalty", "", ""), 0, []string{"0.5"}},
	{"logit_bias", from("logit_bias", "", ""), 0, []string{`{"50256":-100}`}},
	{"store", from("store", "", "store"), 0, []string{"true", "false"}},
	{"container", from("", "container", ""), 0, []string{`"container_1"`}},
	{"x_unknown", from("x_unknown", "x_unknown", "x_unknown"), Extras, []string{`{"a":[1,null]}`, `"b"`, "3"}},
}
