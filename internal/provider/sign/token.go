package sign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"sluice/internal/kernel/ident"
)

// token is an access token with its lifetime.
type token struct {
	text string
	life time.Duration
}

// tokenMargin is the time before expiry at which a token is renewed. A token of an hour is thus
// used for 3000 seconds. For a shorter lifetime it is a sixth.
// Source: contract/providers.yaml, shared.auth.gcp.
const tokenMargin = 10 * time.Minute

// tokenReserve is the time before expiry from which a token is not sent any more, so that it is
// still valid on arrival. For a short lifetime it is a twelfth. (ours)
const tokenReserve = 30 * time.Second

// tokenWait limits one fetch. tokenPause is the pause after a failed renewal while the cached
// token is still valid. (ours)
const (
	tokenWait  = 15 * time.Second
	tokenPause = 15 * time.Second
)

// tokenSource fetches a token and caches it until shortly before it expires. Concurrent callers
// wait for one fetch. A renewal before the expiry does not block callers. It is safe for
// concurrent use.
//
// A fetch runs in a goroutine that is not cancelled. It ends within tokenWait.
type tokenSource struct {
	clock ident.Clock
	fetch func(context.Context) (token, error) // must observe its context

	mu            sync.Mutex     // guards the following
	text          string         // empty until the first fetch succeeds
	until         time.Time      // from then on a new token is fetched
	ends          time.Time      // from then on the cached token is not used
	again         time.Time      // earliest time of the next fetch after a failed renewal
	inflightFetch *inflightFetch // nil: no fetch is running
}

// inflightFetch is one fetch. Its results are set before done is closed.
type inflightFetch struct {
	done chan struct{}
	text string
	err  error
}

// get returns the token. Without a valid token it waits for the fetch until ctx ends. The fetch
// continues for other callers.
func (s *tokenSource) get(ctx context.Context) (string, error) {
	text, f := s.findOrFetch(ctx)
	if f == nil {
		return text, nil
	}
	select {
	case <-f.done:
		return f.text, f.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// findOrFetch returns the cached token, or the fetch to wait for. It starts a fetch when one is
// due.
func (s *tokenSource) findOrFetch(ctx context.Context) (string, *inflightFetch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.text != "" && now.Before(s.until) {
		return s.text, nil
	}
	good := s.text != "" && now.Before(s.ends)
	if paused := good && now.Before(s.again); s.inflightFetch == nil && !paused {
		s.inflightFetch = &inflightFetch{done: make(chan struct{})}
		go s.fetchOnce(context.WithoutCancel(ctx), s.inflightFetch) // ends with its own time limit
	}
	if good {
		return s.text, nil
	}
	return "", s.inflightFetch
}

func (s *tokenSource) fetchOnce(ctx context.Context, f *inflightFetch) {
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	from := s.clock.Now()
	t, err := s.fetchRecovered(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.text, f.err = t.text, err; err == nil {
		s.text = t.text
		s.until = from.Add(t.life - min(tokenMargin, t.life/6))
		s.ends = from.Add(t.life - min(tokenReserve, t.life/12))
	} else {
		s.again = s.clock.Now().Add(tokenPause)
	}
	s.inflightFetch = nil
	close(f.done)
}

// fetchRecovered fetches a token and converts a panic to an error, because a panic in this
// goroutine would end the process.
func (s *tokenSource) fetchRecovered(ctx context.Context) (t token, err error) {
	defer func() {
		if recover() != nil { // the panic value might contain the token
			t, err = token{}, errors.New("panic while fetching token")
		}
	}()
	return s.fetch(ctx)
}

// maxTokenResponseBytes is the maximum size of the response of a token service.
const maxTokenResponseBytes = 64 << 10

// askToken sends the request and reads {"access_token":"…","expires_in":3599}. Its errors
// contain the service's own error text, and nothing of the request.
func askToken(client *http.Client, req *http.Request) (token, error) {
	resp, err := client.Do(req)
	if err != nil {
		return token{}, err
	}
	defer func() { _ = resp.Body.Close() }() // already read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenResponseBytes))
	if err != nil {
		return token{}, err
	}
	var response struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
		Text    string `json:"error_description"`
	}
	if err := json.Unmarshal(body, &response); err != nil {
		return token{}, fmt.Errorf("the token service returned status %d without JSON", resp.StatusCode)
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		return token{}, fmt.Errorf("the token service returned status %d: %s %s", resp.StatusCode, response.Error, response.Text)
	case response.Token == "" || response.Seconds <= 0:
		return token{}, errors.New("the token service response has no token or no expiry")
	}
	return token{response.Token, time.Duration(response.Seconds) * time.Second}, nil
}
