package dataplane

import (
	"context"
	"net/url"
	"time"

	"sluice/internal/dialect/media"
	"sluice/internal/fault"
	"sluice/internal/provider/transport"
	"sluice/internal/wire"
)

// Limits for one file that the gateway fetches for providers that do not accept URLs.
// Source: contract/provider-transforms.md 3.3.
const (
	fetchMax  = 20 << 20
	fetchTime = 30 * time.Second
)

// Limits for all files of one call: a short body must not fill the memory with files that it
// references. Providers do not accept more in a request. (ours)
const (
	fetchFiles = 32
	fetchTotal = 64 << 20
)

// fetcher fetches the files of one attempt. It belongs to the attempt's goroutine.
type fetcher struct {
	g     *Gateway
	files int
	bytes int64
}

// fetch fetches the next file, within the limits for the call.
func (f *fetcher) fetch(ctx context.Context, address string) (mime string, data []byte, err error) {
	if f.files++; f.files > fetchFiles || f.bytes >= fetchTotal {
		return "", nil, fault.Newf(fault.InvalidParameter, "the call references more than %d files by URL, or more than %d bytes; send them as base64 instead", fetchFiles, fetchTotal)
	}
	mime, data, err = f.g.fetch(ctx, address, min(fetchMax, fetchTotal-f.bytes))
	f.bytes += int64(len(data))
	return mime, data, err
}

// fetch fetches a file of at most limit bytes that a caller's message references, for a provider
// that does not fetch it. The address is checked when it is dialled, like that of every upstream,
// and redirects are not followed. Errors describe the fix, not the host.
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
		mime = media.MIMEOf(r.Target)
	}
	return mime, b, nil
}

// inlined replaces the media URLs of a body by the media themselves, for providers that do not
// fetch them (dialect.RequestRules.Inline).
func (g *Gateway) inlined(ctx context.Context, body []byte) ([]byte, error) {
	return media.Inline(ctx, body, (&fetcher{g: g}).fetch)
}

// outside builds a request to an address that a caller or a provider names. It does not contain a
// credential. It returns bad if the address is not an http or https URL or has a user. Other
// addresses are checked like custom hosts, and again when they are dialled.
func (g *Gateway) outside(address string, bad *fault.Error) (*transport.Request, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, bad
	}
	if err := g.urls.CheckURL(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	return &transport.Request{
		Scheme: u.Scheme, Host: u.Host, Target: u.RequestURI(), Header: wire.Header{{Name: "user-agent", Value: g.set.UserAgent}},
	}, nil
}
