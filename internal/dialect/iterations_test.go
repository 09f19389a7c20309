package dialect_test

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/llm"
)

// iterated is the usage of a message on whose way Claude made a summary and asked another model,
// as Anthropic's documentation has it: the figures at the top are those of the message alone.
const iterated = `"usage":{"input_tokens":23000,"output_tokens":1000,"cache_read_input_tokens":500,"cache_creation_input_tokens":0,"inference_geo":"us","iterations":[` +
	`{"type":"compaction","input_tokens":180000,"output_tokens":3500,"cache_read_input_tokens":40,"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":3}},` +
	`{"type":"advisor_message","model":"claude-opus-5-5","input_tokens":800,"output_tokens":1500,"cache_read_input_tokens":20,"cache_creation_input_tokens":0},` +
	`{"type":"message","input_tokens":23000,"output_tokens":1000}]}`

// What a compaction used is paid beside the message, in streams too, which tell it last; what
// another model used is kept apart.
func TestIterationsAreCounted(t *testing.T) {
	t.Parallel()
	want := llm.Usage{
		InputTokens: 23000 + 500 + 180000 + 40 + 7, OutputTokens: 4500, TotalTokens: 208047, CachedTokens: 540, CacheWriteTokens: 7, CacheHourTokens: 3,
		Region: "us", Units: [llm.UnitCount]int64{llm.AdvisorInput: 820, llm.AdvisorOutput: 1500}, Reported: true,
	}
	if u, _ := usage.Read(llm.Messages, []byte(`{"type":"message",`+iterated+`}`), ""); u != want {
		t.Errorf("got\n%+v, want\n%+v", u, want)
	}
	stream := []byte(`data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":9,"cache_read_input_tokens":500,"output_tokens":1,"inference_geo":"us"}}}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},` + iterated + "}\n\n" + `data: {"type":"message_stop"}` + "\n\n")
	relayed := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.Messages})
	relayed.Feed(stream)
	if u := relayed.Usage(); u != want {
		t.Errorf("relayed: got\n%+v, want\n%+v", u, want)
	}
	var streamed llm.Usage
	d := anthropic.Dialect().Upstreams[llm.Messages].NewDecoder(&dialect.Incoming{})
	if err := d.Feed(stream, func(ev *llm.Event) {
		if ev.Kind == llm.EventUsage {
			streamed = *ev.Usage
		}
	}); err != nil || streamed != want {
		t.Errorf("translated: got\n%+v, want\n%+v (%v)", streamed, want, err)
	}
}

// Where Claude ran sets the price; anywhere is the usual one.
func TestRegionOfInference(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{`"us"`: "us", `"global"`: "", `"not_available"`: "", `null`: "", `7`: ""} {
		u, _ := usage.Read(llm.Messages, []byte(`{"usage":{"input_tokens":1,"inference_geo":`+region+`}}`), "")
		if u.Region != want {
			t.Errorf("%s: %q, want %q", region, u.Region, want)
		}
	}
}
