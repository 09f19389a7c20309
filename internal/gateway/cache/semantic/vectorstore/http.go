package vectorstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Request is an HTTP request of a remote store.
type Request struct {
	Method string      // "POST"
	URL    string      // "https://host/query"
	Header [][2]string // names and values; they contain the credential
	Body   []byte      // JSON; nil for GET
}

// Response is the response to a Request.
type Response struct {
	Status int
	Body   []byte
}

// MaxResponse is the largest response body that a remote store reads, in bytes.
const MaxResponse = 4 << 20

// HTTP sends requests. Do returns when ctx ends, follows no redirects, and fails for a response body
// of more than MaxResponse. It is safe for concurrent use.
type HTTP interface {
	Do(ctx context.Context, r *Request) (*Response, error)
}

// Errors of remote stores. They contain neither texts nor credentials.
var (
	// ErrStatus is a response with an error status, or with an error code in its body.
	ErrStatus = errors.New("vector store returned an error")
	// ErrResponse is a response that is not the documented JSON.
	ErrResponse = errors.New("vector store returned an unexpected response")
)

// StatusError returns an ErrStatus with the number that the store returned.
func StatusError(code int) error { return fmt.Errorf("%w: code %d", ErrStatus, code) }

// Post sends body as JSON and decodes the response into out, which may be nil. It returns the status
// and, for a status other than 2xx, an ErrStatus.
func Post(ctx context.Context, client HTTP, url string, header [][2]string, body, out any) (status int, err error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, fmt.Errorf("encode request to vector store: %w", err)
	}
	return call(ctx, client, &Request{Method: "POST", URL: url, Header: header, Body: encoded}, out)
}

// Get is Post for a request without a body.
func Get(ctx context.Context, client HTTP, url string, header [][2]string, out any) error {
	_, err := call(ctx, client, &Request{Method: "GET", URL: url, Header: header}, out)
	return err
}

func call(ctx context.Context, client HTTP, r *Request, out any) (status int, err error) {
	r.Header = append([][2]string{{"Accept", "application/json"}, {"Content-Type", "application/json"}}, r.Header...)
	response, err := client.Do(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("call vector store: %w", err)
	}
	if response.Status < 200 || response.Status > 299 {
		return response.Status, StatusError(response.Status)
	}
	if out == nil {
		return response.Status, nil
	}
	if err := json.Unmarshal(response.Body, out); err != nil {
		return response.Status, ErrResponse // without the cause, which may quote a text
	}
	return response.Status, nil
}
