// Package defaults has the rules for the defaults that keys, workspaces and the organisation set
// for requests: the default config, metadata and guardrails.
package defaults
