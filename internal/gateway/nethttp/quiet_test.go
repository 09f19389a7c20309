package nethttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// overBoth runs a test against a gateway over HTTP/1.1 and over HTTP/2.
func overBoth(t *testing.T, p server.ClientTimeouts, s scripted, test func(t *testing.T, c *http.Client, url string)) {
	t.Helper()
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewUnstartedServer(&Handler{s, p})
			srv.EnableHTTP2 = proto == "HTTP/2.0"
			srv.StartTLS()
			t.Cleanup(srv.Close)
			c := srv.Client()
			c.Timeout = 20 * time.Second
			test(t, c, srv.URL+"/v1/x")
		})
	}
}

// proto fails the test unless an answer came over the protocol that the test is about.
func proto(t *testing.T, resp *http.Response) {
	t.Helper()
	if !strings.HasSuffix(t.Name(), resp.Proto) {
		t.Errorf("it is %s", resp.Proto)
	}
}

// A provider may be silent for longer than a client may take for what was written: the
// limit of writes does not count while nobody writes.
func TestSilentProvider(t *testing.T) {
	t.Parallel()
	p := server.UsualTimeouts()
	p.WriteStall = time.Second
	event := bytes.Repeat([]byte("data: x\n\n"), 10<<10) // more than the client takes before it reads
	overBoth(t, p, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		if err := out.Head(200, nil, -1); err != nil {
			return err
		}
		if _, err := out.Write(event); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(2 * p.WriteStall) // it is the silence itself that is tried
		return second(out.Write(event))
	}, func(t *testing.T, c *http.Client, url string) {
		resp, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		proto(t, resp)
		got, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(got, bytes.Repeat(event, 2)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

// The limit of reads does not count while nobody reads: what comes later is read.
func TestBodyThatNobodyReads(t *testing.T) {
	t.Parallel()
	p := server.UsualTimeouts()
	p.Idle = 2 * time.Second
	goOn := map[string]chan struct{}{"HTTP/1.1": make(chan struct{}), "HTTP/2.0": make(chan struct{})}
	overBoth(t, p, func(_ context.Context, incoming *wire.Request, out wire.Responder) error {
		first := make([]byte, 1)
		if _, err := io.ReadFull(incoming.Body, first); err != nil {
			return err
		}
		time.Sleep(p.Idle + p.Idle/2) // it is the pause itself that is tried
		close(goOn[incoming.Header.Get("x-proto")])
		rest, err := io.ReadAll(incoming.Body)
		if err != nil {
			return err
		}
		return errors.Join(out.Head(200, nil, -1), second(out.Write(append(first, rest...))))
	}, func(t *testing.T, c *http.Client, url string) {
		body, send := io.Pipe()
		version := t.Name()[strings.Index(t.Name(), "HTTP/"):]
		go func() {
			_, _ = io.WriteString(send, "a")
			<-goOn[version]
			_, _ = io.WriteString(send, "b")
			_ = send.Close()
		}()
		req, _ := http.NewRequestWithContext(t.Context(), "POST", url, body)
		req.Header.Set("X-Proto", version)
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		proto(t, resp)
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "ab" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A client of HTTP/2 whose window is closed takes not even a small answer; its stream
// does not stay for ever.
func TestClosedWindow(t *testing.T) {
	t.Parallel()
	p := server.UsualTimeouts()
	p.WriteStall = 100 * time.Millisecond
	srv := httptest.NewUnstartedServer(&Handler{scripted(func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		return errors.Join(out.Head(200, nil, 5), second(out.Write([]byte("hello"))))
	}), p})
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	nc, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", "GET"}, {":path", "/v1/x"}, {":scheme", "https"}, {":authority", "gw"}} {
		_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	_, err = io.WriteString(nc, http2.ClientPreface)
	fr := http2.NewFramer(nc, nc)
	err = errors.Join(err, fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}))
	for err == nil {
		var f http2.Frame
		if f, err = fr.ReadFrame(); err == nil && f.Header().Type == http2.FrameRSTStream {
			return
		}
	}
	t.Errorf("the stream stays: %v", err)
}
