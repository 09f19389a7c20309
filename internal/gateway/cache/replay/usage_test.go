package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/replay"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func TestUsageIsRepeatedOnRequest(t *testing.T) {
	t.Parallel()
	for ep, want := range map[llm.Endpoint]bool{llm.ChatComplete: false, llm.Complete: false, llm.Messages: true, llm.CreateModelResponse: true} {
		stream := replay.Stream(nil, ep, []byte(bodies[ep]), replay.Options{Now: now.Now})
		if got := strings.Contains(string(stream), `_tokens"`); got != want {
			t.Errorf("%s: %v", ep, got)
		}
	}
}

// TestUsageIsAddedWhereTheStoredStreamHadNone covers a caller who did not request usage, and a later
// one who does.
func TestUsageIsAddedWhereTheStoredStreamHadNone(t *testing.T) {
	t.Parallel()
	o := replay.Options{Now: now.Now, IncludeUsage: true, Usage: llm.Usage{InputTokens: 3, OutputTokens: 4, CachedTokens: 2, Reported: true}}
	for _, ep := range []llm.Endpoint{llm.ChatComplete, llm.Complete} {
		stored := replay.Assemble(ep, replay.Stream(nil, ep, []byte(bodies[ep]), replay.Options{}), maxBytes)
		if _, ok := jsonedit.Find(stored.Body, "usage"); ok {
			t.Fatal("the stream has usage")
		}
		streamed := replay.Assemble(ep, replay.Stream(nil, ep, stored.Body, o), maxBytes)
		for _, body := range [][]byte{replay.JSON(ep, stored.Body, o), streamed.Body} {
			if raw, _ := jsonedit.Find(body, "usage", "total_tokens"); string(raw) != "7" {
				t.Errorf("%s: total_tokens %s", ep, raw)
			}
		}
		if got := replay.JSON(ep, []byte(bodies[ep]), o); bytes.Contains(got, []byte(`"total_tokens":7`)) {
			t.Errorf("%s: the provider's usage was replaced", ep)
		}
	}
}
