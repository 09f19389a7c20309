package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"sluice/internal/ident"
	"sluice/test/bench/target"
)

// questions are what a reader asks in turn, without the time.
var questions = []string{
	"/v1/logs?page_size=50", "/v1/analytics/groups/model?columns=cost,avg_latency,p95_latency,p99_latency", "/v1/logs?status_code=4xx,5xx&page_size=50",
	"/v1/analytics/graphs/latency?", "/v1/analytics/groups/api_key?columns=cost,p99_latency", "/v1/analytics/graphs/users?",
}

// reader is another run of this program that asks one question after the other. It gets the
// processor when nobody else wants it (by chrt, where there is one): what somebody's browser
// does with an answer is not what the gateway does for it.
type reader struct {
	*exec.Cmd
	said bytes.Buffer
}

func startReader(ctx context.Context, gate *target.Sluice) (*reader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := []string{self, "--ask", gate.Addr}
	if chrt, err := exec.LookPath("chrt"); err == nil {
		line = append([]string{chrt, "--idle", "0"}, line...)
	}
	r := &reader{Cmd: exec.CommandContext(ctx, line[0], line[1:]...)}
	r.Env = append(os.Environ(), readerKey+"="+gate.Key)
	r.Stdout, r.Stderr = &r.said, &r.said
	return r, r.Start()
}

// stop ends the reader, and returns how much it asked and what it took of the processor.
func (r *reader) stop() (asked int, took time.Duration, err error) {
	if err := r.Process.Signal(os.Interrupt); err != nil {
		return 0, 0, err
	}
	if err := r.Wait(); err != nil {
		return 0, 0, fmt.Errorf("a reader: %w: %s", err, r.said.String())
	}
	asked, err = strconv.Atoi(strings.TrimSpace(r.said.String()))
	return asked, r.ProcessState.UserTime() + r.ProcessState.SystemTime(), err
}

// readerKey is the variable with the key that a reader has.
const readerKey = "BENCHLOGS_KEY"

// keepAsking is what a reader does until it is interrupted. It prints how much it was
// answered.
func keepAsking(ctx context.Context, addr, key string) error {
	n := 0
	for ctx.Err() == nil {
		wait, err := ask(ctx, addr, key, questions[n%len(questions)])
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return err
		case wait > 0:
			_ = ident.Sleep(ctx, wait) // it ends with ctx, which is looked at next
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
	in := url.Values{"time_of_generation_min": {now.Add(-30 * 24 * time.Hour).Format(time.RFC3339)}, "time_of_generation_max": {now.Format(time.RFC3339)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+question+"&"+in.Encode(), nil)
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
