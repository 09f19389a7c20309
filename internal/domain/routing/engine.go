package routing

import (
	"context"
	"time"

	"sluice/internal/kernel/ident"
)

// Inputs are the request values that conditions and sticky assignments use. Implementations
// compute a value when it is requested, so that a config without conditions needs no decoding.
// An Inputs belongs to one walk.
type Inputs interface {
	// Metadata returns a metadata value of the request.
	Metadata(key string) (string, bool)
	// Param returns a top-level field of the JSON body, decoded: string, float64, bool or nil.
	// Lists and objects may be omitted, since they are equal to nothing. A body that is not
	// JSON has no fields. The conditions of a strategy request each field once.
	Param(key string) (any, bool)
	// Path returns the path of the request without the query, "/v1/chat/completions".
	Path() string
}

// Outcome is the result of trying a target.
type Outcome struct {
	Status         int  // of the response, received or to be sent; 0 if there is no response
	Committed      bool // bytes reached the client: no other target unless it continues the stream
	Ended          bool // the response that reached the client cannot be continued
	UpstreamFailed bool // the upstream did not respond, or its response broke off, whatever Status the caller gets
	Garbled        bool // its response is unusable: the walk continues as when Skipped, and its breaker counts it
	// Skipped is set if the target could not serve this call and the gateway, not the
	// upstream, detected it: endpoint not supported, credentials missing. A fallback continues
	// regardless of its status list; a breaker does not count it.
	Skipped     bool
	FromGateway bool  // the response is the gateway's own, not the target's; a breaker does not count it
	Final       bool  // no other target can serve the call: the client disconnected, or its own limits reject it
	Err         error // why the outcome is not good; nil for a response of the upstream, whatever its status
	// Latency is the time to the first byte of the response. Zero means not measured.
	Latency time.Duration
}

// good reports whether the outcome is a complete response with a 2xx status.
func (o *Outcome) good() bool { return o.Err == nil && o.Status >= 200 && o.Status < 300 }

// countsForHealth reports whether the outcome reflects the health of the target. Breakers and
// least_latency count only such outcomes.
func (o *Outcome) countsForHealth() bool {
	return !o.Final && (!o.Skipped || o.Garbled) && !o.FromGateway
}

// Try sends a call to one target and returns the outcome. It runs at most once per target and
// walk. A call is in flight until Try returns.
type Try func(ctx context.Context, t *Target) Outcome

// Engine runs strategies and stores their state between requests: circuit breakers, turns,
// latencies, calls in flight and sticky assignments. The state is in memory, local to this
// process, and limited (MaxStates, MaxSticky): the least recently used entry is evicted. It is
// safe for concurrent use.
type Engine struct {
	clock  ident.Clock
	rnd    func() float64
	states *table[stateKey, *state]
	sticky *table[stickyKey, assignment]
}

// These limit the state of an Engine.
const (
	MaxStates = 1 << 16 // targets and strategies; an evicted target is closed, idle and unmeasured
	MaxSticky = 1 << 17 // assignments; an evicted caller is assigned again
)

// NewEngine returns an Engine without state. rnd returns numbers in [0, 1) and must be safe
// for concurrent use, for example rand.Float64 of math/rand/v2.
func NewEngine(clock ident.Clock, rnd func() float64) *Engine {
	return &Engine{
		clock:  clock,
		rnd:    rnd,
		states: newTable[stateKey, *state](MaxStates),
		sticky: newTable[stickyKey, assignment](MaxSticky),
	}
}

// Walk runs the config: it chooses targets and calls try for each until one is good or none is
// left, and returns the last outcome. Each target is tried at most once. scope separates the
// state of tenants, for example "<workspace id>/pc-main-1a2b3c". Configs that differ in any
// byte also have separate state, so a changed config starts with closed circuits. f may be nil
// if the config uses no inputs. A config of one leaf is tried without an allocation.
//
// The error is fault.InvalidRequest if no condition of a conditional held and it does not have
// a default. The outcome then contains the same error, status 400.
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

// IsStateless reports whether walks of c leave no state in an Engine, so that their scope does
// not matter: c is one leaf without a breaker.
func (c *Config) IsStateless() bool { return c.Root.Target != nil && c.Root.Target.Breaker == nil }

// walk is one run of Walk. It belongs to one goroutine.
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

// live returns the targets of a branch whose circuits are closed, or all of them if every
// circuit is open. It allocates only if some are open.
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

// open reports whether a leaf's circuit is open, or those of all leaves below a branch.
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

// noFacts is the Inputs of a request without metadata, body and path.
type noFacts struct{}

func (noFacts) Metadata(string) (string, bool) { return "", false }
func (noFacts) Param(string) (any, bool)       { return nil, false }
func (noFacts) Path() string                   { return "" }
