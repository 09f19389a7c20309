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

	"sluice/internal/ident"
)

// token is an access token and how long it lives.
type token struct {
	text string
	life time.Duration
}

// tokenMargin is how long before its end a token is renewed, so that of an hour 3000
// seconds are used; of a shorter life it is a sixth.
// Source: contract/providers.yaml, shared.auth.gcp.
const tokenMargin = 10 * time.Minute

// tokenReserve is how long before its end a token goes out no more, so that it is still
// good when it arrives; of a short life it is a twelfth. (ours)
const tokenReserve = 30 * time.Second

// tokenWait bounds one fetch, and tokenPause is how long a token service is left in
// peace after a renewal that failed, while the kept token is still good. (ours)
const (
	tokenWait  = 15 * time.Second
	tokenPause = 15 * time.Second
)

// tokenSource fetches a token and keeps it until shortly before its end. Many who want
// it at once wait for one fetch; a renewal ahead of the end keeps nobody waiting. It is
// safe for concurrent use.
//
// A fetch is a goroutine that nobody ends: it ends by itself, within tokenWait.
type tokenSource struct {
	clock ident.Clock
	fetch func(context.Context) (token, error) // obeys its context

	mu            sync.Mutex     // guards what follows
	text          string         // empty until the first was fetched
	until         time.Time      // from then on a new one is fetched
	ends          time.Time      // from then on the kept one is not used
	again         time.Time      // not before then after a renewal that failed
	inflightFetch *inflightFetch // nil: none is under way
}

// inflightFetch is one fetch. Its results are set before done is closed.
type inflightFetch struct {
	done chan struct{}
	text string
	err  error
}

// get returns the token. Where none is good it waits as long as ctx lasts; the fetch
// goes on for others.
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

// findOrFetch returns the kept token, or the fetch to wait for. It starts one where one is due.
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

// fetchRecovered fetches, and makes an error of a panic: here one would end the process.
func (s *tokenSource) fetchRecovered(ctx context.Context) (t token, err error) {
	defer func() {
		if recover() != nil { // its text might hold the token
			t, err = token{}, errors.New("panic while fetching token")
		}
	}()
	return s.fetch(ctx)
}

// maxTokenResponseBytes bounds what a token service may answer.
const maxTokenResponseBytes = 64 << 10

// askToken sends the request and reads {"access_token":"…","expires_in":3599}. Its
// errors hold the service's own words of refusal, and nothing of what was sent.
func askToken(client *http.Client, req *http.Request) (token, error) {
	resp, err := client.Do(req)
	if err != nil {
		return token{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
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
