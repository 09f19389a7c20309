// Package background runs long-lived work next to requests. Sleep waits, RunWithBackoff
// retries after failures, RunFinal completes the work at shutdown, and OutageLog logs
// outages.
package background
