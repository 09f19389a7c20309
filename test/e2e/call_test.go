package e2e

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// callLimit bounds a call that a test does not bound itself.
const callLimit = time.Minute

const hello = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello there"}]}`

// callResult is what a call came to.
type callResult struct {
	Status int
	Header http.Header
	Proto  string // "HTTP/1.1"
	Body   string
	Err    error // of sending, or of reading the body
}

// get looks into a JSON body by a gjson path.
func (a callResult) get(path string) gjson.Result { return gjson.Get(a.Body, path) }

// call sends a request with the workspace key. Headers are "name: value" lines; one
// without a value takes the name away.
func (g *gateway) call(method, path, body string, headers ...string) callResult {
	g.t.Helper()
	a := g.try(method, path, body, headers...)
	if a.Err != nil {
		g.t.Fatalf("%s %s: %v", method, path, a.Err)
	}
	return a
}

// try is call for when nobody may answer.
func (g *gateway) try(method, path, body string, headers ...string) callResult {
	ctx, stop := context.WithTimeout(context.Background(), callLimit)
	defer stop()
	resp, err := g.send(ctx, method, path, body, headers...)
	if err != nil {
		return callResult{Err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return callResult{resp.StatusCode, resp.Header, resp.Proto, string(b), err}
}

// send sends a request; the caller closes the body of the answer.
func (g *gateway) send(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, g.base+path, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("x-gateway-api-key", g.key)
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ": ")
		if !ok {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	return g.http.Do(req)
}

// chat asks for a chat completion and expects it.
func (g *gateway) chat(headers ...string) callResult {
	g.t.Helper()
	a := g.call("POST", "/v1/chat/completions", hello, headers...)
	if a.Status != 200 || !strings.HasPrefix(a.get("choices.0.message.content").String(), `You said: "Hello there"`) {
		g.t.Fatalf("chat: %d %s", a.Status, a.Body)
	}
	return a
}

// want checks a status.
func (a callResult) want(t testing.TB, status int) callResult {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	return a
}

// eventually waits until ok says yes, and returns how long that took. The test
// fails when it takes longer than the limit.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for {
		if ok() {
			return time.Since(begin)
		}
		if time.Since(begin) > limit {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond) // another process cannot tell us
	}
}
