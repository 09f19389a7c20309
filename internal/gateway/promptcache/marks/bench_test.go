package marks_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/gateway/promptcache/marks"
)

// agentBody is a body of about 100 KB: a long system prompt, twenty tools and forty turns.
func agentBody() []byte {
	var tools, turns []string
	for i := range 20 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":%q,"input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`, i, strings.Repeat("Reads a file. ", 60)))
	}
	for i := range 40 {
		turns = append(turns,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c%d","name":"tool_1","input":{"path":"/a/b"}}]}`, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, strings.Repeat("line of a file\n", 100)))
	}
	return []byte(`{"model":"claude-sonnet-4-5","max_tokens":4096,"system":"` + strings.Repeat("You write code. ", 1000) + `","tools":[` + strings.Join(tools, ",") +
		`],"messages":[{"role":"user","content":"Start."},` + strings.Join(turns, ",") + `]}`)
}

func BenchmarkPlace(b *testing.B) {
	body := agentBody()
	rules := messages
	rules.MinTokens = 1024
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if got := marks.Place(body, rules, false); got.Marks != marks.MaxMarks {
			b.Fatalf("%d marks", got.Marks)
		}
	}
}

func BenchmarkDrop(b *testing.B) {
	body := marks.Place(agentBody(), messages, false).Body
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, dropped := marks.Drop(body, marks.Messages); len(dropped) != marks.MaxMarks {
			b.Fatalf("dropped %q", dropped)
		}
	}
}
