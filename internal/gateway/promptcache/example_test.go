package promptcache_test

import (
	"fmt"
	"strings"
	"time"

	"sluice/internal/gateway/promptcache"
	"sluice/internal/gateway/promptcache/pins"
	"sluice/internal/kernel/llm"
)

type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC) }

// A call with provider_cache "auto", from its arrival to its end.
func Example() {
	warm := pins.New(fixedClock{}, 100_000) // one for the gateway

	// When the call arrives, with the caller's body.
	body := []byte(`{"model":"claude-sonnet-4-5","system":"` + strings.Repeat("You code. ", 500) + `","messages":[{"role":"user","content":"Fix it."}]}`)
	conversation := promptcache.Conversation(func(string) string { return "" }, body)
	key := pins.NewKey("ws-1", "ak-1", conversation) // if conversation is not empty
	candidates := []string{"pc-1@7/config.targets[0]", "pc-1@7/config.targets[1]"}
	target, pinned := warm.Prefer(key, candidates)
	fmt.Printf("pinned: %q %v\n", target, pinned)
	target = candidates[1] // as the strategy chooses

	// Before each attempt, with the upstream body after translation and shaping.
	support := promptcache.Find(promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-sonnet-4-5"})
	ready := support.Prepare(body, promptcache.Options{Auto: true})
	fmt.Printf("marks at: %q, dropped: %q\n", ready.Placed, ready.Dropped)

	// After a success, with the usage that the provider reported. After a failure: warm.Drop(key, target).
	usage := llm.Usage{InputTokens: 1250, CacheWriteTokens: 1200}
	warm.Warm(key, target, support.Lifetime(usage, ready.Hour))

	target, pinned = warm.Prefer(key, candidates)
	fmt.Printf("pinned: %q %v\n", target, pinned)
	// Output:
	// pinned: "" false
	// marks at: ["system" "messages[0].content"], dropped: []
	// pinned: "pc-1@7/config.targets[1]" true
}
