// Package transport calls upstreams. One Client uses HTTP/1.1 directly on the connection, and
// HTTP/2 for hosts that negotiate it over TLS. Start with Client.Do.
//
// The Client relays. It sends and returns header lines unchanged. It compresses, decompresses
// and redirects nothing, and adds only Host and the framing of the body. Every connection goes
// through a netguard.Guard. Connections are pooled per scheme, host, port and TLS identity, and
// reused last in, first out. The first TLS handshake with a host shows whether it supports
// HTTP/2; the Client caches that.
//
// Responses are parsed strictly, because a lenient parser with a connection pool allows one
// caller's response to be smuggled to another. These are rejected with fault.UpstreamInvalid:
// Content-Length together with Transfer-Encoding, repeated or malformed lengths, any coding but
// "chunked", bare line feeds, folded lines, blanks before the colon, control bytes, heads over
// Options.MaxHeadBytes or 256 lines, more than 8 interim responses, HTTP/1.0 with
// Transfer-Encoding.
//
// Errors before the head of the response, and their codes:
//
//	no address, refused, no route, TLS failure,
//	proxy refusal, connect timeout               fault.UpstreamUnreachable
//	address not allowed by the guard             fault.AddressRefused
//	cut off before the head was complete         fault.UpstreamFailed
//	no head within Request.HeadTimeout           fault.UpstreamTimeout
//	not HTTP, or rejected as listed above        fault.UpstreamInvalid
//	a header line or target that may not be sent fault.InvalidRequest
//	ctx ended                                    its error, wrapped
//	the caller's own body failed                 its error, in a *BodyError
//
// Errors while the body is read:
//
//	cut off early                                fault.UpstreamFailed around io.ErrUnexpectedEOF
//	broken otherwise                             fault.UpstreamFailed
//	malformed chunks                             fault.UpstreamInvalid
//	silent for Request.IdleTimeout               ErrStalled
//	ctx ended                                    its error, wrapped
package transport
