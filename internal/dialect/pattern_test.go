package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Events that look like the ones before are not looked at closely. What comes of a
// stream is all the same as when each byte comes by itself, and nothing looks like
// anything.
func TestAlikeEvents(t *testing.T) {
	t.Parallel()
	text := rapid.SampledFrom([]string{
		``, `a`, `Hello`, `{\"usage\": 1}`, `\"`, `\\`, `\\\"`, `\n\n`, `data: `, `"`, "\n", "\n\n", "\r", `","finish_reason":"stop","x":"`, `","error":{"message":"no"},"x":"`,
		`","usage":{"total_tokens":7},"x":"`, `","type":"message_stop","x":"`, "\xc3\xa4", `null`, `7`, `71`, `-7.5e+1`,
	})
	line := rapid.SampledFrom([]string{
		`data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"$"},"finish_reason":null}]}` + "\n\n",
		`data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"$"},"finish_reason":null}],"usage":null,"obfuscation":"$"}` + "\n\n",
		`data: {"id": "1", "model": "m", "usage": null, "choices": [{"index": 0, "delta": {"content": "$"}, "finish_reason": null}]}` + "\n\n",
		`data: {"id":"1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"$"}]}` + "\n\n",
		`data: {"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}` + "\n\n",
		`data: {"error":"$"}` + "\n\n",
		`data: {"list":["a:","$"],"n":1}` + "\r\n\r\n",
		`data: {"list":["a:",1,"$"]}` + "\n\n",
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"$"}}` + "\n\n",
		`data: {"type":"$","x":1}` + "\n\n",
		`data: {"type" : "$","x":1}` + "\n\n",
		`data: {"id":"1","model":"m","n":$,"choices":[{"index":0,"delta":{"content":"$"},"finish_reason":null}],"usage":null}` + "\n\n",
		`data: {"n":[1,$],"m": $ }` + "\n\n",
		"event: $\ndata: {}\n\n",
		": $\n\n",
		"data: [DONE]\n\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		opt := dialect.StreamOptions{
			Endpoint:  rapid.SampledFrom([]llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse}).Draw(t, "endpoint"),
			HideUsage: rapid.Bool().Draw(t, "hide usage"), CollectText: rapid.Bool().Draw(t, "keep text"),
		}
		few := rapid.SliceOfNDistinct(line, 1, 3, rapid.ID).Draw(t, "lines") // of few kinds, so that they are alike
		var stream strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			for i, part := range strings.Split(rapid.SampledFrom(few).Draw(t, "line"), "$") {
				if i > 0 {
					stream.WriteString(text.Draw(t, "text"))
				}
				stream.WriteString(part)
			}
		}
		full, fullEnd := relay(opt, stream.String())
		cut, cutEnd := relay(opt, strings.Split(stream.String(), "")...)
		if full != cut || !cmp.Equal(fullEnd, cutEnd) {
			t.Fatalf("stream %q\nwhole  %q\nbytes  %q\n%s", stream.String(), full, cut, cmp.Diff(fullEnd, cutEnd))
		}
	})
}
