package anthropic_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// everything is a request that has all that the Messages API knows.
const everything = `{
 "model":"claude-opus-5-5","max_tokens":1024,"stream":true,"temperature":1,"top_k":5,"stop_sequences":["END"],
 "metadata":{"user_id":"u-1","tenant":"t"},"service_tier":"auto","container":"c1","mcp_servers":[{"type":"url","url":"https://x"}],
 "context_management":{"edits":[]},"inference_geo":"eu","cache_control":{"type":"ephemeral"},
 "thinking":{"type":"adaptive","display":"summarized"},
 "output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}},"task_budget":{"total":1}},
 "tool_choice":{"type":"any","disable_parallel_tool_use":true},
 "tools":[
  {"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral","ttl":"1h"},"defer_loading":true},
  {"type":"custom","name":"g","input_schema":{"type":"object"}},
  {"type":"web_search_20250305","name":"web_search","max_uses":5},
  {"type":"mcp_toolset","mcp_server_name":"x"}],
 "messages":[
  {"role":"user","content":[
   {"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
   {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},
   {"type":"image","source":{"type":"url","url":"https://x/a.png"}},
   {"type":"image","source":{"type":"file","file_id":"f1"}},
   {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="},"title":"T","context":"c","citations":{"enabled":true},"cache_control":{"type":"ephemeral","ttl":"5m"}},
   {"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}},
   {"type":"document","source":{"type":"url","url":"https://x/a.pdf"}},
   {"type":"document","source":{"type":"file","file_id":"f2"}},
   {"type":"document","source":{"type":"content","content":[{"type":"text","text":"p"},{"type":"text","text":"q"}]}},
   {"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}},
   {"type":"search_result","source":"s","title":"t","content":[]},
   {"type":"container_upload","file_id":"f3"}]},
  {"role":"assistant","content":[
   {"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},
   {"type":"text","text":"b","citations":[{"type":"char_location"}]},
   {"type":"server_tool_use","id":"srv1","name":"web_search","input":{}},
   {"type":"web_search_tool_result","tool_use_id":"srv1","content":[]},
   {"type":"mcp_tool_use","id":"m1","name":"n","server_name":"x","input":{}},
   {"type":"mcp_tool_result","tool_use_id":"m1","content":[]},
   {"type":"tool_use","id":"t1","name":"f","input":{"a": 1.0},"caller":{"type":"direct"}},
   {"type":"tool_use","id":"t2","name":"g"}]},
  {"role":"user","content":[
   {"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"url","url":"https://x/a.png"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}],"is_error":true,"cache_control":{"type":"ephemeral"}},
   {"type":"tool_result","tool_use_id":"t2"},
   {"type":"text","text":"go on"}]},
  {"role":"system","content":"now in French"},
  {"role":"assistant","content":"prefix"}],
 "system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}},{"type":"text","text":"and kind"}],
 "not_known_yet":{"x":1}}`

// TestEverythingComesBack: what callers who speak the shape can say is written as it
// was read.
func TestEverythingComesBack(t *testing.T) {
	t.Parallel()
	c, err := client.DecodeCall([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	out := encode(t, c, c.Model)
	if len(out.Dropped) > 0 {
		t.Errorf("lost %q", out.Dropped)
	}
	var got, want any
	if err := json.Unmarshal(out.Body, &got); err != nil {
		t.Fatal(err)
	}
	input := strings.NewReplacer(
		`"id":"t2","name":"g"}`, `"id":"t2","name":"g","input":{}}`, // which says the same
		`"type":"custom",`, ``, `"content":"prefix"`, `"content":[{"type":"text","text":"prefix"}]`).Replace(everything)
	if err := json.Unmarshal([]byte(input), &want); err != nil {
		t.Fatal(err)
	}
	if g, w := text(got), text(want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func text(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// TestCalls: what a request is in the words of the hub.
func TestCalls(t *testing.T) {
	t.Parallel()
	c, err := client.DecodeCall([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, m := range c.Messages {
		line := string(m.Role)
		for _, p := range m.Parts {
			line += " " + kinds[p.Kind]
			if p.Cache != nil {
				line += "*" + p.Cache.TTL
			}
		}
		seen = append(seen, line)
	}
	want := `system text* text
user text* image image image file*5m file file file file opaque opaque opaque
assistant thought sealed text opaque opaque opaque opaque call call
tool result* result
user text
system text
assistant text`
	if got := strings.Join(seen, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	params := map[string]string{}
	for _, p := range c.Params {
		params[p.Name+" "+p.From] = string(p.Raw)
	}
	for key, raw := range map[string]string{
		"max_tokens max_tokens": "1024", "stop stop_sequences": `["END"]`, "user metadata.user_id": `"u-1"`, "reasoning_effort output_config.effort": `"high"`,
		"parallel_tool_calls tool_choice.disable_parallel_tool_use": "false", "thinking thinking": `{"type":"adaptive","display":"summarized"}`,
	} {
		if params[key] != raw {
			t.Errorf("%s is %s, want %s", key, params[key], raw)
		}
	}
	if c.Choice.Mode != "required" || c.Format == nil || !c.Stream || c.Tools[2].Type != "web_search_20250305" || c.Tools[1].Type != llm.Function {
		t.Errorf("%+v", c)
	}
	if r := c.Messages[3].Parts[0].Result; r.Name != "f" || !r.Error || c.Path(&c.Messages[3], 1) != "messages[2].content[1]" {
		t.Errorf("%+v", r)
	}
	if m := c.Messages[1].Parts[8].Media; !m.Plain || m.Data != "p\nq" {
		t.Errorf("%+v", m)
	}
}

// TestAttributionStays: the line that says to Anthropic's accounts whose call it is is none of the
// instructions, whatever their form.
func TestAttributionStays(t *testing.T) {
	t.Parallel()
	const line = "x-anthropic-billing-header: cc_version=2.1.117.48f; cc_entrypoint=cli; cch=71fea;"
	for system, want := range map[string]string{
		`"` + line + `\nYou code.\n\nBe brief."`: "You code.\n\nBe brief.",
		`"` + line + `"`:                         "",
		`[{"type":"text","text":"` + line + `"},{"type":"text","text":"You code.","cache_control":{"type":"ephemeral"}}]`: "You code.",
		`[{"type":"text","text":"\n` + line + `\nYou code."},{"type":"text","text":"Say x-anthropic-billing-header: x"}]`: "You code.|Say x-anthropic-billing-header: x",
	} {
		c, err := client.DecodeCall([]byte(`{"max_tokens":9,"system":` + system + `,"messages":[{"role":"user","content":"` + line + `"},{"role":"system","content":"` + line + `\nNow in French"},{"role":"system","content":"` + line + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[llm.Role][]string{}
		for _, m := range c.Messages {
			var texts []string
			for _, p := range m.Parts {
				texts = append(texts, p.Text)
			}
			seen[m.Role] = append(seen[m.Role], strings.Join(texts, "|"))
		}
		instructions := strings.Trim(want+"&Now in French", "&")
		if got := strings.Join(seen[llm.RoleSystem], "&"); got != instructions || seen[llm.RoleUser][0] != line {
			t.Errorf("%s: %q and %q, want %q", system, got, seen[llm.RoleUser], instructions)
		}
	}
}

var kinds = map[llm.PartKind]string{
	llm.TextPart: "text", llm.ImagePart: "image", llm.FilePart: "file", llm.ReasoningPart: "thought", llm.SealedPart: "sealed",
	llm.CallPart: "call", llm.ResultPart: "result", llm.OpaquePart: "opaque",
}

// TestRefusals: what nobody could carry is refused with its place.
func TestRefusals(t *testing.T) {
	t.Parallel()
	user := func(block string) string { return `{"messages":[{"role":"user","content":[` + block + `]}]}` }
	model := func(block string) string { return `{"messages":[{"role":"assistant","content":[` + block + `]}]}` }
	for body, param := range map[string]string{
		user(`{"type":"image","source":{"type":"url","url":"file:///etc/passwd"}}`): "messages[0].content[0].source.url",
		`{}`:                                             "messages",
		`{"messages":[]}`:                                "messages",
		`{"messages":"x"}`:                               "messages",
		`{"messages":[1]}`:                               "messages[0]",
		`{"messages":[{"content":"x"}]}`:                 "messages[0].role",
		`{"messages":[{"role":"tool"}]}`:                 "messages[0].role",
		`{"messages":[{"role":"user"}]}`:                 "messages[0].content",
		`{"messages":[{"role":"user","content":1}]}`:     "messages[0].content",
		`{"messages":[{"role":"user","content":["x"]}]}`: "messages[0].content[0]",
		user(`{"text":"x"}`):                             "messages[0].content[0].type",
		user(`{"type":"text","text":1}`):                 "messages[0].content[0].text",
		user(`{"type":"image"}`):                         "messages[0].content[0].source.type",
		user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%"}}`):                                 "messages[0].content[0].source.data",
		user(`{"type":"image","source":{"type":"base64","data":"aGk="}}`):                                                       "messages[0].content[0].source.media_type",
		user(`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`):                                            "messages[0].content[0].source.data",
		user(`{"type":"image","source":{"type":"url"}}`):                                                                        "messages[0].content[0].source.url",
		user(`{"type":"document","source":{"type":"file"}}`):                                                                    "messages[0].content[0].source.file_id",
		user(`{"type":"document","source":{"type":"content"}}`):                                                                 "messages[0].content[0].source.content",
		user(`{"type":"tool_result","content":"x"}`):                                                                            "messages[0].content[0].tool_use_id",
		user(`{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t"}`):                                             "messages[0].content[1].tool_use_id",
		model(`{"type":"tool_result","tool_use_id":"t"}`):                                                                       "messages[0].content[0].type",
		model(`{"type":"tool_use","name":"f","input":{}}`):                                                                      "messages[0].content[0].id",
		model(`{"type":"tool_use","id":"t","input":{}}`):                                                                        "messages[0].content[0].name",
		model(`{"type":"tool_use","id":"t","name":"f","input":"{}"}`):                                                           "messages[0].content[0].input",
		`{"model":1,"messages":[{"role":"user","content":"x"}]}`:                                                                "model",
		`{"system":1,"messages":[{"role":"user","content":"x"}]}`:                                                               "system",
		`{"tools":1,"messages":[{"role":"user","content":"x"}]}`:                                                                "tools",
		`{"tools":[{"input_schema":{}}],"messages":[{"role":"user","content":"x"}]}`:                                            "tools[0].name",
		`{"tools":[{"name":"f","input_schema":1}],"messages":[{"role":"user","content":"x"}]}`:                                  "tools[0].input_schema",
		`{"tool_choice":"auto","messages":[{"role":"user","content":"x"}]}`:                                                     "tool_choice",
		`{"tool_choice":{"type":"perhaps"},"messages":[{"role":"user","content":"x"}]}`:                                         "tool_choice.type",
		`{"tool_choice":{"type":"tool","name":"g"},"tools":[{"name":"f"}],"messages":[{"role":"user","content":"x"}]}`:          "tool_choice.name",
		`{"tool_choice":{"type":"auto","disable_parallel_tool_use":"yes"},"messages":[{"role":"user","content":"x"}]}`:          "tool_choice.disable_parallel_tool_use",
		`{"tools":[{"name":"f"},{"type":"custom","name":"f"}],"messages":[{"role":"user","content":"x"}]}`:                      "tools[1].name",
		`{"tools":["f"],"messages":[{"role":"user","content":"x"}]}`:                                                            "tools[0]",
		`{"tools":[{"name":"f","strict":1}],"messages":[{"role":"user","content":"x"}]}`:                                        "tools[0].strict",
		`{"stream":"yes","messages":[{"role":"user","content":"x"}]}`:                                                           "stream",
		`{"max_tokens":"many","messages":[{"role":"user","content":"x"}]}`:                                                      "max_tokens",
		`{"stop_sequences":["a",1],"messages":[{"role":"user","content":"x"}]}`:                                                 "stop_sequences[1]",
		`{"metadata":{"user_id":7},"messages":[{"role":"user","content":"x"}]}`:                                                 "metadata.user_id",
		`{"thinking":{"type":"enabled","budget_tokens":"all"},"messages":[{"role":"user","content":"x"}]}`:                      "thinking.budget_tokens",
		`{"output_config":{"effort":1,"format":{"type":"json_schema","schema":{}}},"messages":[{"role":"user","content":"x"}]}`: "output_config.effort",
		model(`{"type":"tool_use","id":7,"name":"f","input":{}}`):                                                               "messages[0].content[0].id",
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"yes"}]}]}`: "messages[1].content[0].is_error",
		`{"tool_choice":{"type":"tool"},"messages":[{"role":"user","content":"x"}]}`:                                                                                                    "tool_choice.name",
		`{"output_config":{"format":{"type":"json_schema"}},"messages":[{"role":"user","content":"x"}]}`:                                                                                "output_config.format.schema",
		`{"output_config":{"format":{"type":"x"}},"messages":[{"role":"user","content":"x"}]}`:                                                                                          "output_config.format.type",
	} {
		_, err := client.DecodeCall([]byte(body))
		if f := fault.From(err); f == nil || f.Code != fault.InvalidParameter || f.Param != param {
			t.Errorf("%s: %v, want %s", body, err, param)
		}
	}
}

// TestOnChatProviders: a request for a message as a provider of chat completions gets it.
// Source: contract/provider-transforms.md 9.1.
func TestOnChatProviders(t *testing.T) {
	t.Parallel()
	c, err := client.DecodeCall([]byte(`{"model":"m","max_tokens":10,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],
		"stop_sequences":["x"],"metadata":{"user_id":"u"},"thinking":{"type":"enabled","budget_tokens":2048},"top_k":3,
		"tools":[{"name":"f","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}],
		"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},
		{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"t1","content":"r","is_error":true}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := openai.Dialect().Upstreams[llm.ChatComplete].EncodeCall(context.Background(), c, &dialect.Target{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[{"role":"system","content":"a\nb"},{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":"x","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
		`{"role":"tool","tool_call_id":"t1","content":"Error: r"},{"role":"user","content":"so"}],` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"stop":["x"],"user":"u","max_tokens":10,"reasoning_effort":"medium"}`
	var g, w any
	if json.Unmarshal(out.Body, &g) != nil || json.Unmarshal([]byte(want), &w) != nil || text(g) != text(w) {
		t.Errorf("got\n%s\nwant\n%s", out.Body, want)
	}
	if dropped := strings.Join(out.Dropped, ", "); dropped != "messages[1].content[0], tools[1], top_k" {
		t.Errorf("lost %q", dropped)
	}
}

// FuzzDecodeCall: nothing that a caller may send makes it panic, and what is read can
// be written or is refused.
func FuzzDecodeCall(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"x","citations":1}]}],"stream":0,"thinking":{"budget_tokens":1.5},"tools":[{"name":"f","strict":"x"},{"name":"f"}],"tool_choice":{"type":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := client.DecodeCall(body)
		if err != nil {
			return
		}
		out, err := upstream.EncodeCall(context.Background(), c, target("claude-opus-4-5"))
		if json.Valid(body) && err == nil && !json.Valid(out.Body) {
			t.Errorf("%q became %q", body, out.Body)
		}
	})
}

// FuzzDecoder: nothing that a provider may send makes it panic, and how it is cut makes
// no difference.
func FuzzDecoder(f *testing.F) {
	for _, name := range recorded {
		f.Add(read(f, name+".sse"), uint16(100))
	}
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"x\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"), uint16(7))
	f.Fuzz(func(t *testing.T, stream []byte, split uint16) {
		cut := min(int(split), len(stream))
		full, err := dialecttest.Read(newDecoder(), stream)
		parts, partsErr := dialecttest.Read(newDecoder(), stream[:cut], stream[cut:])
		if (err == nil) != (partsErr == nil) || len(dialecttest.Merge(full)) != len(dialecttest.Merge(parts)) {
			t.Errorf("cut at %d: %v and %v, %d and %d events", cut, err, partsErr, len(full), len(parts))
		}
		write(full)
	})
}
