// Package sign proves to a provider who is calling: it adds the credential to a
// planned call. There is one file per scheme; list.go names them all.
//
// Schemes that need a token (assumed roles, Entra, managed and workload identity)
// fetch it over the HTTP client of Options and keep it until shortly before it
// ends, so that no call leaves with a token about to expire.
package sign
