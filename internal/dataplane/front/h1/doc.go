// Package h1 is the fast front: it reads the requests of the data plane from the
// connection and writes their answers to it, HTTP/1.1 in one goroutine per connection
// and without net/http.
//
// What it does not serve it hands over to a server of net/http, with the connection and
// all bytes of the request: HTTP/2, HTTP/1.0, CONNECT, requests that ask for another
// protocol (Upgrade), targets that are no path, and whatever is not the gateway's, so
// the administration and all pages. A connection that was handed over stays there. Over
// HTTP/1 it carries that one request, which was read here first, and ends with its answer
// ("Connection: close"), unless the two sides went over to another protocol; over HTTP/2
// it carries as many as the client likes.
//
// Requests are read strictly, because a lenient reader is how one caller's request is
// smuggled into another's. Refused are: Content-Length together with
// Transfer-Encoding, repeated or malformed lengths, any coding but "chunked", bare line
// feeds and carriage returns, folded lines, blanks before the colon, control bytes, a
// missing, second or malformed Host, percent signs that escape nothing in the path,
// heads over the limit or of more than 200 lines, and any Transfer-Encoding in HTTP/1.0.
// What is handed over has passed the same rules of lines and framing. A refusal has the
// body of all refusals and ends the connection.
//
// An answer is written in as few pieces as it has: the head goes with the first bytes
// of the body, and each Flush is one write. When the gateway says that an answer had to
// be cut, the connection is closed in mid-answer: that is how a client learns that what
// it has is not the whole.
package h1
