package upstream

import (
	"strconv"
	"time"
)

// connectionFaults end, delay or break off the connection.
var connectionFaults = map[string]fault{
	"hang": {does: "takes the request and never answers", make: func(Response, argument) Response {
		return Response{Raw: []byte{}, End: Hang}
	}},
	"slow-head": {does: "answers after @ (1s)", def: argument{d: time.Second}, make: func(ok Response, a argument) Response {
		ok.Wait = a.d
		return ok
	}},
	"slow-body": {does: "sends the body in ten parts with @ (50ms) before each", def: argument{d: 50 * time.Millisecond}, make: func(ok Response, a argument) Response {
		b := ok.body()
		ok.Chunks = split(b, max(1, (len(b)+9)/10), a.d)
		return ok
	}},
	"cut-before": {does: "closes without a byte", make: func(Response, argument) Response {
		return Response{Raw: []byte{}, End: Cut}
	}},
	"cut-head": {does: "closes in the middle of the head", make: func(ok Response, _ argument) Response {
		return Response{Raw: []byte(head(ok)[:20]), End: Cut}
	}},
	"cut-body": {does: "closes after @ bytes of the body (half of it)", make: func(ok Response, a argument) Response {
		return ok.first(a.n, Cut)
	}},
	"reset": {does: "resets the connection without a byte", make: func(Response, argument) Response {
		return Response{Raw: []byte{}, End: Reset}
	}},
	"reset-body": {does: "resets after @ bytes of the body (half of it)", make: func(ok Response, a argument) Response {
		return ok.first(a.n, Reset)
	}},
	"stall-body": {does: "sends @ bytes of the body (half of it), then nothing more", make: func(ok Response, a argument) Response {
		return ok.first(a.n, Hang)
	}},
	"close": {does: "answers, then closes without having said so", make: func(ok Response, _ argument) Response {
		ok.End = Close
		return ok
	}},
	"close-told": {does: "answers with connection: close, then closes", make: func(ok Response, _ argument) Response {
		ok.End = Close
		return ok.with(Field{"Connection", "close"})
	}},
	"stale": {does: "answers; the next request on the connection is met by a reset", make: func(ok Response, _ argument) Response {
		ok.End = Stale
		return ok
	}},
}

// first is the reply broken off after n bytes of its body; 0 means half.
func (r Response) first(n int, end End) Response {
	b := r.body()
	if n == 0 {
		n = len(b) / 2
	}
	if r.Framing == Length {
		r.Claim = int64(len(b))
	}
	r.Chunks, r.End = []Chunk{{Bytes: b[:min(n, len(b))]}}, end
	return r
}

// split cuts bytes into pieces of n with a pause before each.
func split(b []byte, n int, wait time.Duration) []Chunk {
	var chunks []Chunk
	for len(b) > 0 {
		k := min(n, len(b))
		chunks, b = append(chunks, Chunk{Wait: wait, Bytes: b[:k]}), b[k:]
	}
	return chunks
}

// earlyFaults are decided by the head: a header, the query or the path must name
// them, a model comes too late.
var earlyFaults = map[string]fault{
	"early": {does: "answers @ (413) before it reads the body, then reads it", head: func(a string) Response {
		r := statusResponse(statusOr(a, 413))
		r.Early = true
		return r
	}},
	"early-close": {does: "answers @ (413) before it reads the body, then closes", head: func(a string) Response {
		r := statusResponse(statusOr(a, 413)).with(Field{"Connection", "close"})
		r.Early, r.End = true, Close
		return r
	}},
	"slow-read": {does: "waits @ (100ms) before each 64 KiB of the body", head: func(a string) Response {
		d, err := time.ParseDuration(a)
		if err != nil {
			d = 100 * time.Millisecond
		}
		return Response{ReadPause: d}
	}},
}

func statusOr(text string, other int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return other
}
