package quota

// CounterID names the counter of one limit. The Entry of a budget is its Budget.ID, that of a
// rate is RateEntry. A policy has a counter for each value key; the counter of a usage limit
// has no Entry.
type CounterID struct {
	Subject  string // id of the record; "integration/workspace" for a rate of an integration in a workspace
	Entry    string
	ValueKey string // of a policy: "metadata.team:search"
}

// RateEntry returns the Entry of a rate. A subject has at most one rate of a type and unit. A
// policy whose unit changes counts from zero again.
func RateEntry(t Type, u Unit) string { return string(t) + "/" + string(u) }

// Owner identifies the record that has a limit, for messages about it.
type Owner struct {
	Kind string // of the record, or IntegrationWorkspace
	ID   string
	Name string // its slug, or its name if it does not have one
}

// Hold is what a call takes from one limit before it is sent. A list of holds belongs to one
// call and one goroutine: Take marks what it took, Settle what it released. A hold that is not
// taken may be copied freely.
type Hold struct {
	Counter CounterID
	Org     string  // organisation of the counter: nodes share counters by it; may be empty if no other node counts
	Owner   *Owner  // nil if no message needs it
	Measure Measure // what Amount and Limit count
	Amount  int64   // maximum that the call may use: nano-dollars, tokens or requests; negative counts as 0
	Limit   int64   // in the same units
	Soft    bool    // reject only when Limit is reached, however much is held
	Unit    Unit    // window of a rate; empty for budgets
	Spent   bool    // what is taken is used at once and remains used if a later hold is rejected: rates of requests
	Rest    bool    // if Amount does not fit, take what is left of the limit, if anything is; Amount is then that

	ref   *counterRef // shared by all copies; nil if the counter is looked up each time
	taken *counter
	turn  uint64 // number of the window in which it was taken
	left  int64  // of the limit, when it was taken
}

// Remaining returns what was left of the limit when the hold was taken, and whether it is
// taken.
func (h *Hold) Remaining() (left int64, taken bool) { return h.left, h.taken != nil }

// Fits reports whether Amount, or the rest with Rest, may be taken, given what is used and
// held.
func (h *Hold) Fits(used, held int64) bool {
	left := h.Limit - Plus(used, held)
	return used < h.Limit && (h.Soft || h.amount() <= left || h.Rest && left > 0)
}

// reduce lowers the amount of a hold with Rest to what is left.
func (h *Hold) reduce(left int64) {
	if h.Rest {
		h.Amount = min(h.Amount, left)
	}
}

func (h *Hold) amount() int64 { return max(h.Amount, 0) }
