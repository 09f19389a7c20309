package gateway_test

import (
	"runtime/debug"
	"testing"
)

// chatAllocs is the recorded baseline of the plain chat path: allocations from the
// front's request, whose own three are among them, to the end of the answer, the
// transport included. They are 15 or 16, as pools are met full or empty; one of them is
// the text of how the cost comes about. Raise it only with a reason in the commit.
const chatAllocs = 16

// translatedAllocs are those of a conversation of 1 KB with tools, put in a provider's
// words: what the hub and its texts take, each once. They are one less when pools are full.
var translatedAllocs = map[string]float64{"openai": 14, "anthropic": 60, "bedrock": 61}

// It is not parallel, because allocations are counted for the whole process, and runs
// without collections, which would empty the pools.
func TestChatAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(500, benchChat(t)); n > chatAllocs && !raceEnabled {
		t.Errorf("a plain chat call allocates %.0f times; the baseline is %d", n, chatAllocs)
	}
}

func TestTranslatedAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, c := range tellings {
		if n := testing.AllocsPerRun(500, benchConversation(t, c.config)); n > translatedAllocs[c.provider] && !raceEnabled {
			t.Errorf("a call told to %s allocates %.0f times; the baseline is %.0f", c.provider, n, translatedAllocs[c.provider])
		}
	}
}
