package routing

import (
	"context"
	"time"
)

// Mode is the name of a strategy.
type Mode string

// These are the modes. Source: contract/dataplane.md 3.2.
const (
	ModeSingle      Mode = "single"
	ModeFallback    Mode = "fallback"
	ModeLoadBalance Mode = "loadbalance"
	ModeConditional Mode = "conditional"
)

// Policy is how a loadbalance chooses. All except Weighted are ours.
type Policy string

// These are the policies. None of them uses a target of weight 0. Above 0, the weight matters
// only to Weighted.
const (
	Weighted     Policy = "weighted"      // at random by weight
	RoundRobin   Policy = "round_robin"   // one after the other
	LeastLatency Policy = "least_latency" // the fastest recently
	LeastBusy    Policy = "least_busy"    // the fewest calls in flight
)

// Strategy is how a branch uses its targets.
type Strategy struct {
	Mode   Mode
	Policy Policy // loadbalance only
	// OnStatus are the statuses after which a fallback tries the next target. Nil means any
	// status except 2xx. Fallback only.
	OnStatus []int
	Sticky   *Sticky // loadbalance only; nil when off

	run        runner
	conditions []condition
	otherwise  int // index of the conditional's default target, -1 for none
}

// Sticky assigns callers with the same values to the same target.
type Sticky struct {
	HashFields []string      // "metadata.user_id", "params.user", "url.pathname"
	TTL        time.Duration // from the assignment; 1 h if not given

	facts []fact
}

// runner executes a strategy on a branch.
type runner func(w *walk, ctx context.Context, n *Node) (Outcome, error)

// strategies lists every strategy. A new one needs its file and an entry here. fields are the
// members of the strategy object that only some modes use. prepare fills in the mode's part of
// a Strategy and reports errors.
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
