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

// tokenWait bounds one fetch.
const tokenWait = 15 * time.Second

// tokenSource fetches a token and keeps it until shortly before its end. Many who want
// it at once wait for one fetch. It is safe for concurrent use.
type tokenSource struct {
	clock ident.Clock
	fetch func(context.Context) (token, error)

	mu     sync.Mutex // guards what follows
	text   string
	until  time.Time
	flight *flight // nil: none is under way
}

// flight is one fetch. Its results are set before done is closed.
type flight struct {
	done chan struct{}
	text string
	err  error
}

// get returns the token. It waits as long as ctx lasts; the fetch goes on for others.
func (s *tokenSource) get(ctx context.Context) (string, error) {
	s.mu.Lock()
	if s.text != "" && s.clock.Now().Before(s.until) {
		defer s.mu.Unlock()
		return s.text, nil
	}
	f := s.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flight = f
		go s.fly(context.WithoutCancel(ctx), f) // ends with its own time limit
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.text, f.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *tokenSource) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, tokenWait)
	defer cancel()
	from := s.clock.Now()
	t, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.text, f.err = t.text, err; err == nil {
		s.text, s.until = t.text, from.Add(t.life-min(tokenMargin, t.life/6))
	}
	s.flight = nil
	close(f.done)
}

// tokenReplyMax bounds what a token service may answer.
const tokenReplyMax = 64 << 10

// askToken sends the request and reads {"access_token":"…","expires_in":3599}. Its
// errors hold the service's own words of refusal, and nothing of what was sent.
func askToken(client *http.Client, req *http.Request) (token, error) {
	resp, err := client.Do(req)
	if err != nil {
		return token{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(resp.Body, tokenReplyMax))
	if err != nil {
		return token{}, err
	}
	var in struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
		Text    string `json:"error_description"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return token{}, fmt.Errorf("the token service answered status %d without JSON", resp.StatusCode)
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		return token{}, fmt.Errorf("the token service answered status %d: %s %s", resp.StatusCode, in.Error, in.Text)
	case in.Token == "" || in.Seconds <= 0:
		return token{}, errors.New("the token service answered without a token, or without its life")
	}
	return token{in.Token, time.Duration(in.Seconds) * time.Second}, nil
}
