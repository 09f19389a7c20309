// Package intake reads what a client asks for: its API key, control headers, metadata and inline
// configuration. Start reading at Authenticator.Authenticate.
package intake
