package gateway

import (
	"bytes"
	"cmp"
	"unsafe"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// capturesBodies reports whether bodies and header fields are recorded. The workspace's setting
// applies, unless x-gateway-debug overrides it and the organisation permits that.
// Source: contract/content-and-observability.md 3.2.
func (x *exchange) capturesBodies() bool {
	if x.scope != nil && x.scope.Enforced {
		return !x.scope.MetricsOnly
	}
	return x.ctl.Debug == "true" || x.ctl.Debug != "false" && (x.scope == nil || !x.scope.MetricsOnly)
}

// captureClientRequest records the client's JSON body if a different one was sent, and the
// intermediate body after the changes of the config.
func (re *recorder) captureClientRequest(a *attempt, r *record.Attempt) {
	x := a.x
	doc := x.doc
	if x.prompt != nil && !a.hooks.RedactsRequests() { // no hook redacts the values of a prompt
		doc = x.prompt.plain.doc
	}
	if doc == nil || a.plan == nil { // requests rejected before a target was chosen could fill the disk
		return
	}
	original := doc.Source()
	if sent, ok := a.body.Memory(); ok && !sameBytes(original, sent) && !bytes.Equal(original, sent) {
		r.ClientRequest = re.truncateBody(cmp.Or(x.ctl.ContentType, "application/json"), original, int64(len(original)))
		r.Translated = a.shaped != nil
		if b := a.shaped; b != nil && !sameBytes(original, b) && !bytes.Equal(original, b) {
			r.Reshaped = re.truncateBody("application/json", b, int64(len(b)))
		}
	}
}

// captureClientResponse records the client's response if it differs from the upstream's. If only
// the provider's id was added, it records just that fact: the copy would double the size of most
// responses.
func (re *recorder) captureClientResponse(a *attempt) {
	b := a.response.body
	if a.unrestored != nil {
		b = a.unrestored
	}
	if a.log().Named || !a.x.capturesBodies() || sameBytes(b, a.log().Response.Bytes) && int64(len(b)) == a.log().Response.Size {
		return
	}
	a.log().ClientResponse = re.truncateBody(a.response.header.Get("content-type"), b, int64(len(b)))
}

// captureError records the gateway's error that the client gets for an attempt, if no further
// attempt follows.
func (re *recorder) captureError(a *attempt) {
	if a.committed || a.fault.Code == fault.ClientGone || !a.x.capturesBodies() {
		return
	}
	b := a.x.errorBody(a.fault)
	a.log().ClientResponse = re.truncateBody("application/json", b, int64(len(b)))
}

// sameBytes reports whether two slices start at the same memory address: one is equal to the
// other or a prefix of it.
func sameBytes(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }
