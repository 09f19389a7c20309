package marks_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/promptcache/marks"
)

const (
	five = `"cache_control":{"type":"ephemeral"}`
	hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

var (
	messages = marks.Rules{Form: marks.Messages, Tools: true, Hour: true}
	chat     = marks.Rules{Form: marks.Chat, ToolTurns: true, Hour: true}
	converse = marks.Rules{Form: marks.Converse, Tools: true, Hour: true}
)

func TestPlace_MarksToolsSystemAndTheLastTwoTurns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules      marks.Rules
		body, want string
		paths      []string
	}{
		"Messages": {
			messages,
			`{"model":"m", "system": "Be brief." ,"tools":[{"name":"a"},{"name":"b" }],"messages":[{"role":"user","content":"1"},{"role":"assistant","content":"2"},{"role":"user","content":[{"type":"text","text":"3"}]}]}`,
			`{"model":"m", "system": [{"type":"text","text":"Be brief.",` + five + `}] ,"tools":[{"name":"a"},{"name":"b" ,` + five + `}],"messages":[{"role":"user","content":[{"type":"text","text":"1",` + five + `}]},{"role":"assistant","content":"2"},{"role":"user","content":[{"type":"text","text":"3",` + five + `}]}]}`,
			[]string{"system", "tools[1]", "messages[0].content", "messages[2].content[0]"},
		},
		"a tool loop, whose results are turns": {
			messages,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"go",` + five + `}]},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r",` + five + `}]}]}`,
			[]string{"messages[0].content", "messages[2].content[0]"},
		},
		"a turn that the model continues": {
			messages,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"{"}]}`,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"go",` + five + `}]},{"role":"assistant","content":"{"}]}`,
			[]string{"messages[0].content"},
		},
		"chat completions": {
			chat,
			`{"messages":[{"role":"system","content":"Be"},{"role":"developer","content":"brief"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]},{"role":"assistant","tool_calls":[]},{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","tool_call_id":"y","content":"2"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			`{"messages":[{"role":"system","content":"Be"},{"role":"developer","content":[{"type":"text","text":"brief",` + five + `}]},{"role":"user","content":[{"type":"text","text":"a",` + five + `},{"type":"image_url","image_url":{"url":"data:"}}]},{"role":"assistant","tool_calls":[]},{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","tool_call_id":"y","content":[{"type":"text","text":"2",` + five + `}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			[]string{"messages[1].content", "messages[2].content[0]", "messages[5].content"},
		},
		"Converse": {
			converse,
			`{"system":[{"text":"a"}],"messages":[{"role":"user","content":[{"text":"q"},{"document":{"name":"d"}}]},{"role":"assistant","content":[{"reasoningContent":{}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"x"}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}],"toolChoice":{"auto":{}}}}`,
			`{"system":[{"text":"a"},{"cachePoint":{"type":"default"}}],"messages":[{"role":"user","content":[{"text":"q"},{"cachePoint":{"type":"default"}},{"document":{"name":"d"}}]},{"role":"assistant","content":[{"reasoningContent":{}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"x"}},{"cachePoint":{"type":"default"}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f"}},{"cachePoint":{"type":"default"}}],"toolChoice":{"auto":{}}}}`,
			[]string{"system[0]", "messages[0].content[0]", "messages[2].content[0]", "toolConfig.tools[0]"},
		},
	} {
		got := marks.Place([]byte(c.body), c.rules, false)
		if string(got.Body) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got.Body, c.want)
		}
		if !slices.Equal(got.Paths, c.paths) || got.Marks != len(c.paths) || got.Hour {
			t.Errorf("%s: got %q, %d marks, hour %v, want %q", name, got.Paths, got.Marks, got.Hour, c.paths)
		}
		if !json.Valid(got.Body) {
			t.Errorf("%s: not valid JSON", name)
		}
	}
}

func TestPlace_LeavesPartsWithMarksOfTheCaller(t *testing.T) {
	t.Parallel()
	text := func(s, more string) string { return `{"type":"text","text":"` + s + `"` + more + `}` }
	for name, c := range map[string]struct {
		body  string
		paths []string
		marks int
	}{
		"four marks": {
			`{"tools":[{"name":"a",` + five + `}],"system":[` + text("s", ","+five) + `],"messages":[{"role":"user","content":[` + text("a", ","+five) + `]},{"role":"assistant","content":"b"},{"role":"user","content":[` + text("c", ","+five) + `]}]}`,
			nil, 4,
		},
		"four marks in one part": {
			`{"tools":[{"name":"a"}],"system":"s","messages":[{"role":"user","content":[` + strings.Repeat(text("a", ","+five)+",", 3) + text("a", ","+five) + `]}]}`,
			nil, 4,
		},
		"three marks in the system prompt": {
			`{"tools":[{"name":"a"}],"system":[` + strings.Repeat(text("a", ","+five)+",", 2) + text("a", ","+five) + `],"messages":[{"role":"user","content":"q"}]}`,
			[]string{"messages[0].content"}, 4,
		},
		"a mark in a tool result": {
			`{"tools":[{"name":"a"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[` + text("a", ","+five) + `]}]},{"role":"user","content":"q"}]}`,
			[]string{"tools[0]"}, 2,
		},
		"a mark for the whole request": {
			`{` + five + `,"system":"s","messages":[{"role":"user","content":"q"}]}`,
			[]string{"system"}, 2,
		},
		"no mark, but the member": {
			`{"system":[` + text("s", `,"cache_control":null`) + `],"messages":[]}`,
			nil, 0,
		},
	} {
		got := marks.Place([]byte(c.body), messages, false)
		if !slices.Equal(got.Paths, c.paths) || got.Marks != c.marks || !json.Valid(got.Body) {
			t.Errorf("%s: got %q and %d marks, want %q and %d: %s", name, got.Paths, got.Marks, c.paths, c.marks, got.Body)
		}
		if n := strings.Count(string(got.Body), `"ephemeral"`); n != c.marks {
			t.Errorf("%s: the body has %d marks, want %d", name, n, c.marks)
		}
	}
}

func TestPlace_NeverMarksForbiddenBlocks(t *testing.T) {
	t.Parallel()
	user := func(content string) string { return `{"messages":[{"role":"user","content":` + content + `}]}` }
	for name, c := range map[string]struct {
		rules marks.Rules
		body  string
	}{
		"an empty string":             {messages, user(`""`)},
		"a blank string":              {messages, user(`" \n\u00a0"`)},
		"a blank text":                {messages, user(`[{"type":"text","text":" "}]`)},
		"reasoning":                   {messages, user(`[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]`)},
		"a type of tomorrow":          {messages, user(`[{"type":"hologram","text":"t"}]`)},
		"no blocks":                   {messages, user(`[7,null,"x"]`)},
		"no content":                  {messages, user(`null`)},
		"a tool that loads later":     {messages, `{"tools":[{"name":"a","defer_loading":true}]}`},
		"an empty tool":               {messages, `{"tools":[{}]}`},
		"tools of a model without":    {marks.Rules{Form: marks.Converse}, `{"toolConfig":{"tools":[{"toolSpec":{"name":"a"}}]}}`},
		"a result of a model without": {marks.Rules{Form: marks.Converse}, user(`[{"toolResult":{"toolUseId":"x"}}]`)},
		"a tool's result":             {marks.Rules{Form: marks.Chat}, `{"messages":[{"role":"tool","content":"r"}]}`},
		"an image of chat":            {chat, user(`[{"type":"image_url","image_url":{"url":"data:"}}]`)},
		"an image of instructions":    {messages, `{"system":[{"type":"image","source":{}}]}`},
		"reasoning of Converse":       {converse, user(`[{"reasoningContent":{"reasoningText":{"text":"a"}}}]`)},
		"a document of Converse":      {converse, user(`[{"document":{"name":"a"}}]`)},
		"a string in Converse":        {converse, user(`"a"`)},
		"no turn of the user":         {messages, `{"messages":[{"role":"assistant","content":"a"}]}`},
		"invalid JSON":                {messages, `{"system":"a","messages":[}`},
		"a list":                      {messages, `[{"system":"a"}]`},
		"nothing":                     {messages, ``},
		"two system prompts":          {messages, `{"system":"a","system":"b"}`},
		"bytes after the body":        {messages, `{"system":"a"} x`},
		"an instruction in between":   {messages, `{"messages":[{"role":"system","content":"a"}]}`},
	} {
		got := marks.Place([]byte(c.body), c.rules, false)
		if string(got.Body) != c.body || got.Paths != nil {
			t.Errorf("%s: got %q: %s", name, got.Paths, got.Body)
		}
	}
}

func TestPlace_SkipsPrefixesBelowTheMinimum(t *testing.T) {
	t.Parallel()
	rules := messages
	rules.MinTokens = 1024
	short, long := strings.Repeat("a", 2000), strings.Repeat("b", 5000)
	for name, c := range map[string]struct {
		body  string
		paths []string
	}{
		"all short":                    {`{"system":"` + short + `","messages":[{"role":"user","content":"q"}]}`, nil},
		"long with the conversation":   {`{"system":"` + short + `","messages":[{"role":"user","content":"` + short + `"}]}`, []string{"messages[0].content"}},
		"long with the tools after it": {`{"system":"` + short + `","tools":[{"name":"` + short + `"}],"messages":[]}`, []string{"system"}},
		"long": {
			`{"system":"` + long + `","messages":[{"role":"user","content":"q"}]}`,
			[]string{"system", "messages[0].content"},
		},
	} {
		if got := marks.Place([]byte(c.body), rules, false); !slices.Equal(got.Paths, c.paths) {
			t.Errorf("%s: got %q, want %q", name, got.Paths, c.paths)
		}
	}
}

func TestPlace_AnHourNeverFollowsFiveMinutes(t *testing.T) {
	t.Parallel()
	text := func(s, more string) string { return `[{"type":"text","text":"` + s + `"` + more + `}]` }
	body := func(system, question string) string {
		return `{"tools":[{"name":"a"}],"system":` + system + `,"messages":[{"role":"user","content":` + question + `}]}`
	}
	noHour := messages
	noHour.Hour = false
	for name, c := range map[string]struct {
		rules marks.Rules
		body  string
		hour  bool
		want  string
	}{
		"an hour, as requested":                       {messages, body(`"s"`, `"q"`), true, "1h 1h 1h"},
		"an hour that the model lacks":                {noHour, body(`"s"`, `"q"`), true, "5m 5m 5m"},
		"an hour of the caller in the system prompt":  {messages, body(text("s", ","+hour), `"q"`), false, "1h 1h 5m"},
		"five minutes of the caller before":           {messages, body(text("s", ","+five), `"q"`), true, "1h 5m 5m"},
		"an hour of the caller in the last turn":      {messages, body(`"s"`, text("q", ","+hour)), false, "1h 1h 1h"},
		"an hour of the caller that the model lacks":  {noHour, body(`"s"`, text("q", ","+hour)), false, "1h"},
		"an order of the caller that is wrong anyway": {messages, body(text("s", ","+five), text("q", ","+hour)), false, "1h 5m 1h"},
	} {
		got := marks.Place([]byte(c.body), c.rules, c.hour)
		if seen := strings.Join(lifetimes(t, got.Body), " "); seen != c.want {
			t.Errorf("%s: got %q, want %q", name, seen, c.want)
		}
		if got.Hour != strings.Contains(c.want, "1h") {
			t.Errorf("%s: got hour %v", name, got.Hour)
		}
	}
}

// lifetimes lists the marks of a body of Messages in the order in which the provider reads them.
func lifetimes(t testing.TB, body []byte) (list []string) {
	t.Helper()
	var b struct{ Tools, System, Messages any }
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				visit(e)
			}
		case map[string]any:
			visit(v["content"])
			if c, ok := v["cache_control"].(map[string]any); ok {
				list = append(list, "5m")
				if c["ttl"] == "1h" {
					list[len(list)-1] = "1h"
				}
			}
		}
	}
	visit(b.Tools)
	visit(b.System)
	visit(b.Messages)
	return list
}
