package record

// Entry is one log record of the journal. Exactly one of its fields is set.
type Entry struct {
	Attempt    *Attempt
	Correction *Correction
	Hooks      *LateHooks
}
