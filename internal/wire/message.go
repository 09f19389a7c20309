package wire

import "io"

// Request is one call of a client. The front that made it owns Body until the
// Responder has returned; the core reads Body at most once.
type Request struct {
	Method   string    // "POST"
	Path     string    // escaped as it came: "/v1/files/a%2Fb"
	RawQuery string    // without the question mark: "limit=2"
	Header   Header    // names lower case; hop-by-hop lines may still be there
	Body     io.Reader // nil when the request has none
	Length   int64     // of Body; -1 when not announced
	Remote   string    // address of the caller without port: "127.0.0.1"
	Host     string    // host the caller asked for: "gateway.example:8787"
}

// Responder takes the answer. Head comes first and once; Write may be called many
// times; each Flush makes what was written visible to the caller. It is not safe
// for concurrent use, and keeps neither h nor p. Errors mean that the client is gone.
type Responder interface {
	Head(status int, h Header, length int64) error // length -1: not known, the body is sent in chunks
	Write(p []byte) (int, error)
	Flush() error
}
