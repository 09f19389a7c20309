// Package server is the HTTP/1.1 server of the data plane. It reads requests from the connection
// and writes the responses to it, with one goroutine per connection and without net/http. Start
// reading at Server and conn.serve.
//
// Some requests it does not serve: HTTP/2, HTTP/1.0, CONNECT, requests for another protocol
// (Upgrade), targets that are not a path, and every route that is not a model route, such as
// the administration API and all pages. It hands these over to a net/http server, with the
// connection and all bytes of the request. A connection that was handed over does not return.
// Over HTTP/1 it serves only that one request, which was read here first, and ends with its
// response ("Connection: close"), unless both sides switched to another protocol. Over HTTP/2
// it serves any number of requests.
//
// Requests are read strictly, because a lenient reader allows request smuggling. The package
// rejects Content-Length together with Transfer-Encoding, repeated or malformed lengths, any
// coding but "chunked", bare line feeds and carriage returns, folded lines, blanks before the
// colon, control bytes, a missing, second or malformed Host, invalid percent-encoding in the
// path, heads over the limit or of more than 200 lines, and any Transfer-Encoding in HTTP/1.0.
// Requests that are handed over have passed the same rules for lines and framing. A rejection
// has the same body as all rejections of the gateway and ends the connection.
//
// A response is written in as few writes as possible: the head together with the first bytes of
// the body, and one write for each Flush. When the gateway reports that it had to cut a response,
// the connection is closed in the middle of it, so that the client detects that the response is
// incomplete.
package server
