// Package download fetches files that callers or providers name by an address, for providers that
// do not fetch them. Its requests do not contain a credential, and each address is checked before
// it is used and again when it is dialled. Start reading at Downloader.
package download

import (
	"context"
	"net/url"
	"time"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// Limits for one file that the gateway fetches for providers that do not accept URLs.
// Source: contract/provider-transforms.md 3.3.
const (
	maxFileBytes = 20 << 20
	fileTimeout  = 30 * time.Second
)

// Limits for all files of one call: a short body must not fill the memory with files that it
// references. Providers do not accept more in a request. (ours)
const (
	maxFiles      = 32
	maxTotalBytes = 64 << 20
)

// Client sends requests. *transport.Client implements it.
type Client interface {
	Do(ctx context.Context, r *transport.Request) (*transport.Response, error)
}

// URLChecker checks the text of an address. *netguard.URLCache implements it.
type URLChecker interface {
	CheckURL(url string) error
}

// Downloader fetches files. It is safe for concurrent use.
type Downloader struct {
	client    Client
	urls      URLChecker
	userAgent string
}

// New returns a Downloader that sends the given user agent.
func New(c Client, urls URLChecker, userAgent string) *Downloader {
	return &Downloader{client: c, urls: urls, userAgent: userAgent}
}

// Files fetches the files of one call. It belongs to one goroutine.
type Files struct {
	downloader *Downloader
	files      int
	bytes      int64
}

// Files returns the files of a new call.
func (d *Downloader) Files() *Files { return &Files{downloader: d} }

// Fetch fetches the next file, within the limits for the call. Errors describe the fix, not the
// host.
func (f *Files) Fetch(ctx context.Context, address string) (mime string, data []byte, err error) {
	if f.files++; f.files > maxFiles || f.bytes >= maxTotalBytes {
		return "", nil, fault.Newf(fault.InvalidParameter, "the call references more than %d files by URL, or more than %d bytes; send them as base64 instead", maxFiles, maxTotalBytes)
	}
	mime, data, err = f.downloader.file(ctx, address, min(maxFileBytes, maxTotalBytes-f.bytes))
	f.bytes += int64(len(data))
	return mime, data, err
}

// file fetches a file of at most limit bytes that a caller's message references, for a provider
// that does not fetch it. The address is checked when it is dialled, like that of every upstream,
// and redirects are not followed. Errors describe the fix, not the host.
func (d *Downloader) file(ctx context.Context, address string, limit int64) (mime string, data []byte, err error) {
	r, err := d.Request(address, fault.New(fault.InvalidParameter, "the URL of a file must use http or https and must not contain a user"))
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	r.Method, r.HeadTimeout, r.IdleTimeout = "GET", fileTimeout, fileTimeout
	r.Header.Add("accept", "image/*, application/pdf, */*;q=0.5")
	resp, err := d.client.Do(ctx, r)
	if err != nil {
		return "", nil, fault.New(fault.InvalidParameter, "cannot fetch the file; send it as base64 instead").WithCause(err)
	}
	b, err := resp.ReadAll(limit)
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

// Request builds a request to an address that a caller or a provider names. It does not contain a
// credential. It returns bad if the address is not an http or https URL or has a user. Other
// addresses are checked like custom hosts, and again when they are dialled.
func (d *Downloader) Request(address string, bad *fault.Error) (*transport.Request, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, bad
	}
	if err := d.urls.CheckURL(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	return &transport.Request{
		Scheme: u.Scheme, Host: u.Host, Target: u.RequestURI(), Header: wire.Header{{Name: "user-agent", Value: d.userAgent}},
	}, nil
}
