package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// loadClients is clients that call all the time.
type loadClients struct {
	quit context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex // guards what follows
	ids      []string   // requests that were answered whole
	bad      []string   // answers that were none of ours
	failures []error    // of requests that have no answer, or not all of it
}

// startClients lets n clients call until they are stopped. Half of them stream.
func startClients(g *gateway, n int, headers []string) *loadClients {
	ctx, quit := context.WithCancel(context.Background())
	c := &loadClients{quit: quit}
	for i := range n {
		c.work.Go(func() {
			for ctx.Err() == nil {
				id, err := g.ask(ctx, i%2 == 0, headers)
				c.note(ctx, id, err)
			}
		})
	}
	g.t.Cleanup(func() { c.stop() })
	return c
}

// ask makes one call and returns its request id when the answer came whole.
func (g *gateway) ask(ctx context.Context, stream bool, headers []string) (id string, err error) {
	body := hello
	if stream {
		body = strings.Replace(hello, "{", `{"stream":true,`, 1)
	}
	resp, err := g.send(ctx, "POST", "/v1/chat/completions", body, headers...)
	if err != nil {
		time.Sleep(time.Millisecond) // nobody is there: do not spin
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	complete := strings.HasSuffix(string(b), "}") || strings.HasSuffix(string(b), "}\n")
	if stream {
		complete = strings.HasSuffix(string(b), "data: [DONE]\n\n")
	}
	if resp.StatusCode != 200 || !complete {
		return "", badResponse(fmt.Sprintf("%d %.200s", resp.StatusCode, b))
	}
	return resp.Header.Get("x-gateway-request-id"), nil
}

// badResponse is an answer that should not have been given.
type badResponse string

func (b badResponse) Error() string { return string(b) }

func (c *loadClients) note(ctx context.Context, id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var bad badResponse
	switch {
	case err == nil:
		c.ids = append(c.ids, id)
	case errors.As(err, &bad):
		c.bad = append(c.bad, string(bad))
	case ctx.Err() == nil: // else it was taken back
		c.failures = append(c.failures, err)
	}
}

// count is the number of whole answers so far.
func (c *loadClients) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ids)
}

// wrong are the answers that should not have been given.
func (c *loadClients) wrong() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bad)
}

// stop ends the calls and returns the ids of those that were answered whole, in
// the order of the answers.
func (c *loadClients) stop() []string {
	c.quit()
	c.work.Wait()
	return slices.Clone(c.ids)
}
