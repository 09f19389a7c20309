// Package wire holds requests, answers and bodies as the core of the request path
// sees them: no type of net/http, no decoding. A front fills a
// Request and gives a Responder; the client side sends a Payload upstream.
package wire
