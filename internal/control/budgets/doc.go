// Package budgets holds the budgets and rates that records have: keys, providers, virtual keys,
// workspaces and grants. It reads them from bodies, shows them with their usage, and keeps their
// meters in step with them. Start reading at Apply and UpdateMeters.
package budgets
