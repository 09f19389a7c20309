package replay_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/replay"
	"sluice/internal/kernel/llm"
)

// TestAnyTextSurvives draws texts and sizes of reads.
func TestAnyTextSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, _ := json.Marshal(rapid.String().Draw(t, "text"))
		args, _ := json.Marshal(`{"q":` + string(text) + `}`)
		format := map[llm.Endpoint]string{
			llm.ChatComplete:        `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","reasoning":%[1]s,"content":%[1]s,"tool_calls":[{"id":"a","function":{"name":"f","arguments":%[2]s}}]},"finish_reason":"stop"}]}`,
			llm.Complete:            `{"object":"text_completion","choices":[{"index":0,"text":%[1]s,"logprobs":null,"finish_reason":"stop"}]}%.0[2]s`,
			llm.Messages:            `{"type":"message","content":[{"type":"thinking","thinking":%[1]s,"signature":"s"},{"type":"text","text":%[1]s},{"type":"tool_use","id":"a","input":{"q":%[1]s}}],"stop_reason":"end_turn"}%.0[2]s`,
			llm.CreateModelResponse: `{"status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":%[1]s}]},{"type":"function_call","call_id":"c","arguments":%[2]s}]}`,
		}
		ep := rapid.SampledFrom([]llm.Endpoint{llm.ChatComplete, llm.Complete, llm.Messages, llm.CreateModelResponse}).Draw(t, "surface")
		body := fmt.Appendf(nil, format[ep], text, args)
		stream := replay.Stream(nil, ep, body, now)
		a, _ := replay.NewAssembler(ep, maxBytes)
		for left := stream; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "read")
			a.Feed(left[:n])
			left = left[n:]
		}
		got := a.Result()
		var want, have any
		if json.Unmarshal(body, &want) != nil || json.Unmarshal(got.Body, &have) != nil {
			t.Fatalf("%s became %s", body, got.Body)
		}
		if diff := cmp.Diff(withoutIDs(want), withoutIDs(have)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzAssembleNeverPanics(f *testing.F) {
	for ep, body := range bodies {
		f.Add(string(ep), replay.Stream(nil, ep, []byte(body), now))
	}
	f.Fuzz(func(t *testing.T, ep string, stream []byte) {
		got := replay.Assemble(llm.Endpoint(ep), stream, maxBytes)
		if got.Body != nil && !json.Valid(got.Body) {
			t.Errorf("%s is not JSON", got.Body)
		}
		replay.Stream(nil, llm.Endpoint(ep), stream, now)
		replay.JSON(llm.Endpoint(ep), stream, now)
	})
}

func BenchmarkStreamChat(b *testing.B) {
	body := []byte(bodies[llm.ChatComplete])
	b.ReportAllocs()
	for b.Loop() {
		replay.Stream(nil, llm.ChatComplete, body, now)
	}
}

// BenchmarkAssembleChat is one delta of a stream on its way into the cache.
func BenchmarkAssembleChat(b *testing.B) {
	a, _ := replay.NewAssembler(llm.ChatComplete, 1<<40)
	chunk := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1741569952,"model":"gpt-4.1","choices":[{"index":0,"delta":{"content":"lorem"},"finish_reason":null}]}` + "\n\n")
	b.ReportAllocs()
	for b.Loop() {
		a.Feed(chunk)
	}
}
