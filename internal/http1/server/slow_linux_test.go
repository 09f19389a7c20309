package server_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
	"sluice/internal/test/narrow"
)

// An answer that is far from large ends, too, when a client with little room takes
// nothing of it.
func TestNarrowReaders(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int{"one piece": {60 << 10}, "small pieces": make([]int, 60)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			s := startOn(t, narrow.Listen(t), func(_ context.Context, _ *wire.Request, out wire.Responder) error {
				err := out.Head(200, nil, -1)
				for i := 0; i < len(sizes) && err == nil; i++ {
					if _, err = out.Write(make([]byte, max(sizes[i], 1<<10))); err == nil {
						err = out.Flush()
					}
				}
				ended <- err
				return err
			}, func(s *server.Server) { s.Patience.WriteStall = 200 * time.Millisecond })
			_, _ = io.WriteString(narrow.Dial(t, s.addr), get)
			select {
			case err := <-ended:
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(15 * time.Second):
				t.Error("it does not end")
			}
		})
	}
}
