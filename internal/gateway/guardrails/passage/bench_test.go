package passage_test

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/llm"
)

// chatBody returns a chat request of about 4 KB with a system prompt, earlier turns and a tool call.
func chatBody() []byte {
	line := "The quick brown fox jumps over the lazy dog while the gateway reads each of its words. "
	return []byte(`{"model":"gpt-4o-mini","messages":[{"role":"system","content":"` + strings.Repeat(line, 12) + `"},` +
		`{"role":"user","content":[{"type":"text","text":"` + strings.Repeat(line, 12) + `\n"}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"search","arguments":"{\"query\":\"` + strings.Repeat(line, 4) + `\",\"limit\":5}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"` + strings.Repeat(line, 12) + `"},` +
		`{"role":"user","content":"` + strings.Repeat(line, 4) + `my mail is ann@example.com"}],"temperature":0.2}`)
}

func BenchmarkRequest_Chat4KB(b *testing.B) {
	body := chatBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := passage.Request(llm.ChatComplete, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRequest_Chat4KBReplaced(b *testing.B) {
	body := chatBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := passage.Request(llm.ChatComplete, body)
		if err != nil {
			b.Fatal(err)
		}
		last := len(r.Passages()) - 1
		r.Replace(last, "my mail is [EMAIL_ADDRESS]")
		if len(r.Bytes()) == len(body) {
			b.Fatal("the body is unchanged")
		}
	}
}

func BenchmarkRequest_Word10MB(b *testing.B) {
	body := append(append([]byte(`{"messages":[{"role":"user","content":"`), bytes.Repeat([]byte("a"), 10<<20)...), `"}]}`...)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := passage.Request(llm.ChatComplete, body); err != nil {
			b.Fatal(err)
		}
	}
}
