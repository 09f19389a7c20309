package upstreams

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// upstreamTime is the timeout of a trial call to an upstream server or agent.
const upstreamTime = 10 * time.Second

// trialView is the result of a trial call to an upstream.
// Source: contract/content-and-observability.yaml, POST /mcp-servers/{id}/test.
type trialView struct {
	Success        bool    `json:"success"`
	StatusCode     *int    `json:"status_code" nullable:"true"`
	ResponseTimeMS *int64  `json:"response_time_ms" nullable:"true"`
	URL            *string `json:"url" nullable:"true"`
	ServerName     string  `json:"server_name" doc:"Name that the upstream reports, or else the local name"`
	Error          *string `json:"error" nullable:"true" doc:"Error text of the gateway; the text of the upstream is not returned"`
	Object         string  `json:"object" enum:"mcp-integration,mcp-server,agent-integration"`
}

// trial is a trial call to an upstream.
type trial struct {
	method, url string
	header      http.Header
	body        []byte
	maxBytes    int64
	// isComplete reports when enough of a stream of events was read; if it is nil, none of the
	// stream is read.
	isComplete func(data []byte) bool
}

// outcome is the response of an upstream.
type outcome struct {
	status int // 0 if there was no response
	took   time.Duration
	kind   string // content type, without parameters
	body   []byte
}

// try calls an upstream that a caller named. It does not follow redirects, and the dialer blocks
// private addresses. It reports network errors only in general words, so that they do not reveal
// internal addresses.
func (k prober) try(ctx context.Context, t trial) (outcome, error) {
	if err := k.Addresses.CheckURL(t.url); err != nil {
		return outcome{}, err
	}
	ctx, stop := context.WithTimeout(ctx, upstreamTime)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, t.method, t.url, bytes.NewReader(t.body))
	if err != nil {
		return outcome{}, fault.New(fault.InvalidRequest, "the address is invalid").WithCause(err)
	}
	req.Header = t.header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "sluice/"+k.Version)
	}
	client := *k.Outside
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	began := k.Clock.Now()
	res, err := client.Do(req)
	if err != nil {
		return outcome{}, k.unreached(err)
	}
	defer func() { _ = res.Body.Close() }() // read only as far as needed
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	out := outcome{status: res.StatusCode, took: k.Clock.Now().Sub(began), kind: strings.ToLower(strings.TrimSpace(kind))}
	switch {
	case out.kind == eventStream && t.isComplete == nil:
	case out.kind == eventStream:
		out.body, err = firstEvent(io.LimitReader(res.Body, t.maxBytes), t.isComplete)
	default:
		out.body, err = io.ReadAll(io.LimitReader(res.Body, t.maxBytes+1))
	}
	if err != nil {
		return out, k.unreached(err)
	}
	return out, nil
}

const eventStream = "text/event-stream"

// unreached returns why an upstream cannot be reached, in words for the caller.
func (k prober) unreached(err error) error {
	if fault.Has(err, fault.AddressRefused) {
		return fault.From(err)
	}
	reported := err
	if u := (*url.Error)(nil); errors.As(err, &u) { // it repeats the address, which may contain a key
		reported = &url.Error{Op: u.Op, URL: sealed.Address(u.URL), Err: u.Err}
	}
	k.Log.Info("upstream connection test failed", "error", reported.Error())
	return fault.New(fault.InvalidRequest, "cannot reach the server, or it did not respond in time").WithCause(err)
}

// firstEvent reads events until isComplete accepts one, and returns its data.
func firstEvent(from io.Reader, isComplete func([]byte) bool) ([]byte, error) {
	var data []byte
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxTrialBytes)
	for lines.Scan() {
		line := lines.Bytes()
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
			continue
		}
		if len(line) == 0 && isComplete(data) {
			return data, nil
		}
		if len(line) == 0 {
			data = nil
		}
	}
	if isComplete(data) {
		return data, nil
	}
	return nil, lines.Err()
}

// maxTrialBytes limits how much of a trial's response is read.
const maxTrialBytes = 1 << 20

// setOutcome sets a trial's outcome for the caller, with the reason of a failure.
func (v *trialView) setOutcome(out outcome, err error) {
	if out.status != 0 {
		v.StatusCode = &out.status
		ms := out.took.Milliseconds()
		v.ResponseTimeMS = &ms
	}
	switch {
	case err != nil:
		v.fails(fault.From(err).Text())
	case out.status == http.StatusUnauthorized:
		v.fails("the server requires a sign-in (status 401)")
	case out.status < 200 || out.status > 299:
		v.fails(fmt.Sprintf("the server returned status %d", out.status))
	default:
		v.Success = true
	}
}

func (v *trialView) fails(why string) { v.Success, v.Error = false, &why }

// isJSON reports whether a text is a JSON object that decodes into a value.
func isJSON(raw []byte, into any) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, into) == nil
}
