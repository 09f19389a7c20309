package dataplane

import (
	"bytes"
	"cmp"
	"unsafe"

	"sluice/internal/fault"
	"sluice/internal/record"
)

// capturesBodies reports whether bodies and header lines are put on record: as the workspace
// wants it, unless the caller's x-gateway-debug says otherwise and the organisation lets it.
// Source: contract/content-and-observability.md 3.2.
func (x *exchange) capturesBodies() bool {
	if x.scope != nil && x.scope.Enforced {
		return !x.scope.MetricsOnly
	}
	return x.ctl.debug == "true" || x.ctl.debug != "false" && (x.scope == nil || !x.scope.MetricsOnly)
}

// captureClientRequest keeps the client's own JSON body where another one was sent for it, and what
// lies between the two.
func (g *Gateway) captureClientRequest(a *attempt, r *record.Attempt) {
	x := a.x
	doc := x.doc
	if x.prompt != nil {
		doc = x.prompt.plain.doc
	}
	if doc == nil || a.plan == nil { // what was refused before a target was chosen could fill the disk
		return
	}
	original := doc.Source()
	if sent, ok := a.body.Memory(); ok && !sameBytes(original, sent) && !bytes.Equal(original, sent) {
		r.ClientRequest = g.truncateBody(cmp.Or(x.ctl.contentType, "application/json"), original, int64(len(original)))
		r.Translated = a.shaped != nil
		if b := a.shaped; b != nil && !sameBytes(original, b) && !bytes.Equal(original, b) {
			r.Reshaped = g.truncateBody("application/json", b, int64(len(b)))
		}
	}
}

// captureClientResponse keeps the answer in hand where it is another one than the upstream's. That
// the provider's id was put into it is noted alone: it would be all of most answers again.
func (g *Gateway) captureClientResponse(a *attempt) {
	b := a.response.body
	if a.log().Named || !a.x.capturesBodies() || sameBytes(b, a.log().Response.Bytes) && int64(len(b)) == a.log().Response.Size {
		return
	}
	a.log().ClientResponse = g.truncateBody(a.response.header.Get("content-type"), b, int64(len(b)))
}

// captureError keeps the error of the gateway that the client gets for an attempt, if none
// follows it.
func (g *Gateway) captureError(a *attempt) {
	if a.committed || a.fault.Code == fault.ClientGone || !a.x.capturesBodies() {
		return
	}
	b := a.x.errorBody(a.fault)
	a.log().ClientResponse = g.truncateBody("application/json", b, int64(len(b)))
}

// sameBytes reports whether two bodies begin at the same place in memory: one is the
// other, or the beginning of it.
func sameBytes(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }
