package textfold

// Runs returns the number of runs that map a folded text to its original.
func Runs(t *Text) int { return len(t.origin) }
