package wire

import "io"

// Request is one call of a client. The front end that created it owns Body until the Responder
// has returned. The core reads Body at most once.
type Request struct {
	Method   string    // "POST"
	Path     string    // escaped, as received: "/v1/files/a%2Fb"
	RawQuery string    // without the question mark: "limit=2"
	Header   Header    // names in lower case; may still contain hop-by-hop lines
	Body     io.Reader // nil for a request without a body
	Length   int64     // length of Body; -1 when not announced
	Remote   string    // address of the caller without port: "127.0.0.1"
	Host     string    // host of the Host header: "gateway.example:8787"
}

// Responder receives the response. Head comes first and once. Write may be called many times.
// Each Flush makes the written bytes visible to the caller. It is not safe for concurrent use,
// and retains neither h nor p. An error means that the client has disconnected.
type Responder interface {
	Head(status int, h Header, length int64) error // length -1: unknown, the body is sent in chunks
	Write(p []byte) (int, error)
	Flush() error
}
