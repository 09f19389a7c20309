// Package routing decides where a model call goes. It contains the gateway config document
// (Parse), the strategies that order its targets (Engine.Walk), the conditions that they
// evaluate, the retry schedule within one target (Retry.Next) and the circuit breakers.
//
// Everything here is a decision: the package sends nothing, uses no HTTP type, and identifies
// providers by name. The caller passes Walk a function that tries one target and returns its
// outcome.
//
// Source: contract/dataplane.md parts 3, 4 and 5. docs/config.md is the manual for users.
package routing
