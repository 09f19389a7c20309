package resource

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Stream is an answer that is written piece by piece, so that it may be larger than
// memory. Its operation says what type of content it is. What fails before
// anything was sent is refused as usual; later the connection is cut: the client must
// not take a part for the whole. What is written is gathered; where it shall be seen at
// once, w is a Flusher.
type Stream func(ctx context.Context, w io.Writer) error

// Flusher is what a Stream writes to.
type Flusher interface {
	io.Writer
	// Flush sends what was written so far. A client that takes nothing for half a minute
	// makes it fail.
	Flush() error
}

// flushLimit is how long a client may leave what was flushed in its connection.
const flushLimit = 30 * time.Second

// streamBuffer is how much of a stream is gathered before it is sent.
const streamBuffer = 32 << 10

func (e *Engine) stream(ctx context.Context, w http.ResponseWriter, c *Call, s Stream) {
	h := w.Header()
	h.Set("Content-Type", c.op.Stream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(HeaderRequestID, c.RequestID)
	sent := &counter{w: w}
	out := &flusher{Writer: bufio.NewWriterSize(sent, streamBuffer), to: http.NewResponseController(w)}
	defer out.unlimited()
	err := s(ctx, out)
	if err == nil {
		err = out.Writer.Flush()
	}
	switch {
	case err == nil:
	case sent.n == 0:
		e.respond(ctx, w, c, nil, err)
	default:
		c.outcome(ctx, err)
		e.Log.LogAttrs(ctx, slog.LevelWarn, "response stream aborted",
			slog.String("request_id", c.RequestID), slog.String("operation", c.op.ID), slog.String("error", err.Error()))
		panic(http.ErrAbortHandler)
	}
}

// flusher is the Flusher of an answer.
type flusher struct {
	*bufio.Writer
	to *http.ResponseController
}

// Flush implements Flusher.
func (f *flusher) Flush() error {
	if err := f.to.SetWriteDeadline(time.Now().Add(flushLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if err := f.Writer.Flush(); err != nil {
		return err
	}
	return f.to.Flush()
}

// unlimited leaves no limit behind for the next answer on the connection.
func (f *flusher) unlimited() { _ = f.to.SetWriteDeadline(time.Time{}) } // where there are none, none was set

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
