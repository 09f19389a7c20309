package gateway

import (
	"errors"
	"io"
	"strconv"
	"time"

	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/provider/transport"
)

// retryInfoMax is the maximum size, in bytes, of the part of an error that is searched for a
// delay.
const retryInfoMax = 64 << 10

// noteRetryInfo copies the delay in the body of a Google error to Retry-After, where the
// gateway's own retries and all clients read it.
func noteRetryInfo(a *attempt, resp *transport.Response) {
	if resp.Status != 429 && resp.Status != 503 || !a.unified() || a.plan.Endpoint.Error != "google" || resp.Header.Has("retry-after") || !plainEncoding(resp.Header) {
		return
	}
	body := &peekedBody{Body: resp.Body}
	body.fill(retryInfoMax)
	resp.Body = body
	wait, found := upstreamerror.RetryDelay(body.head)
	if !errors.Is(body.err, io.EOF) || !found {
		return
	}
	resp.Header = resp.Header.Clone(1)
	resp.Header.Set("retry-after", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
}
