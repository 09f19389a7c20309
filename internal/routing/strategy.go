package routing

import (
	"context"
	"time"
)

// Mode names a strategy.
type Mode string

// The modes. Source: contract/dataplane.md 3.2.
const (
	ModeSingle      Mode = "single"
	ModeFallback    Mode = "fallback"
	ModeLoadBalance Mode = "loadbalance"
	ModeConditional Mode = "conditional"
)

// Policy is how a loadbalance chooses. All but Weighted are ours.
type Policy string

// The policies. A target of weight 0 is in none of them; above 0 the weight
// matters to Weighted alone.
const (
	Weighted     Policy = "weighted"      // drawn by weight
	RoundRobin   Policy = "round_robin"   // one after the other
	LeastLatency Policy = "least_latency" // the quickest of late
	LeastBusy    Policy = "least_busy"    // the fewest calls under way
)

// Strategy says how a branch uses its targets.
type Strategy struct {
	Mode   Mode
	Policy Policy // loadbalance only
	// OnStatus are the statuses on which a fallback moves on; nil means any but
	// 2xx. Fallback only.
	OnStatus []int
	Sticky   *Sticky // loadbalance only; nil when off

	run        runner
	conditions []condition
	otherwise  int // index of the conditional's default target, -1 for none
}

// Sticky keeps callers with the same values on the same target.
type Sticky struct {
	HashFields []string      // "metadata.user_id", "params.user", "url.pathname"
	TTL        time.Duration // counted from the assignment; 1 h when not given

	facts []fact
}

// runner executes a strategy on a branch.
type runner func(w *walk, ctx context.Context, n *Node) (Outcome, error)

// strategies lists every strategy; a new one is its file and a line here. fields
// are the members of the strategy object that only some modes can use; prepare
// fills in the mode's part of a Strategy and reports what it cannot run.
var strategies = []struct {
	mode    Mode
	run     runner
	fields  []string
	prepare func(p *parser, path string, d *strategyDraft, n *Node, s *Strategy)
}{
	{ModeSingle, (*walk).single, nil, prepareSingle},
	{ModeFallback, (*walk).fallback, nil, prepareFallback},
	{ModeLoadBalance, (*walk).balance, []string{"policy", "sticky"}, prepareBalance},
	{ModeConditional, (*walk).conditional, []string{"conditions", "default"}, prepareConditional},
}
