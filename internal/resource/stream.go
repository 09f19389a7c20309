package resource

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
)

// Stream is an answer that is written piece by piece, so that it may be larger than
// memory. Its operation says what type of content it is. What fails before
// anything was sent is refused as usual; later the connection is cut: the client must
// not take a part for the whole.
type Stream func(ctx context.Context, w io.Writer) error

// streamBuffer is how much of a stream is gathered before it is sent.
const streamBuffer = 32 << 10

func (e *Engine) stream(ctx context.Context, w http.ResponseWriter, c *Call, s Stream) {
	h := w.Header()
	h.Set("Content-Type", c.op.Stream)
	h.Set("Cache-Control", "no-store")
	h.Set(HeaderRequestID, c.RequestID)
	sent := &counter{w: w}
	out := bufio.NewWriterSize(sent, streamBuffer)
	err := s(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil:
	case sent.n == 0:
		e.reply(ctx, w, c, nil, err)
	default:
		e.Log.LogAttrs(ctx, slog.LevelWarn, "an answer was cut off",
			slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		panic(http.ErrAbortHandler)
	}
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
