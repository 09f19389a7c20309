// Package routing decides where a model call goes. It holds the gateway config
// document (Parse), the strategies that order its targets (Engine.Walk), the
// conditions they look at, the retry schedule inside one target (Retry.Next) and
// the circuit breakers.
//
// Everything here is a decision: nothing is sent, no HTTP type is known, and
// providers are names. The caller hands Walk a function that tries one target and
// says how it went.
//
// Source: contract/dataplane.md parts 3, 4 and 5; docs/config.md tells users the
// same.
package routing
