// Package background runs long-lived work next to requests. Sleep waits, RunWithBackoff
// retries after failures, RunFinal completes the work at shutdown, OutageLog logs outages, and
// Group runs the services of a program together.
package background
