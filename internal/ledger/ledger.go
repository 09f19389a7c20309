// Package ledger holds what is kept of money: a Line for everything that is sent to a
// provider, written as reserved before it is sent and closed once when it ended. What
// was used of a budget is the sum over the lines that were closed.
//
// Lines are stored in the journal of the node, beside the log records; package spend
// follows them there and adds their charges to the meters of the store.
package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/internal/llm"
)

// ErrMalformed is what every error wraps that bytes or a line cause which no program
// of ours wrote. There is nothing to do but pass over it.
var ErrMalformed = errors.New("malformed ledger entry")

// State says what is known of the spend of a line. The zero State is none.
type State uint8

// The states. A line begins as Reserved and is closed by exactly one of the others, but for
// Corrected: that is a line of its own, about a call whose line was closed long before.
const (
	Reserved  State = iota + 1 // not ended: the amount is an upper bound
	Settled                    // the provider said what was used
	Estimated                  // it did not: tokens were counted here
	Released                   // nothing was spent
	Unknown                    // the process died meanwhile: the bound stands
	Corrected                  // the price was another one: the charges are differences
)

var stateNames = [...]string{Reserved: "reserved", Settled: "settled", Estimated: "estimated", Released: "released", Unknown: "unknown", Corrected: "corrected"}

// String is the word of a state, "settled"; empty for a State that is none.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return ""
}

// Closes reports whether a line of this state has ended.
func (s State) Closes() bool { return s > Reserved && s <= Unknown }

// MarshalText gives the word; an error for a State that is none.
func (s State) MarshalText() ([]byte, error) {
	if s.String() == "" {
		return nil, fmt.Errorf("state %d: %w", s, ErrMalformed)
	}
	return []byte(s.String()), nil
}

// UnmarshalText takes a word; an error for one that is none of a state.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < int(Reserved) {
		return fmt.Errorf("state %q: %w", text, ErrMalformed)
	}
	*s = State(i)
	return nil
}

// Charge is an amount on one counter: the budget Entry of a carrier, or the counter of
// a policy for a value key. It names the counter as quota.Delta does.
type Charge struct {
	Subject  string // id of a key, workspace, provider, integration or policy
	Entry    string // of a budget: its id; of a policy: the digest of the value key
	ValueKey string // of a policy: "metadata.team:search-api_key:0191…"
	Units    int64  // nano-dollars, tokens or requests, as the counter counts; below 0 in corrections alone
	Cost     bool   // the counter counts nano-dollars
}

// Entry is the spend of one try of one target, at one instant of its life: the bound
// before it is sent, and what became of it. Both have the same ID. It belongs to one
// goroutine; the journal copies what it keeps.
type Entry struct {
	ID          string // UUID v7: that of the attempt's log record, or its own for a retry
	RequestID   string // shared by all lines of a request
	State       State
	RecordedAt  time.Time // when it was reserved; when it was closed, also of what is corrected
	OrgID       string
	WorkspaceID string
	KeyID       string
	Provider    string // "openai"
	ProviderID  string // slug of a saved provider; empty for inline credentials
	Model       string // asked of the upstream
	Endpoint    llm.Endpoint
	Amount      int64    // nano-dollars: the bound while reserved, the cost when closed
	Unpriced    bool     // there is no price: Amount is 0 and says nothing
	Charges     []Charge // the holds while reserved, what was used when closed, differences when corrected
	// Set has the counters of a line that is charged on many; the charges are what Amounts
	// has for each, and Charges is empty. Nil for all other lines.
	Set     *Set
	Amounts Amounts
	// CopyOf is where in the journal the line stands that this is a copy of; 0 for none.
	// A line that is open for long is copied to the end, so that what lies before may go.
	CopyOf uint64
	// ReplayOf is the id of the log that the call repeats; empty for a caller's own. What
	// replays cost is the sum over the lines that have it.
	ReplayOf string
	// TraceID is that of the request where the caller chose one; empty where it is RequestID.
	TraceID string

	// Known is what Decode looks for sets in; nil for none. It is not stored.
	Known *CounterSetCache
}

// AllCharges are the charges of the line, whichever way it has them. They are only read.
func (l *Entry) AllCharges() []Charge {
	if l.Set == nil {
		return l.Charges
	}
	return l.Set.charges(make([]Charge, 0, len(l.Set.counters)), &l.Amounts)
}

// CostCounters is that of the charges of the line.
func (l *Entry) CostCounters() string {
	if l.Set == nil {
		return CostCounters(l.Charges)
	}
	return l.Set.CostCounters()
}

// CloseAtMaximum closes a reserved line of which nobody can say any more what was spent: its
// bound and its holds stand, since a limit must not be overshot by what is not known.
func (l *Entry) CloseAtMaximum(now time.Time) { l.State, l.RecordedAt = Unknown, now }
