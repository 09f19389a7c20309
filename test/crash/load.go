package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
)

// load is callers that go on until the gateway is dead.
type load struct {
	*epoch
	url     string
	nth     int
	kill    func()
	callers int
	http    http.Client

	mu       sync.Mutex // guards what follows
	r        *rand.Rand
	received int
	odd      error // the first answer that is none of those expected
}

// maxResponseBytes bounds what is read of an answer.
const maxResponseBytes = 64 << 10

func newLoad(c *campaign, e *epoch, m moment, kill func(), r *rand.Rand) *load {
	l := &load{epoch: e, url: c.node.base + "/v1/chat/completions", kill: kill, callers: 2 + r.IntN(15), r: r}
	if m.stage == received {
		l.nth = m.nth
	}
	l.http.Transport = &http.Transport{MaxIdleConnsPerHost: l.callers, DisableCompression: true}
	return l
}

// run returns when the gateway is dead. An answer of it that cannot be is an error.
func (l *load) run(ctx context.Context) error {
	defer l.http.CloseIdleConnections()
	var work sync.WaitGroup
	for range l.callers {
		work.Go(func() {
			for l.one(ctx) {
			}
		})
	}
	work.Wait()
	l.kill()
	return l.odd
}

// one makes a call and reports whether the caller goes on.
func (l *load) one(ctx context.Context) bool {
	c := l.next()
	result, id, err := l.call(ctx, c)
	l.end(c, result, id)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.odd == nil {
			l.odd = err
		}
		return false
	}
	if result == answered && l.isNth() {
		l.kill()
	}
	return result != incomplete
}

// next begins a call with one of the keys of the epoch.
func (l *load) next() *call {
	l.mu.Lock()
	k, stream := l.keys[l.r.IntN(len(l.keys))], l.r.IntN(3) == 0
	l.mu.Unlock()
	return l.begin(k, stream)
}

// isNth counts an answer and reports whether it is the one to kill after.
func (l *load) isNth() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.received++
	return l.received == l.nth
}

// call sends a call and tells what the caller saw of it. The error is an answer that
// a living gateway must not give to it.
func (l *load) call(ctx context.Context, c *call) (result, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(c.body(l.number)))
	if err != nil {
		return incomplete, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-gateway-api-key", c.key.secret)
	req.Header.Set("x-gateway-metadata", fmt.Sprintf(`{%q:"%d"}`, numberField, c.number))
	resp, err := l.http.Do(req)
	if err != nil {
		return incomplete, "", nil //nolint:nilerr // dead: what the campaign is about
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes))
	if err != nil {
		return incomplete, "", nil //nolint:nilerr // likewise
	}
	id := resp.Header.Get("x-gateway-request-id")
	switch {
	case resp.StatusCode == http.StatusPreconditionFailed:
		return refused, id, nil
	case resp.StatusCode == http.StatusOK && isComplete(body, c.stream):
		return answered, id, nil
	}
	return incomplete, id, fmt.Errorf("call %d of epoch %d was answered with %d %.300s", c.number, l.number, resp.StatusCode, body)
}

// isComplete reports whether an answer is all that the upstream writes.
func isComplete(body []byte, stream bool) bool {
	if stream {
		return bytes.HasSuffix(body, []byte("data: [DONE]\n\n"))
	}
	return bytes.HasSuffix(body, []byte("}}"))
}
