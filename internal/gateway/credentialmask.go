package gateway

import (
	"io"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/masking"
	"sluice/internal/kernel/wire"
)

// describeHeads records the headers of all sides. Secrets are masked first.
// Source: contract/content-and-observability.md 3.1 and 3.2.
func (re *recorder) describeHeads(a *attempt, r *record.Attempt) {
	x := a.x
	b := x.scratch.heads[:0]
	var ends [4]int
	for i, h := range [...]wire.Header{x.req.Header, a.header, a.got, x.scratch.clientHeader} {
		b = re.headerMask.Append(b, h, x.ctl.Sensitive)
		ends[i] = len(b)
	}
	x.scratch.heads = b
	r.ClientRequest.Head, r.Request.Head, r.Response.Head, r.ClientResponse.Head = b[:ends[0]], b[ends[0]:ends[1]], b[ends[1]:ends[2]], b[ends[2]:]
}

// withoutKey returns part of a provider's error with the attempt's credential masked.
func (a *attempt) withoutKey(b []byte) []byte {
	if len(b) < masking.MinCredentialBytes {
		return b
	}
	return a.sentKeys().Mask(b)
}

// sentKeys returns the attempt's credentials in the forms that errors may quote.
func (a *attempt) sentKeys() masking.Credentials {
	var signed wire.Header
	if a.x.scratch != nil {
		signed = a.x.scratch.signed
	}
	return masking.CollectCredentials(a.spec, a.values, signed)
}

// hideKey masks the attempt's credential in the body of a relayed error, in the part of it that
// is read. An encoded body that quotes the credential is relayed decoded. Event streams are
// masked while they are relayed.
func hideKey(a *attempt) {
	if a.status < 400 || a.resp.Length == 0 || eventStream(a.response.header) {
		return
	}
	body := &peekedBody{Body: a.resp.Body}
	body.fill(errorBodyMax)
	a.resp.Body = body
	encoding := a.response.header.Get("content-encoding")
	plain := record.Body{Bytes: body.head, Encoding: encoding}.Plain(maxUsageBodyBytes)
	shown := a.withoutKey(plain)
	if sameBytes(shown, plain) {
		return
	}
	if body.head = shown; encoding != "" {
		a.response.header = a.response.header.Clone(0)
		a.response.header.Del("content-encoding")
		if body.err == nil { // the rest is encoded
			body.err = io.EOF
		}
	}
	if a.resp.Length = -1; body.err == io.EOF {
		a.resp.Length = int64(len(shown))
	}
}
