package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sluice/internal/kernel/background"
	"sluice/test/bench/target"
)

// questions are what a reader asks in turn, without the time.
var questions = []string{
	"/v1/logs?page_size=50", "/v1/analytics/groups/model?columns=cost,avg_latency,p95_latency,p99_latency", "/v1/logs?status_code=4xx,5xx&page_size=50",
	"/v1/analytics/graphs/latency?", "/v1/analytics/groups/api_key?columns=cost,p99_latency", "/v1/analytics/graphs/users?",
}

// startReader starts who asks one question after the other: what somebody's browser does with
// an answer is not what the gateway does for it.
func startReader(ctx context.Context, gate *target.Sluice) (*companion, error) {
	return accompany(ctx, []string{readerKey + "=" + gate.Key}, "--ask", gate.Addr)
}

// readerKey is the variable with the key that a reader has.
const readerKey = "BENCHLOGS_KEY"

// queryUntilInterrupted is what a reader does until it is interrupted. It prints how much it was
// answered.
func queryUntilInterrupted(ctx context.Context, addr, key string) error {
	n := 0
	for ctx.Err() == nil {
		wait, err := ask(ctx, addr, key, questions[n%len(questions)])
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return err
		case wait > 0:
			_ = background.Sleep(ctx, wait) // it ends with ctx, which is looked at next
		default:
			n++
		}
	}
	fmt.Println(n)
	return nil
}

// ask asks about the last 30 days. It returns how long to wait when the limit of the key has
// been reached.
func ask(ctx context.Context, addr, key, question string) (wait time.Duration, err error) {
	now := time.Now().UTC()
	query := url.Values{"time_of_generation_min": {now.Add(-30 * 24 * time.Hour).Format(time.RFC3339)}, "time_of_generation_max": {now.Format(time.RFC3339)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+question+"&"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("x-gateway-api-key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return 0, err
	case resp.StatusCode == http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, err
	case resp.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("%s: %s: %.300s", question, resp.Status, body)
	}
	return 0, nil
}
