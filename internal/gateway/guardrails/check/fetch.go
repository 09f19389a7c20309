package check

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"sluice/internal/kernel/wire"
)

// maxRedirects is the number of redirects that a fetch follows.
const maxRedirects = 5

// fetcher requests public URLs that texts or requests contain. Services checks each address, also
// that of a redirect. It sends no credentials.
type fetcher struct {
	services Services
	timeout  time.Duration // for one URL, redirects included
	maxBytes int64         // of the response body; 0 means MaxServiceBytes
}

var (
	errNoServices = errors.New("this gateway cannot call external services; configure them")
	errRedirects  = errors.New("the URL redirects too often")
)

// fetch requests a URL and follows its redirects.
func (f *fetcher) fetch(ctx context.Context, method, address string) (*ServiceResponse, error) {
	if f.services == nil {
		return nil, errNoServices
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	for range maxRedirects + 1 {
		resp, err := f.services.Call(ctx, &ServiceRequest{Method: method, URL: address, Header: wire.Header{{Name: "accept", Value: "*/*"}}, MaxBytes: f.maxBytes})
		if err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, errors.New("no response in " + strconv.FormatInt(f.timeout.Milliseconds(), 10) + " ms")
			}
			return nil, err
		}
		location := resp.Header.Get("location")
		if resp.Status < 300 || resp.Status > 399 || location == "" {
			return resp, nil
		}
		if address, err = resolve(address, location); err != nil {
			return nil, err
		}
	}
	return nil, errRedirects
}

// resolve returns the target of a redirect.
func resolve(base, location string) (string, error) {
	from, err := url.Parse(base)
	if err != nil {
		return "", errors.New("the URL is not valid")
	}
	to, err := from.Parse(location)
	if err != nil {
		return "", errors.New("the URL redirects to an address that is not valid")
	}
	to.Fragment = ""
	return to.String(), nil
}
