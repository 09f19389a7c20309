package dataplane

import (
	"context"
	"net/url"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/provider/transport"
	"sluice/internal/wire"
)

// Limits of what is fetched for providers that take no URLs.
// Source: contract/provider-transforms.md 3.3.
const (
	fetchMax  = 20 << 20
	fetchTime = 30 * time.Second
)

// Limits of what is fetched for one call: a short body must not fill the memory with what
// it names. Providers take no more in a request. (ours)
const (
	fetchFiles = 32
	fetchTotal = 64 << 20
)

// fetcher gets the files of one attempt. It belongs to its goroutine.
type fetcher struct {
	g     *Gateway
	files int
	bytes int64
}

// fetch gets the next file, within the limits of all.
func (f *fetcher) fetch(ctx context.Context, address string) (mime string, data []byte, err error) {
	if f.files++; f.files > fetchFiles || f.bytes >= fetchTotal {
		return "", nil, fault.Newf(fault.InvalidParameter, "the call references more than %d files by URL, or more than %d bytes; send them as base64 instead", fetchFiles, fetchTotal)
	}
	mime, data, err = f.g.fetch(ctx, address, min(fetchMax, fetchTotal-f.bytes))
	f.bytes += int64(len(data))
	return mime, data, err
}

// fetch gets a file of at most so many bytes that a caller's message names, for a provider
// that does not. The address is judged when it is dialled, as every upstream's is, and
// redirects are not followed. Errors name the cure, not the host.
func (g *Gateway) fetch(ctx context.Context, address string, limit int64) (mime string, data []byte, err error) {
	r, err := g.outside(address, fault.New(fault.InvalidParameter, "the URL of a file must use http or https and must not contain a user"))
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r.Method, r.HeadTimeout, r.IdleTimeout = "GET", fetchTime, fetchTime
	r.Header.Add("accept", "image/*, application/pdf, */*;q=0.5")
	resp, err := g.Client.Do(ctx, r)
	if err != nil {
		return "", nil, fault.New(fault.InvalidParameter, "cannot fetch the file; send it as base64 instead").WithCause(err)
	}
	b, err := readAll(resp, limit)
	switch {
	case err != nil:
		return "", nil, fault.Newf(fault.InvalidParameter, "the file is not readable or is larger than %d bytes; send it as base64 instead", limit).WithCause(err)
	case resp.Status != 200:
		return "", nil, fault.Newf(fault.InvalidParameter, "cannot fetch the file: its host returned status %d; send it as base64 instead", resp.Status)
	}
	mime = resp.Header.Get("content-type")
	if mime == "" || mime == "application/octet-stream" {
		mime = dialect.MIMEOf(r.Target)
	}
	return mime, b, nil
}

// inlined is a body whose media are not named by URL, for providers that would not fetch them
// (dialect.RequestRules.Inline).
func (g *Gateway) inlined(ctx context.Context, body []byte) ([]byte, error) {
	return dialect.Inline(ctx, body, (&fetcher{g: g}).fetch)
}

// outside begins a call to an address that a caller or a provider names, without a
// credential. What is no http or https URL, or has a user in it, is refused as bad says;
// the rest is judged as custom hosts are, and again when it is dialled.
func (g *Gateway) outside(address string, bad *fault.Error) (*transport.Request, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, bad
	}
	if err := g.checkURL(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	return &transport.Request{
		Scheme: u.Scheme, Host: u.Host, Target: u.RequestURI(), Header: wire.Header{{Name: "user-agent", Value: g.set.UserAgent}},
	}, nil
}
