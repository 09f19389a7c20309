package secretmanager

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// call is one request to a manager.
type call struct {
	method, url string
	header      map[string]string
	body        []byte
	// how it is signed; nil for a call that carries its token as a header
	auth   *provider.Auth
	values provider.Values
}

// statusError is an answer other than 2xx.
type statusError struct {
	status int
	busy   bool // whatever the status, the manager has no time
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the secret manager returned status %d", e.status)
}

// transportError is a call that no whole answer came to.
type transportError struct {
	doing string
	err   error
}

func (e *transportError) Error() string { return e.doing + " the secret manager: " + e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

func isStatus(err error, statuses ...int) bool {
	var r *statusError
	if !errors.As(err, &r) {
		return false
	}
	for _, s := range statuses {
		if r.status == s {
			return true
		}
	}
	return false
}

// do makes a call and decodes its JSON answer. What a manager says of a failure is
// not passed on: it may quote what was sent.
func (r *Reader) do(ctx context.Context, c call, into any) error {
	req, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return errors.New("the address of the secret manager is not valid")
	}
	for name, v := range c.header {
		req.Header.Set(name, v)
	}
	if c.auth != nil {
		if err := r.sign(ctx, req, c); err != nil {
			return err
		}
	}
	res, err := r.http.Do(req)
	if err != nil {
		return &transportError{"call", err}
	}
	defer func() { _ = res.Body.Close() }() // read as far as it is needed
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxResponseBytes+1))
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		return &statusError{res.StatusCode, busy(res.StatusCode, raw)}
	case err != nil:
		return &transportError{"read the response of", err}
	case len(raw) > maxResponseBytes:
		return fmt.Errorf("the response of the secret manager exceeds %d bytes", maxResponseBytes)
	case json.Unmarshal(raw, into) != nil:
		return errors.New("the secret manager returned an unexpected response")
	}
	return nil
}

func (r *Reader) sign(ctx context.Context, req *http.Request, c call) error {
	h := wire.Header{}
	for name, v := range c.header {
		h.Add(name, v)
	}
	signed := sign.Request{Method: c.method, Scheme: req.URL.Scheme, Host: req.URL.Host, Target: req.URL.RequestURI(), Header: &h, Body: wire.Bytes(c.body)}
	if err := r.set.Signers.Sign(ctx, &signed, c.auth, c.values); err != nil {
		return fmt.Errorf("sign in to the secret manager: %w", err)
	}
	for _, f := range h {
		req.Header.Set(f.Name, f.Value)
	}
	return nil
}
