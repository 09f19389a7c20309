// Package conformance proves, provider by provider and endpoint by endpoint, what
// goes out to a provider and what comes back of its answer. Every proof is one
// transcript, a txtar file in internal/provider/specs/testdata/<provider>:
//
//	-- request --            what a client sends to the gateway
//	-- upstream-request --   what the provider receives: method, URL, lines, body
//	-- upstream-reply --     what it answers, in its own words
//	-- reply --              what the client receives
//	-- usage --              what the record says the call used
//
// A call that takes several upstream calls has further pairs, upstream-request-2 and
// upstream-reply-2 and so on; an answer that went wrong behind a status of success has
// its outcome; a realtime conversation has its frames instead of bodies. The test runs
// the whole request path over real sockets and TLS under the provider's real host name;
// a tunnel leads every name to a server of the test, and nothing can leave the machine.
//
// The request and upstream-reply are written by hand, from the provider's
// documentation. The other three are rewritten by
//
//	go -C test test ./conformance -update
//
// and read before they are committed: a wrong line there is a wrong spec. For a
// provider or endpoint that is new,
//
//	go -C test test ./conformance -run Drafts -draft groq
//
// writes the missing files from testdata/drafts, in OpenAI's words; then they are
// changed to what the provider says. A message is its first line, its header lines,
// an empty line and the body. A body that is no plain text stands as Go string
// literals, one for each of its lines.
package conformance
