//go:build ungated

package dataplane

// gated false is for the benchmark alone (test/bench, gate-1k-c16): what the gate costs is
// what a program costs beyond one that was built with the tag ungated. Such a program
// bounds and accounts for nothing; never serve with it.
const gated = false
