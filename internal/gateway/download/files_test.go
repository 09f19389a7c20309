package download_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice/internal/gateway/download"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// host responds to each request, or fails with err.
type host struct {
	status   int
	header   wire.Header
	err      error
	requests []*transport.Request
}

type body struct{ io.Reader }

func (body) Close() error { return nil }

func (h *host) Do(_ context.Context, r *transport.Request) (*transport.Response, error) {
	h.requests = append(h.requests, r)
	if h.err != nil {
		return nil, h.err
	}
	return &transport.Response{Status: h.status, Header: h.header, Length: 5, Body: body{strings.NewReader("image")}}, nil
}

// internal rejects the addresses of one host.
type internal string

var errInternal = fault.New(fault.AddressRefused, "the address is internal")

func (i internal) CheckURL(url string) error {
	if strings.HasSuffix(url, "//"+string(i)) {
		return errInternal
	}
	return nil
}

func TestFiles_FetchReturnsTheFileAndItsType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header wire.Header
		want   string
	}{
		"the host states a type":      {wire.Header{{Name: "content-type", Value: "image/webp"}}, "image/webp"},
		"the type follows the suffix": {nil, "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &host{status: 200, header: c.header}
			mime, data, err := download.New(h, internal(""), "agent").Files().Fetch(t.Context(), "https://files.example/a.png")
			if err != nil || mime != c.want || string(data) != "image" {
				t.Errorf("got %q, %q, %v; want %q and the file", mime, data, err, c.want)
			}
			if r := h.requests[0]; r.Method != "GET" || r.Host != "files.example" || r.Header.Get("user-agent") != "agent" {
				t.Errorf("request %+v", r)
			}
		})
	}
}

func TestFiles_FetchRejects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host    host
		address string
		want    error
	}{
		"an address without a host":  {host{}, "https:///a", nil},
		"an address with a user":     {host{}, "https://u:p@files.example/a", nil},
		"another scheme":             {host{}, "file:///etc/passwd", nil},
		"an internal address":        {host{}, "http://10.0.0.1/a", errInternal},
		"a host that is unreachable": {host{err: errors.New("refused")}, "https://files.example/a", nil},
		"a file that is missing":     {host{status: 404}, "https://files.example/a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := download.New(&c.host, internal("10.0.0.1"), "agent").Files().Fetch(t.Context(), c.address)
			if c.want == nil && !fault.Has(err, fault.InvalidParameter) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFiles_FetchIsLimitedForEachCall(t *testing.T) {
	t.Parallel()
	d := download.New(&host{status: 200}, internal(""), "agent")
	f := d.Files()
	for range 32 {
		if _, _, err := f.Fetch(t.Context(), "https://files.example/a.png"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Fetch(t.Context(), "https://files.example/a.png"); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("the 33rd file of a call: %v", err)
	}
	if _, _, err := d.Files().Fetch(t.Context(), "https://files.example/a.png"); err != nil {
		t.Errorf("the first file of another call: %v", err)
	}
}
