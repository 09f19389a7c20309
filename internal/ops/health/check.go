package health

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// maxBytes limits how many bytes of the response are read.
const maxBytes = 64 << 10

// Check requests the status of the gateway whose report is at url, for example
// "http://127.0.0.1:8787/v1/health". It returns "ok", "degraded" or "draining". It fails if
// nothing responds, or if the response does not come from a gateway.
func Check(ctx context.Context, url string) (status string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := newClient().Do(req)
	if err != nil {
		return "", fmt.Errorf("the gateway does not respond: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	var b body
	err = json.NewDecoder(io.LimitReader(resp.Body, maxBytes)).Decode(&b)
	if err != nil || b.Version == "" || b.Journal == "" || !slices.Contains([]string{"ok", "degraded", "draining"}, b.Status) {
		return "", fmt.Errorf("%s is not a sluice gateway (%s)", url, resp.Status)
	}
	return b.Status, nil
}

// newClient returns a client for Check. It does not verify the certificate: the listener is on
// this machine, and the certificate need not name the address that is called.
func newClient() *http.Client {
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}},
	}
}
