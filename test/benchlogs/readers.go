package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"sluice/test/bench/target"
)

// questions are what a reader asks in turn, without the time.
var questions = []string{
	"/v1/logs?page_size=50", "/v1/analytics/groups/model?columns=cost,avg_latency,p95_latency,p99_latency", "/v1/logs?status_code=4xx,5xx&page_size=50",
	"/v1/analytics/graphs/latency?", "/v1/analytics/groups/api_key?columns=cost,p99_latency", "/v1/analytics/graphs/users?",
}

// readers ask one question after the other until they are stopped.
type readers struct {
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	asked  int
	failed error
}

func startReaders(ctx context.Context, f flags, gate *target.Sluice) *readers {
	r := &readers{}
	ctx, r.cancel = context.WithCancel(ctx)
	for range f.readers {
		r.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				err := ask(ctx, gate, questions[n%len(questions)])
				if ctx.Err() == nil && r.note(err) != nil {
					return
				}
			}
		})
	}
	return r
}

func (r *readers) note(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	r.failed = errors.Join(r.failed, err)
	return err
}

// stop ends the readers, and returns how much they asked.
func (r *readers) stop() (asked int, err error) {
	r.cancel()
	r.all.Wait()
	return r.asked, r.failed
}

// ask asks about the last 30 days.
func ask(ctx context.Context, gate *target.Sluice, question string) error {
	now := time.Now().UTC()
	in := url.Values{"time_of_generation_min": {now.Add(-30 * 24 * time.Hour).Format(time.RFC3339)}, "time_of_generation_max": {now.Format(time.RFC3339)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+gate.Addr+question+"&"+in.Encode(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("x-gateway-api-key", gate.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", question, resp.Status, body)
	}
	return err
}
