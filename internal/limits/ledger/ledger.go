// Package ledger contains the entries that account for money. An Entry is written as reserved
// before a call is sent to a provider, and is closed once when the call ends. The usage of a
// budget is the sum over the closed entries. Start reading at Entry.
//
// Entries are stored in the journal of the node, next to the log records. Package spend reads
// them there and adds their charges to the meters of the store.
package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/internal/kernel/llm"
)

// ErrMalformed is wrapped by every error about bytes or entries that no version of the gateway
// wrote. The only remedy is to skip them.
var ErrMalformed = errors.New("malformed ledger entry")

// State is what is known about the spend of an entry. The zero State is not valid.
type State uint8

// These are the states. An entry begins as Reserved and is closed by exactly one of the
// others, except Corrected. A Corrected entry is separate: it corrects a call whose entry was
// closed long before.
const (
	Reserved  State = iota + 1 // not ended: the amount is a maximum
	Settled                    // the provider reported the usage
	Estimated                  // the provider did not report it: tokens were counted here
	Released                   // nothing was spent
	Unknown                    // the process ended before the call: the maximum is charged
	Corrected                  // the price was corrected: the charges are differences
)

var stateNames = [...]string{Reserved: "reserved", Settled: "settled", Estimated: "estimated", Released: "released", Unknown: "unknown", Corrected: "corrected"}

// String returns the name of a state, "settled"; empty for an invalid State.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return ""
}

// Closes reports whether an entry of this state has ended.
func (s State) Closes() bool { return s > Reserved && s <= Unknown }

// MarshalText returns the name of the state, or an error if it is invalid.
func (s State) MarshalText() ([]byte, error) {
	if s.String() == "" {
		return nil, fmt.Errorf("state %d: %w", s, ErrMalformed)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads the name of a state; any other text is an error.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < int(Reserved) {
		return fmt.Errorf("state %q: %w", text, ErrMalformed)
	}
	*s = State(i)
	return nil
}

// Charge is an amount on one counter: a budget of a subject, or the counter of a policy for a
// value key. It names the counter as quota.Delta does.
type Charge struct {
	Subject  string // id of a key, workspace, provider, integration or policy
	Entry    string // of a budget: its id; of a policy: the digest of the value key
	ValueKey string // of a policy: "metadata.team:search-api_key:0191…"
	Units    int64  // nano-dollars, tokens or requests, as the counter counts; negative only in corrections
	Cost     bool   // the counter counts nano-dollars
}

// Entry is the spend of one attempt at one target, at one point of its life: the maximum
// before it is sent, or the outcome. Both have the same ID. An Entry belongs to one goroutine;
// the journal copies what it stores.
type Entry struct {
	ID          string // UUID v7: that of the attempt's log record, or its own for a retry
	RequestID   string // shared by all entries of a request
	State       State
	RecordedAt  time.Time // when it was reserved or closed; a correction has the time of the entry that it corrects
	OrgID       string
	WorkspaceID string
	KeyID       string
	Provider    string // "openai"
	ProviderID  string // slug of a saved provider; empty for inline credentials
	Model       string // requested from the upstream
	Endpoint    llm.Endpoint
	Amount      int64    // nano-dollars: the maximum while reserved, the cost when closed
	Unpriced    bool     // there is no price: Amount is 0 and has no meaning
	Charges     []Charge // the holds while reserved, the usage when closed, differences when corrected
	// Set contains the counters of an entry that is charged on many. Amounts then has the
	// charge for each counter, and Charges is empty. Nil for all other entries.
	Set     *Set
	Amounts Amounts
	// CopyOf is the position in the journal of the entry that this one copies; 0 for none. An
	// entry that is open for long is copied to the end, so that the journal before it can be
	// deleted.
	CopyOf uint64
	// ReplayOf is the id of the log that the call replays; empty for a client's call. The cost
	// of replays is the sum over the entries that have it.
	ReplayOf string
	// TraceID is the trace id of the request if the caller chose one; empty if it equals
	// RequestID.
	TraceID string

	// Known is the cache in which Decode looks up sets; nil for none. It is not stored.
	Known *CounterSetCache
}

// AllCharges returns the charges of the entry, from Charges or Set. The caller must not change
// them.
func (l *Entry) AllCharges() []Charge {
	if l.Set == nil {
		return l.Charges
	}
	return l.Set.charges(make([]Charge, 0, len(l.Set.counters)), &l.Amounts)
}

// CostCounters returns CostCounters of the charges of the entry.
func (l *Entry) CostCounters() string {
	if l.Set == nil {
		return CostCounters(l.Charges)
	}
	return l.Set.CostCounters()
}

// CloseAtMaximum closes a reserved entry whose cost is unknown. It charges the maximum and the
// holds, so that unknown usage cannot exceed a limit.
func (l *Entry) CloseAtMaximum(now time.Time) { l.State, l.RecordedAt = Unknown, now }
