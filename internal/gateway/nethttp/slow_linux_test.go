package nethttp

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
	"sluice/internal/test/narrow"
)

// An answer that is far from large ends, too, when a client with little room takes
// nothing of it.
func TestNarrowReaders(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	srv := httptest.NewUnstartedServer(&Handler{scripted(func(_ context.Context, _ *wire.Request, out wire.Responder) error {
		err := out.Head(200, nil, 60<<10)
		if err == nil {
			_, err = out.Write(make([]byte, 60<<10))
		}
		ended <- err
		return err
	}), impatient})
	_ = srv.Listener.Close() // for one with little room
	srv.Listener = narrow.Listen(t)
	srv.Start()
	t.Cleanup(srv.Close)
	c := narrow.Dial(t, srv.Listener.Addr().String())
	_, _ = io.WriteString(c, "GET /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n")
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("it does not end")
	}
}
