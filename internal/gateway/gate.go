//go:build !ungated

package gateway

// gated enables limits and ledger entries for calls. It is a build constant, so that no setting
// can disable it.
const gated = true
