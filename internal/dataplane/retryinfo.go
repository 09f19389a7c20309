package dataplane

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/provider/transport"
)

// retryInfoMax is how much of an error is read in search of the delay in it.
const retryInfoMax = 64 << 10

// noteRetryInfo puts the delay that Google names in the body of an error into Retry-After, where
// the gateway's own retries and all clients look for it.
func (a *attempt) noteRetryInfo(resp *transport.Response) {
	if resp.Status != 429 && resp.Status != 503 || !a.unified() || a.plan.Endpoint.Error != "google" || resp.Header.Has("retry-after") || !plainEncoding(resp.Header) {
		return
	}
	body := &reread{Body: resp.Body}
	resp.Body = body
	head := make([]byte, retryInfoMax)
	var n int
	for n < len(head) && body.err == nil {
		var m int
		m, body.err = body.Body.Read(head[n:])
		n += m
	}
	body.head.Reset(head[:n])
	wait, told := dialect.RetryDelay(head[:n])
	if !errors.Is(body.err, io.EOF) || !told {
		return
	}
	resp.Header = resp.Header.Clone(1)
	resp.Header.Set("retry-after", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
}

// reread is a body whose beginning was read already, and comes first.
type reread struct {
	transport.Body
	head bytes.Reader
	err  error // after head; nil where the body goes on
}

// Read implements transport.Body.
func (r *reread) Read(p []byte) (int, error) {
	switch {
	case r.head.Len() > 0:
		return r.head.Read(p)
	case r.err != nil:
		return 0, r.err
	}
	return r.Body.Read(p)
}
