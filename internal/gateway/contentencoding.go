package gateway

import (
	"errors"
	"io"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider/transport"
)

// readsResponse reports whether guardrails read the response of an attempt, also of a call that is passed
// through.
func (a *attempt) readsResponse() bool {
	return a.hooks != nil && answersText(a.x) && (len(a.hooks.After) > 0 || a.restores())
}

// requestPlain removes the encodings that a client accepts from a call whose response guardrails read: the
// client could request one that they cannot.
func requestPlain(a *attempt) {
	if a.readsResponse() {
		a.header.Del("accept-encoding")
	}
}

// decodeBody removes the content encoding from the response of a typed call, and of one that guardrails
// read, because the gateway reads it. The gateway does not request an encoding, but some servers encode
// anyway, and callers may forward Accept-Encoding. An unknown encoding makes a successful response
// invalid, unless the endpoint may return content other than JSON.
// Source: RFC 9110 sections 8.4 and 12.5.3.
func decodeBody(a *attempt, resp *transport.Response) error {
	encoding := resp.Header.Get("content-encoding")
	if encoding == "" || encoding == "identity" || !a.unified() && !a.readsResponse() {
		return nil
	}
	body := &decodedBody{Body: resp.Body}
	switch body.plain = record.Uncode((*encodedBody)(body), encoding); {
	case resp.Length == 0:
	case body.plain != nil:
		resp.Body, resp.Length = body, -1
	case otherThanJSON[a.x.match.Endpoint] && !a.readsResponse():
		return nil
	case resp.Status < 400:
		return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: it has an encoding that was not requested, %q", a.spec.ID, clip(encoding))
	}
	resp.Header = resp.Header.Clone(0)
	resp.Header.Del("content-encoding")
	return nil
}

// decodedBody is the body of a response without its content encoding.
type decodedBody struct {
	transport.Body
	plain *record.Uncoded
	err   error // of the transport
}

// encodedBody is the body as the provider sent it.
type encodedBody decodedBody

// Read implements io.Reader. It stores the error of the transport.
func (e *encodedBody) Read(p []byte) (int, error) {
	n, err := e.Body.Read(p)
	e.err = err
	return n, err
}

// Read implements transport.Body. Errors of the transport take precedence over those of decoding.
func (u *decodedBody) Read(p []byte) (int, error) {
	n, err := u.plain.Read(p)
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case u.err != nil && u.err != io.EOF:
		return n, u.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fault.Wrap(fault.UpstreamFailed, err)
	}
	return n, fault.Wrap(fault.UpstreamInvalid, err)
}

// Close implements transport.Body.
func (u *decodedBody) Close() error {
	u.plain.Close()
	return u.Body.Close()
}
