// Package transport calls upstreams: HTTP/1.1 spoken directly on the connection,
// HTTP/2 for hosts that negotiate it over TLS, both behind one Client.
//
// It relays. Header lines are sent and returned as they are, nothing is
// compressed, decompressed, redirected or added but Host and the framing of the
// body. Every connection goes through a netguard.Guard. Connections are pooled
// per scheme, host, port and TLS identity and reused last in, first out; whether
// a host speaks HTTP/2 is learnt from its first TLS handshake and remembered.
//
// Answers are read strictly, because a lenient reader behind a pool is a way to
// smuggle one caller's answer to another. Refused with fault.UpstreamInvalid are:
// Content-Length together with Transfer-Encoding, repeated or malformed lengths,
// any coding but "chunked", bare line feeds, folded lines, blanks before the
// colon, control bytes, heads over Options.MaxHeadBytes or 256 lines, more than
// 8 interim answers, HTTP/1.0 with Transfer-Encoding.
//
// What can go wrong before the head of the answer, and its code:
//
//	no address, refused, no route, TLS failure,
//	proxy refusal, connect timeout               fault.UpstreamUnreachable
//	address not allowed by the guard             fault.AddressRefused
//	cut off before the head was complete         fault.UpstreamFailed
//	no head within Request.HeadTimeout           fault.UpstreamTimeout
//	not HTTP, or one of the refusals above       fault.UpstreamInvalid
//	a header line or target that may not be sent fault.InvalidRequest
//	ctx ended                                    its error, wrapped
//	the caller's own body failed                 its error, in a *BodyError
//
// and while the body is read:
//
//	cut off early                                fault.UpstreamFailed around io.ErrUnexpectedEOF
//	broken otherwise                             fault.UpstreamFailed
//	malformed chunks                             fault.UpstreamInvalid
//	silent for Request.IdleTimeout               ErrStalled
//	ctx ended                                    its error, wrapped
package transport
