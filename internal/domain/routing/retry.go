package routing

import (
	"slices"
	"strings"
	"time"

	"sluice/internal/kernel/wire"
)

// MaxRetries is the maximum number of retries. A config with a higher number gets this one.
// Source: contract/dataplane.md part 0.
const MaxRetries = 5

// retryBudget limits the total wait that an upstream's Retry-After may cause.
const retryBudget = 60 * time.Second

// retryStatuses are the statuses that are retried if a config names none.
// Source: contract/dataplane.md part 0.
var retryStatuses = []int{429, 500, 502, 503, 504, 529}

// Retry is how often and when one target is retried.
type Retry struct {
	Attempts      int   // retries after the first try, 0 to MaxRetries
	OnStatus      []int // statuses that are retried; never nil after Parse
	UseRetryAfter bool  // wait as long as a 429 response requests
}

// Tried is the result of an attempt, and what happened before it.
type Tried struct {
	Retries        int           // retries so far: 0 after the first attempt
	UpstreamFailed bool          // the upstream did not respond
	Status         int           // of its response
	Header         wire.Header   // of its response
	Waited         time.Duration // total of all waits so far
}

// Next decides after an attempt. It returns the time to wait and whether to retry. refused is
// set if the upstream requested a longer wait than allowed; the retries then end with its
// response. A nil Retry never retries.
// Source: contract/dataplane.md 4.1.
func (r *Retry) Next(t Tried, now time.Time) (wait time.Duration, again, refused bool) {
	if r == nil || t.Retries >= r.Attempts {
		return 0, false, false
	}
	wait = time.Second << t.Retries
	if t.UpstreamFailed {
		return wait, true, false
	}
	if t.Status >= 200 && t.Status <= 204 || !slices.Contains(r.OnStatus, t.Status) {
		return 0, false, false
	}
	if r.UseRetryAfter && t.Status == 429 {
		if delay, ok := retryAfter(t.Header, now); ok {
			if delay >= retryBudget || t.Waited+delay > retryBudget {
				return 0, false, true
			}
			return delay, true, false
		}
	}
	return wait, true, false
}

// retryAfter reads the first of the three headers that is present. ok is false if none is
// present or it is invalid.
func retryAfter(h wire.Header, now time.Time) (d time.Duration, ok bool) {
	for _, name := range [...]string{"retry-after-ms", "x-ms-retry-after-ms"} {
		if h.Has(name) {
			return span(h.Get(name), time.Millisecond)
		}
	}
	v := strings.TrimSpace(h.Get("retry-after"))
	if d, ok = span(v, time.Second); ok {
		return d, true
	}
	for _, form := range httpDates {
		if date, err := time.Parse(form, v); err == nil {
			return max(0, date.Sub(now)), true
		}
	}
	return 0, false
}

// httpDates are the forms of a date in a header. Source: RFC 9110 section 5.6.7.
var httpDates = [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// span reads a number of units. ok is false if it is negative or not a number.
func span(text string, unit time.Duration) (d time.Duration, ok bool) {
	n, ok := decimal(text)
	if !ok || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(retryBudget))), true
}
