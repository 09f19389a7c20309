package routing

import (
	"context"
	"time"

	"sluice/internal/ident"
)

// Inputs are what conditions and sticky assignments look at. Implementations look
// a fact up when it is asked for, so that a config without conditions costs no
// decoding. A Facts belongs to one walk.
type Inputs interface {
	// Metadata returns a metadata value of the request.
	Metadata(key string) (string, bool)
	// Param returns a top-level field of the JSON body, decoded: string, float64,
	// bool or nil. Lists and objects need not be there, for they are equal to nothing;
	// a body that is no JSON has none. The conditions of a strategy ask once for each.
	Param(key string) (any, bool)
	// Path is the path of the request without the query, "/v1/chat/completions".
	Path() string
}

// Outcome is how the try of a target went.
type Outcome struct {
	Status         int  // answered or to be answered; 0 when there is no answer at all
	Committed      bool // bytes reached the client: no other target unless it continues the stream
	Ended          bool // what reached the client cannot be continued
	UpstreamFailed bool // the upstream did not answer, or broke off, whatever Status the caller is told
	Garbled        bool // its answer cannot be used: the walk goes on as when Skipped, and its breaker counts it
	// Skipped: the target could not serve this call and the gateway says so, not the
	// upstream: endpoint not supported, credentials missing. A fallback moves on
	// whatever its status list; a breaker does not count it.
	Skipped     bool
	FromGateway bool  // the gateway answered by itself: it says nothing about the target, and a breaker does not count it
	Final       bool  // no other target will do: the client is gone, or its own limits refuse it
	Err         error // why it is not good; nil for an answer of the upstream, whatever its status
	// Latency is the time to the first byte of the answer. Zero means not measured.
	Latency time.Duration
}

// good reports whether the outcome is a whole answer with a 2xx status.
func (o *Outcome) good() bool { return o.Err == nil && o.Status >= 200 && o.Status < 300 }

// countsForHealth reports whether the outcome says something about the target: a breaker counts it,
// and so does least_latency.
func (o *Outcome) countsForHealth() bool {
	return !o.Final && (!o.Skipped || o.Garbled) && !o.FromGateway
}

// Try sends a call to one target and says how it went. It runs at most once per
// target and walk. Calls under way are counted until it returns.
type Try func(ctx context.Context, t *Target) Outcome

// Engine runs strategies and remembers what they need between requests: circuit
// breakers, turns, latencies, calls under way and sticky assignments. All of it
// is in memory, of this process alone, and bounded (MaxStates, MaxSticky): the
// least recently used entry makes way. Safe for concurrent use.
type Engine struct {
	clock  ident.Clock
	rnd    func() float64
	states *table[stateKey, *state]
	sticky *table[stickyKey, assignment]
}

// The bounds of what an Engine remembers.
const (
	MaxStates = 1 << 16 // targets and strategies; a forgotten target is closed, idle and unmeasured
	MaxSticky = 1 << 17 // assignments; a forgotten caller is drawn anew
)

// NewEngine returns an Engine without memory. rnd returns numbers in [0, 1) and
// must be safe for concurrent use, for example rand.Float64 of math/rand/v2.
func NewEngine(clock ident.Clock, rnd func() float64) *Engine {
	return &Engine{
		clock:  clock,
		rnd:    rnd,
		states: newTable[stateKey, *state](MaxStates),
		sticky: newTable[stickyKey, assignment](MaxSticky),
	}
}

// Walk runs the config: it chooses targets and calls try for each until one is
// good or none is left, and returns the outcome of the last. Each target is tried
// at most once. scope separates what the engine remembers of tenants, for example
// "<workspace id>/pc-main-1a2b3c"; configs that differ in a byte are kept apart
// besides, so a changed config starts with closed circuits. f may be nil when the
// config asks for no facts. A config of one leaf is tried without an allocation.
//
// The error is fault.InvalidRequest when no condition of a conditional held and
// it has no default; the outcome then carries the same error, status 400.
func (e *Engine) Walk(ctx context.Context, c *Config, scope string, f Inputs, try Try) (Outcome, error) {
	if c.IsStateless() {
		return try(ctx, c.Root.Target), nil
	}
	if f == nil {
		f = noFacts{}
	}
	w := &walk{engine: e, scope: scope, config: c.hash, facts: f, try: try}
	return w.node(ctx, c.Root)
}

// IsStateless reports whether walks of c leave nothing behind in an Engine, so that their
// scope does not matter: c is one leaf without a breaker.
func (c *Config) IsStateless() bool { return c.Root.Target != nil && c.Root.Target.Breaker == nil }

// walk is one run of Walk; it belongs to one goroutine.
type walk struct {
	engine *Engine
	scope  string
	config uint64
	facts  Inputs
	try    Try
	last   *Target // tried last
}

func (w *walk) node(ctx context.Context, n *Node) (Outcome, error) {
	if n.Target != nil {
		return w.leaf(ctx, n.Target), nil
	}
	return n.Strategy.run(w, ctx, n)
}

func (w *walk) leaf(ctx context.Context, t *Target) Outcome {
	w.last = t
	out := w.try(ctx, t)
	if t.Breaker != nil && out.countsForHealth() {
		w.engine.state(w.leafKey(t)).breaker.count(t.Breaker, &out, w.engine.clock.Now())
	}
	return out
}

// live returns the targets of a branch whose circuits are closed, all of them
// when every circuit is open. It allocates only when some are open.
// Source: contract/dataplane.md 4.5.
func (w *walk) live(n *Node) []*Node {
	if !n.hasBreaker {
		return n.Targets
	}
	now := w.engine.clock.Now()
	var closed []*Node
	for i, t := range n.Targets {
		open := w.open(t, now)
		if open && closed == nil {
			closed = append(make([]*Node, 0, len(n.Targets)), n.Targets[:i]...)
		} else if !open && closed != nil {
			closed = append(closed, t)
		}
	}
	if len(closed) == 0 { // none open, or all
		return n.Targets
	}
	return closed
}

// open reports whether a leaf's circuit is open, or those of all leaves below a
// branch.
func (w *walk) open(n *Node, now time.Time) bool {
	if !n.hasBreaker {
		return false
	}
	if n.Target != nil {
		st, ok := w.engine.states.get(w.leafKey(n.Target))
		return ok && st.breaker.open(now)
	}
	for _, t := range n.Targets {
		if !w.open(t, now) {
			return false
		}
	}
	return true
}

// noFacts stands for a request without metadata, body and path.
type noFacts struct{}

func (noFacts) Metadata(string) (string, bool) { return "", false }
func (noFacts) Param(string) (any, bool)       { return nil, false }
func (noFacts) Path() string                   { return "" }
