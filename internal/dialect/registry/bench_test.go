package registry_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/llm"
)

// The figures of docs/benchmarks.md on translation come from these:
//
//	go test -run xxx -bench . -benchmem ./internal/dialect/registry

func find(b testing.TB, name string) *dialect.Dialect {
	for _, d := range registry.List() {
		if d.Name == name {
			return d
		}
	}
	b.Fatalf("there is no dialect %q", name)
	return nil
}

// conversation is a chat of about size bytes with two tools.
func conversation(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":512,"temperature":0.2,"tools":[`)
	for i := range 2 {
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"Looks something up","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}},`, i)
	}
	s := strings.TrimSuffix(b.String(), ",") + `],"messages":[{"role":"system","content":"You are a helpful assistant."}`
	for i := 0; len(s) < size-40; i++ {
		s += `,{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 20) + `"}`
		if len(s) < size-600 {
			s += fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"tool_0","arguments":"{\"q\":\"x\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"},{"role":"assistant","content":"It is so."}`, i, i, strings.Repeat("found ", 30))
		}
	}
	return []byte(s + `]}`)
}

// recordedBodies are answers of about 1 KB in the words of providers.
var recordedBodies = map[string]string{
	"anthropic": `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 70) + `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":200}}`,
	"bedrock":   `{"output":{"message":{"role":"assistant","content":[{"text":"` + strings.Repeat("lorem ipsum ", 70) + `"}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":200,"totalTokens":209},"metrics":{"latencyMs":12}}`,
	"gemini":    `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + strings.Repeat("lorem ipsum ", 70) + `"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":200,"totalTokenCount":209},"modelVersion":"m"}`,
	"cohere":    `{"id":"1","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 70) + `"}]},"usage":{"tokens":{"input_tokens":9,"output_tokens":200}}}`,
}

// BenchmarkExchange is a chat and its answer of 1 KB on their way through the hub.
func BenchmarkExchange(b *testing.B) {
	client := find(b, "openai").Clients[llm.ChatComplete]
	for name, response := range recordedBodies {
		up := find(b, name).Upstreams[llm.ChatComplete]
		for _, size := range []int{1 << 10, 50 << 10} {
			body := conversation(size)
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				b.ReportAllocs()
				to := &dialect.Target{Endpoint: llm.ChatComplete, Provider: name, Model: "m", Value: func(string) string { return "" }}
				for b.Loop() {
					c, err := client.DecodeCall(body)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := up.EncodeCall(context.Background(), c, to); err != nil {
						b.Fatal(err)
					}
					r, err := up.DecodeResponse(&dialect.Incoming{Status: 200, Body: []byte(response), Call: c, To: to})
					if err != nil {
						b.Fatal(err)
					}
					client.EncodeResponse(nil, r, &dialect.ResponseContext{Call: c, ID: "x", Strict: true})
				}
			})
		}
	}
}

// deltas are the events of a stream that bring text, one each.
var deltas = map[string][]byte{
	"anthropic": []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"lorem\"}}\n\n"),
	"bedrock":   frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"lorem"},"p":"abcdefghijklmnop"}`),
	"gemini":    []byte("data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"lorem\"}]},\"index\":0}],\"modelVersion\":\"m\"}\n\n"),
	"cohere":    []byte("event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"lorem\"}}}}\n\n"),
	"openai":    []byte("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lorem\"},\"finish_reason\":null}]}\n\n"),
}

// openings begin a stream, where its deltas need that.
var openings = map[string][]byte{
	"anthropic": []byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"),
	"bedrock": frame("messageStart", `{"role":"assistant"}`),
	"cohere": []byte("event: message-start\ndata: {\"type\":\"message-start\",\"id\":\"1\"}\n\n" +
		"event: content-start\ndata: {\"type\":\"content-start\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"type\":\"text\",\"text\":\"\"}}}}\n\n"),
}

// frame is one message of an AWS event stream.
// Source: contract/provider-transforms.md 3.7.
func frame(event, payload string) []byte {
	var head []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		head = append(append(head, byte(len(h[0]))), h[0]...)
		head = append(head, 7)
		head = append(binary.BigEndian.AppendUint16(head, uint16(len(h[1]))), h[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(head)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, head...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// BenchmarkEvent is one event of a stream on its way to each surface.
func BenchmarkEvent(b *testing.B) {
	for name, delta := range deltas {
		up := find(b, name).Upstreams[llm.ChatComplete]
		for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
			if name == "openai" && surface == llm.ChatComplete {
				continue // is not translated
			}
			client := clientOf(surface)
			b.Run(name+"/"+string(surface), func(b *testing.B) {
				b.ReportAllocs()
				c := &llm.Call{Surface: surface, Model: "m"}
				dec := up.NewDecoder(&dialect.Incoming{Status: 200, Call: c, To: &dialect.Target{Value: func(string) string { return "" }}})
				enc := client.NewEncoder(&dialect.ResponseContext{Call: c, ID: "x", Strict: true})
				var out []byte
				events := 0
				emit := func(ev *llm.Event) {
					out = enc.Append(out[:0], ev)
					if ev.Kind == llm.EventText {
						events++
					}
				}
				if err := dec.Feed(openings[name], emit); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := dec.Feed(delta, emit); err != nil {
						b.Fatal(err)
					}
				}
				if events < b.N {
					b.Fatalf("%d events came of %d", events, b.N)
				}
			})
		}
	}
}

func clientOf(surface llm.Endpoint) dialect.Client {
	for _, d := range registry.List() {
		if c := d.Clients[surface]; c != nil {
			return c
		}
	}
	return nil
}
