// Package wire holds requests, responses and bodies as the core of the request path uses
// them, without types of net/http and without decoding. An HTTP server fills a Request and
// provides a Responder; the client side sends a Payload upstream.
package wire
