package quota

// CounterID names what one limit counts. The Entry of a budget is its Budget.ID, that of a
// rate is RateEntry. A policy has a counter for each value key; that of a usage limit has no
// Entry.
type CounterID struct {
	Subject  string // id of the record; of an integration in a workspace "integration/workspace" where it is a rate
	Entry    string
	ValueKey string // of a policy: "metadata.team:search"
}

// RateEntry is the Entry of a rate: of a carrier a type and unit have one, and a policy that is
// given another unit counts anew.
func RateEntry(t Type, u Unit) string { return string(t) + "/" + string(u) }

// Owner is what has a limit, for those who are told of it.
type Owner struct {
	Kind string // of the record, or IntegrationWorkspace
	ID   string
	Name string // its slug, or its name where it has none
}

// Hold is what a call takes from one limit before it is sent. A list of them belongs to
// one call and one goroutine: Take marks what it took, Settle what it gave back. Copies
// that nobody took are free to make.
type Hold struct {
	Counter CounterID
	Org     string  // organisation of the counter: nodes share counters by it; may be empty where no other node counts
	Owner   *Owner  // nil where nobody is told
	Measure Measure // what Amount and Limit count
	Amount  int64   // the most that the call may use: nano-dollars, tokens or requests; negative counts as 0
	Limit   int64   // in the same units
	Soft    bool    // refuse only when Limit is reached, however much is held
	Unit    Unit    // window of a rate; empty for budgets
	Spent   bool    // what is taken is used at once and stays so when a later hold refuses: rates of requests
	Rest    bool    // where Amount does not fit, take what is left of the limit, if anything is; Amount then says how much that was

	ref   *counterRef // shared by all copies; nil where the counter is looked for each time
	taken *counter
	turn  uint64 // of the window that it was taken in
	left  int64  // of the limit, when it was taken
}

// Remaining is what was left of the limit when the hold was taken; false while it is not.
func (h *Hold) Remaining() (left int64, taken bool) { return h.left, h.taken != nil }

// Fits reports whether Amount, or the rest, may be taken, where used and held are what is
// there.
func (h *Hold) Fits(used, held int64) bool {
	left := h.Limit - Plus(used, held)
	return used < h.Limit && (h.Soft || h.amount() <= left || h.Rest && left > 0)
}

// reduce makes the amount of a hold that takes the rest what is left.
func (h *Hold) reduce(left int64) {
	if h.Rest {
		h.Amount = min(h.Amount, left)
	}
}

func (h *Hold) amount() int64 { return max(h.Amount, 0) }
