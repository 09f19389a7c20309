//go:build ungated

package gateway

// gated is false for the benchmark only (test/bench, gate-1k-c16). The cost of the gate is the
// difference to a program built with the tag ungated. Such a program enforces no limits and
// records no usage; never serve with it.
const gated = false
