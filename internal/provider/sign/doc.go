// Package sign authenticates calls to a provider: it adds the credential to a planned call.
// There is one file per scheme; list.go lists them all.
//
// Schemes that need a token (assumed roles, Entra, managed and workload identity) fetch it with
// the HTTP client of Options. They cache it until shortly before it expires, so that no call is
// sent with a token that is about to expire.
package sign
