package duckdb

import "time"

// questionTime is how long a statement of a query may take on a machine that is never idle.
const questionTime = 2 * time.Second

// atLowPriority runs f with a separate helper.
func atLowPriority(f func() error) error {
	h := newHelper("sluice-question", questionTime)
	defer h.end()
	return h.do(f)
}
