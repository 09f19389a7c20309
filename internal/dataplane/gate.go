//go:build !ungated

package dataplane

// gated is whether calls are held against limits and put on the ledger. It is a constant
// of the build, so that no setting of the product can turn it off.
const gated = true
