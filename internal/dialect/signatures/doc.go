// Package signatures marks reasoning with the provider that signed it, so that only this provider
// receives it back. Start with Signer, for responses, and Restore, for the requests that follow.
package signatures
